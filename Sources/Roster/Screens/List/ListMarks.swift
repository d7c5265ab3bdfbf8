import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The records of a list that the user marked. They stay marked wherever they go, and until they are deleted.
struct RecordMarks {
    private(set) var objects: Set<NSManagedObject> = []
    /// Where a range was begun.
    var anchor: NSManagedObject?

    var isEmpty: Bool { objects.isEmpty }

    func contains(_ object: NSManagedObject) -> Bool { objects.contains(object) }

    mutating func toggle(_ object: NSManagedObject) {
        if objects.remove(object) == nil { objects.insert(object) }
    }

    mutating func add(_ others: some Sequence<NSManagedObject>) { objects.formUnion(others) }

    mutating func set(_ others: some Sequence<NSManagedObject>) { objects = Set(others) }

    mutating func removeAll() { self = RecordMarks() }

    /// Forgets records that are gone.
    mutating func removeDeleted() {
        objects = objects.filter { !$0.isDeleted && $0.managedObjectContext != nil }
        if anchor?.isDeleted == true { anchor = nil }
    }
}

// Marking records, and what is done with all that are marked.

extension ListScreen {
    /// The marked records in the order of the list, or else the one under the cursor.
    var chosenRecords: [NSManagedObject] {
        guard !marks.isEmpty else { return cursorObject.map { [$0] } ?? [] }
        let shown = marks.objects.compactMap { object in records.path(of: object).map { (path: $0, object: object) } }
        return shown.sorted { $0.path < $1.path }.map(\.object)
    }

    // MARK: Marking

    func markAndMoveOn() {
        guard let cursorObject else { return view.move(by: 1) }
        for step in 0..<count {
            if step > 0 || self.cursorObject === cursorObject, let object = self.cursorObject { marks.toggle(object) }
            let before = self.cursorObject
            view.move(by: 1)
            rememberCursor()
            if self.cursorObject === before { break }
        }
    }

    /// Begins a range at the cursor, or marks all from where it was begun to the cursor.
    func markRange() {
        guard let cursorObject else { return browser.say("there is no record under the cursor") }
        guard let anchor = marks.anchor, let start = records.path(of: anchor) else {
            marks.anchor = cursorObject
            return browser.say("a range begins here; v at its other end marks all between")
        }
        marks.anchor = nil
        guard let end = records.path(of: cursorObject) else { return }
        let range = [records.index(of: start), records.index(of: end)].sorted()
        marks.add((range[0]...range[1]).compactMap { records.object(at: records.path(atIndex: $0)) })
        sayMarked()
    }

    func invertMarks() {
        marks.set(allRecords.filter { !marks.contains($0) })
        sayMarked()
    }

    func markByPredicate() {
        let prompt = Prompt(
            label: "mark: ", history: browser.filterHistory,
            hint: sentence(
                "a predicate, for example \(FilterText.example(for: entity)); Tab completes, empty marks all"))
        prompt.complete = { [unowned self, unowned prompt] text, cursor in complete(text, cursor: cursor, in: prompt) }
        prompt.onAccept = { [unowned self] text in
            if let problem = FilterText.problem(text, for: entity) { return problem }
            do {
                try mark(by: FilterText.predicate(text, for: entity))
                browser.rememberFilter(text.trimmingCharacters(in: .whitespaces))
                return nil
            } catch {
                return FilterText.problem(error, in: text)
            }
        }
        browser.layers.push(prompt)
    }

    /// Marks what a predicate finds in the list: beside the keys where the list is long.
    // SAFETY: all of it is used on the main thread.
    private func mark(by predicate: NSPredicate?) throws {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        let conditions = [predicate, records.controller.fetchRequest.predicate].compactMap { $0 }
        if !conditions.isEmpty {
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
        }
        guard records.objectCount > Self.longList else {
            marks.add(try session.context.fetch(request))
            return sayMarked()
        }
        nonisolated(unsafe) let work = (request: request, context: session.context)
        begin("marking") { screen in
            let found = try await work.context.fetchAsynchronously(work.request)
            screen.marks.add(found)
            screen.sayMarked()
        }
    }

    private var allRecords: [NSManagedObject] { records.controller.fetchedObjects ?? [] }

    private func sayMarked() { browser.say(sentence("\(DeletePlan.counted(marks.objects.count, "record")) marked")) }

    // MARK: Changing what is marked

    /// Asks for a value of the focused column and sets it in all marked records, after a look at what will change.
    func editMarked() {
        let key = focusedKey
        guard let attribute = entity.attributesByName[key], FieldText.kind(of: attribute) != .readOnly else {
            return browser.say("move to a column that can be edited: h l", role: .warning)
        }
        let chosen = chosenRecords
        let title = PropertyTitle.title(key)
        let prompt = Prompt(
            label: sentence("\(title) of \(DeletePlan.counted(chosen.count, entity.name ?? "record")): "),
            hint: sentence("\(FieldText.hint(for: attribute)); empty is no value"))
        prompt.onAccept = { [unowned self] text in
            do {
                let value = try Self.value(text.isEmpty ? nil : text, of: attribute, in: chosen)
                preview(value, of: attribute, in: chosen)
                return nil
            } catch let error as ValueProblem {
                return Prompt.Problem(sentence("\(title) \(error.reason)"), at: 0)
            } catch {
                return Prompt.Problem(CommandError.line(for: error), at: 0)
            }
        }
        browser.layers.push(prompt)
    }

    /// The value that a text means, checked by the rules of the model against each of the records.
    private static func value(
        _ text: String?, of attribute: NSAttributeDescription, in objects: [NSManagedObject]
    ) throws -> Any? {
        let parsed = try FieldText.value(text, of: attribute)
        for object in objects {
            var value = parsed.map { $0 as AnyObject }
            try object.validateValue(&value, forKey: attribute.name)
        }
        return parsed
    }

    private func preview(_ value: Any?, of attribute: NSAttributeDescription, in objects: [NSManagedObject]) {
        let new = ValueDisplay.text(value, of: attribute)
        let changed = objects.filter {
            ValueDisplay.text($0.value(forKey: attribute.name), of: attribute) != new
        }
        guard !changed.isEmpty else { return browser.say("they all have that value already") }
        var lines = changed.prefix(6).map { object in
            let old = ValueDisplay.text(object.value(forKey: attribute.name), of: attribute)
            return TextPane.Line("\(RecordName.text(object)): \(old) → \(new)")
        }
        if changed.count > 6 { lines.append(TextPane.Line(sentence("and \(changed.count - 6) more"), role: .muted)) }
        let title = PropertyTitle.title(attribute.name)
        let seen = changed.map { SeenValues(of: $0, attribute: attribute.name) }
        browser.layers.push(
            Dialog(
                title: sentence("\(title) of \(DeletePlan.counted(changed.count, entity.name ?? "record"))"),
                lines: lines,
                choices: [
                    Dialog.Choice("y", "change") { [unowned self] in
                        browser.edit(sentence("edit \(title) of \(changed.count)"), seen: seen) { _ in
                            for seen in seen where !seen.isGone {
                                seen.object.setValue(value, forKey: attribute.name)
                            }
                        }
                        browser.say(sentence("changed \(DeletePlan.counted(changed.count, "record")), not saved yet"))
                    },
                    Dialog.Choice("n", "leave"),
                ]))
    }

    /// Makes a copy of each chosen record: its attributes and to-one relationships.
    func duplicate() {
        let chosen = chosenRecords
        guard !chosen.isEmpty else { return browser.say("there is no record under the cursor") }
        guard chosen.count > 1 else { return duplicate(chosen) }
        let names = chosen.prefix(6).map { TextPane.Line("+ \(RecordName.text($0))", role: .inserted) }
        let more = chosen.count > 6 ? [TextPane.Line(sentence("and \(chosen.count - 6) more"), role: .muted)] : []
        browser.layers.push(
            Dialog(
                title: sentence("Copies of \(DeletePlan.counted(chosen.count, entity.name ?? "record"))"),
                lines: names + more,
                choices: [
                    Dialog.Choice("y", "make them") { [unowned self] in duplicate(chosen) },
                    Dialog.Choice("n", "leave"),
                ]))
    }

    private func duplicate(_ chosen: [NSManagedObject]) {
        let unique = Set(
            entity.uniquenessConstraints.flatMap { $0 }.compactMap {
                ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name
            })
        var last: NSManagedObject?
        browser.edit(sentence("duplicate \(DeletePlan.counted(chosen.count, "record"))")) { context in
            for object in chosen { last = Self.copy(of: object, unique: unique, in: context) }
        }
        if let last { moveCursor(to: last) }
        browser.say(sentence("duplicated \(DeletePlan.counted(chosen.count, "record")), not saved yet"))
    }

    private static func copy(
        of object: NSManagedObject, unique: Set<String>, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let copy = NSManagedObject(entity: object.entity, insertInto: context)
        for attribute in object.entity.attributesByName.values where !(attribute is NSDerivedAttributeDescription) {
            guard !attribute.isTransient else { continue }
            let value = object.value(forKey: attribute.name)
            // What must be unique says that it is a copy, so that both can be saved.
            let isName = unique.contains(attribute.name) && attribute.attributeType == .stringAttributeType
            copy.setValue(isName ? (value as? String).map { $0 + " copy" } : value, forKey: attribute.name)
        }
        for relationship in object.entity.relationshipsByName.values
        where !relationship.isToMany && relationship.inverseRelationship?.isToMany != false {
            copy.setValue(object.value(forKey: relationship.name), forKey: relationship.name)
        }
        return copy
    }

    // MARK: Exporting

    /// Asks for a file, and writes the marked records to it, or the one under the cursor.
    func exportChosen() {
        let chosen = chosenRecords
        guard !chosen.isEmpty else { return browser.say("there is no record under the cursor") }
        let counted = DeletePlan.counted(chosen.count, entity.name ?? "record")
        let prompt = Prompt(
            label: sentence("write \(counted) to: "), history: [],
            hint: sentence(
                "a file: .csv, .tsv or .json; \(chosen.prefix(3).map { RecordName.text($0) }.joined(separator: ", "))")
                + (chosen.count > 3 ? ", …" : ""))
        prompt.onAccept = { [unowned self] path in
            do {
                try write(chosen, to: path)
                browser.say(sentence("wrote \(counted) to \(path)"))
                return nil
            } catch {
                return Prompt.Problem(CommandError.line(for: error))
            }
        }
        browser.layers.push(prompt)
    }

    private func write(_ chosen: [NSManagedObject], to path: String) throws {
        let file = (path.trimmingCharacters(in: .whitespaces) as NSString).expandingTildeInPath
        guard let format = OutputFormat(pathExtension: (file as NSString).pathExtension) else {
            throw CommandError.misuse("the file's name ends in .csv, .tsv or .json")
        }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw CommandError.failure("\(path) is there already")
        }
        let text = try RecordText.text(of: chosen, entity: entity, as: format)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    // MARK: Copying

    /// What is copied of the chosen records.
    enum Copied {
        case cell, text, json, csv, predicate, uri
    }

    func copyChosen(_ what: Copied) {
        let chosen = chosenRecords
        guard !chosen.isEmpty else { return browser.say("there is no record under the cursor") }
        do {
            try browser.copy(text(what, of: chosen), named: name(of: what, chosen))
        } catch {
            browser.complain(error)
        }
    }

    /// What is said of what was copied: `Wins: 12`, `3 records as JSON`.
    private func name(of what: Copied, _ chosen: [NSManagedObject]) throws -> String {
        let records = DeletePlan.counted(chosen.count, "record")
        switch what {
        case .cell:
            let title = focusedKey.isEmpty ? tr("the name") : PropertyTitle.title(focusedKey)
            guard chosen.count == 1 else { return sentence("\(title) of \(records)") }
            return "\(title): \(try text(.cell, of: chosen))"
        case .json: return sentence("\(records) as JSON")
        case .csv: return sentence("\(records) as CSV")
        case .text: return sentence("\(records) as text")
        case .predicate: return try text(.predicate, of: chosen)
        case .uri: return sentence("the URI of \(records)")
        }
    }

    private func text(_ what: Copied, of chosen: [NSManagedObject]) throws -> String {
        let key = focusedKey
        switch what {
        case .json: return try RecordText.text(of: chosen, entity: entity, as: .json)
        case .csv: return try RecordText.text(of: chosen, entity: entity, as: .csv)
        case .text:
            let columns = records.display.columns
            return RecordText.table(
                titles: columns.map(\.title), rows: chosen.map { object in columns.map { $0.text(of: object) } },
                alignsRight: columns.map(\.isNumeric)
            ) { TextWidth().width($0) }
        case .uri: return chosen.map { $0.objectID.uriRepresentation().absoluteString }.joined(separator: "\n")
        case .cell:
            let column = records.display.columns.first { $0.key == key }
            return chosen.map { column?.text(of: $0) ?? RecordName.text($0) }.joined(separator: "\n")
        case .predicate:
            guard entity.attributesByName[key] != nil else {
                throw CommandError.failure("move to a column of an attribute: h l")
            }
            let values = chosen.map { $0.value(forKey: key) ?? NSNull() }
            let predicate =
                values.count == 1
                ? NSPredicate(format: "%K == %@", key, values[0])
                : NSPredicate(format: "%K IN %@", key, values)
            return predicate.formatString
        }
    }
}
