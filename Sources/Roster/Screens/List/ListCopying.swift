import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Format of the copied records.
enum Copied {
    case cell, text, json, csv, predicate, uri
}

/// The chosen records as text for the clipboard, built record by record until the text is too long.
private struct CopiedText {
    /// Thrown when the text exceeds the limit of the clipboard.
    struct TooLong: Error {}

    private let what: Copied
    private let key: String
    private let columns: [PropertyColumn]
    private var records: GrowingRecordText?
    private var rows: [[String]] = []
    private var lines: [String] = []
    private var values: [Any] = []
    private var known: Set<AnyHashable> = []
    private var size = 0
    private let limit: Int
    private(set) var count = 0

    init(_ what: Copied, key: String, of screen: ListScreen) throws {
        (self.what, self.key, limit) = (what, key, screen.session.limits.clipboard)
        let shown = screen.records.display.columns
        columns = what == .text ? shown : shown.filter { $0.key == key }
        switch what {
        case .json: records = try GrowingRecordText(of: screen.entity, as: .json)
        case .csv: records = try GrowingRecordText(of: screen.entity, as: .csv)
        case .predicate where screen.entity.attributesByName[key] == nil:
            throw CommandError.failure("not an attribute: press h or l to choose another column")
        default: break
        }
    }

    mutating func add(_ object: NSManagedObject) throws {
        count += 1
        switch what {
        case .json, .csv:
            try records?.add(object)
            size = records?.byteCount ?? 0
        case .text:
            rows.append(columns.map { $0.text(of: object) })
            size += rows[rows.count - 1].reduce(1) { $0 + $1.utf8.count }
        case .cell: add(line: columns.first?.text(of: object) ?? RecordName.text(object))
        case .uri: add(line: object.objectID.uriRepresentation().absoluteString)
        case .predicate: add(value: object.value(forKey: key) ?? NSNull())
        }
        if size > limit { throw TooLong() }
    }

    private mutating func add(line: String) {
        lines.append(line)
        size += line.utf8.count + (lines.count > 1 ? 1 : 0)
    }

    /// Adds a value to the predicate, unless it is already there.
    private mutating func add(value: Any) {
        if let key = Hashing.key(value), !known.insert(key).inserted { return }
        values.append(value)
        size += String(describing: value).utf8.count + 2
    }

    mutating func text() throws -> String {
        switch what {
        case .json, .csv: return try records?.end() ?? ""
        case .text:
            return RecordText.table(
                titles: columns.map(\.title), rows: rows, alignsRight: columns.map(\.isNumeric)
            ) { TextWidth().width($0) }
        case .cell, .uri: return lines.joined(separator: "\n")
        case .predicate:
            let predicate =
                values.count == 1
                ? NSPredicate(format: "%K == %@", key, values[0])
                : NSPredicate(format: "%K IN %@", key, values)
            return predicate.formatString
        }
    }

    /// Description of the copied text for a message: `Wins: 12`, `3 records as JSON`.
    func name(_ text: String) -> String {
        let records = CountedNoun.text(count, "record")
        switch what {
        case .cell:
            let title = key.isEmpty ? tr("the name") : PropertyTitle.title(key)
            return count == 1 ? "\(title): \(RecordName.short(text))" : sentence("\(title) of \(records)")
        case .json: return sentence("\(records) as JSON")
        case .csv: return sentence("\(records) as CSV")
        case .text: return sentence("\(records) as text")
        case .predicate: return text
        case .uri: return sentence("the URI of \(records)")
        }
    }
}

extension ListScreen {
    func copyChosen(_ what: Copied) {
        guard !marks.isEmpty || cursorObject != nil else { return browser.say("no record under the cursor") }
        do {
            var chosen = ChosenRecords(of: self)
            var copied = try CopiedText(what, key: focusedKey, of: self)
            let fail = { [unowned self] (error: any Error) in
                if error is CopiedText.TooLong { browser.refuseCopy() } else { browser.complain(error) }
            }
            do {
                try browser.workPiecewise(
                    tr("copying"), share: { chosen.share },
                    { deadline in
                        try chosen.handOn(until: deadline) {
                            try copied.add($0)
                            return true
                        }
                    }, orElse: fail,
                    then: { [unowned self] in
                        guard copied.count > 0 else { return sayNothingChosen() }
                        do {
                            let text = try copied.text()
                            browser.copy(text, named: copied.name(text))
                        } catch {
                            browser.complain(error)
                        }
                    })
            } catch {
                fail(error)
            }
        } catch {
            browser.complain(error)
        }
    }

    // MARK: Exporting

    /// Asks for a file and writes the marked records, or the one under the cursor, to it.
    func exportChosen() {
        guard !marks.isEmpty || cursorObject != nil else { return browser.say("no record under the cursor") }
        withChosen { [unowned self] in askForFile(for: $0) }
    }

    private func askForFile(for chosen: [NSManagedObject]) {
        let counted = CountedNoun.text(chosen.count, entity.name ?? "record")
        let prompt = Prompt(
            label: sentence("write \(counted) to: "), history: [],
            hint: sentence(
                "a .csv, .tsv or .json file for \(chosen.prefix(3).map { RecordName.short($0) }.joined(separator: ", "))"
            )
                + (chosen.count > 3 ? ", …" : ""))
        prompt.onAccept = { [unowned self] path in
            do {
                try write(chosen, to: path) { [unowned self] in
                    browser.say(sentence("wrote \(counted) to \(path)"))
                }
                return nil
            } catch {
                return Prompt.Problem(CommandError.line(for: error))
            }
        }
        browser.layers.push(prompt)
    }

    /// Writes records to a new file and calls `next` at the end.
    private func write(_ chosen: [NSManagedObject], to path: String, then next: @escaping () -> Void) throws {
        let file = (path.trimmingCharacters(in: .whitespaces) as NSString).expandingTildeInPath
        guard let format = OutputFormat(pathExtension: (file as NSString).pathExtension) else {
            throw CommandError.misuse("name a .csv, .tsv or .json file")
        }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw CommandError.failure("\(path) exists; type another name")
        }
        var text = try GrowingRecordText(of: entity, as: format)
        var done = 0
        try browser.workPiecewise(
            tr("writing"), share: { Double(done) / Double(max(1, chosen.count)) }
        ) { deadline in
            while done < chosen.count {
                if !chosen[done].isDeleted, chosen[done].managedObjectContext != nil { try text.add(chosen[done]) }
                done += 1
                if done.isMultiple(of: 16), ContinuousClock.now >= deadline, done < chosen.count { return false }
            }
            let output = try FileOutput(OutputPlace(file))
            try output.write(text.end())
            try output.finish()
            return true
        } then: {
            next()
        }
    }
}
