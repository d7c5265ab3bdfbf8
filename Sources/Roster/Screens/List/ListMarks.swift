import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The records that the user marked. They stay marked when they move, until they are deleted.
struct RecordMarks {
    private(set) var objects: Set<NSManagedObject> = []
    /// The record at which a range was started.
    var anchor: NSManagedObject?

    var isEmpty: Bool { objects.isEmpty }

    func contains(_ object: NSManagedObject) -> Bool { objects.contains(object) }

    mutating func toggle(_ object: NSManagedObject) {
        if objects.remove(object) == nil { objects.insert(object) }
    }

    mutating func add(_ others: Set<NSManagedObject>) {
        objects = objects.count < others.count ? others.union(objects) : objects.union(others)
    }

    mutating func set(_ others: Set<NSManagedObject>) { objects = others }

    mutating func removeAll() { self = RecordMarks() }

    /// Removes deleted records. Returns true if the start of a range is one of them.
    mutating func removeDeleted() -> Bool {
        func isGone(_ object: NSManagedObject) -> Bool { object.isDeleted || object.managedObjectContext == nil }
        if objects.contains(where: isGone) { objects = objects.filter { !isGone($0) } }
        guard let object = anchor, isGone(object) else { return false }
        anchor = nil
        return true
    }
}

extension ListScreen {
    /// The marked records in list order, or the record under the cursor.
    var chosenRecords: [NSManagedObject] {
        guard !marks.isEmpty else { return cursorObject.map { [$0] } ?? [] }
        let shown = marks.objects.compactMap { object in records.path(of: object).map { (path: $0, object: object) } }
        return shown.sorted { $0.path < $1.path }.map(\.object)
    }

    // MARK: Marking

    /// The rows from the start of an unfinished range to the cursor; `nil` if no range was started.
    var pendingRange: ClosedRange<Int>? {
        guard let start = marks.anchor.flatMap({ records.path(of: $0) }).map({ records.index(of: $0) }) else {
            return nil
        }
        let end = cursorObject.flatMap { records.path(of: $0) }.map { records.index(of: $0) } ?? start
        return min(start, end)...max(start, end)
    }

    func markAndMoveOn() {
        if pendingRange != nil { return markRange() }
        guard let cursorObject else { return view.move(by: 1) }
        for step in 0..<count {
            if step > 0 || self.cursorObject === cursorObject, let object = self.cursorObject { marks.toggle(object) }
            let before = self.cursorObject
            view.move(by: 1)
            rememberCursor()
            if self.cursorObject === before { break }
        }
    }

    /// Starts a range at the cursor, or marks all records from its start to the cursor.
    func markRange() {
        guard let cursorObject else { return browser.say("no record under the cursor") }
        guard let anchor = marks.anchor, let start = records.path(of: anchor) else {
            marks.anchor = cursorObject
            return browser.say("range started: move, then v or Space marks all records in it")
        }
        marks.anchor = nil
        guard let end = records.path(of: cursorObject) else { return }
        let range = [records.index(of: start), records.index(of: end)].sorted()
        markAll(sentence("marking \(CountedNoun.text(range[1] - range[0] + 1, "record"))")) { [unowned self] in
            guard let start = records.path(of: anchor), let end = records.path(of: cursorObject) else { return 0..<0 }
            let range = [records.index(of: start), records.index(of: end)].sorted()
            return range[0]..<(range[1] + 1)
        } then: { [unowned self] in
            marks.add($0)
        }
    }

    func invertMarks() {
        markAll(
            sentence("marking \(CountedNoun.text(records.objectCount, "record"))"), except: marks.objects
        ) { [unowned self] in
            0..<records.objectCount
        } then: { [unowned self] in
            marks.set($0)
        }
    }

    /// Marks the records of a range of rows, in pieces if there are many.
    private func markAll(
        _ what: String, except left: Set<NSManagedObject> = [], in bounds: @escaping () -> Range<Int>,
        then mark: @escaping (Set<NSManagedObject>) -> Void
    ) {
        var walk = RowWalk(of: self, except: left)
        do {
            try browser.workPiecewise(what, share: { walk.share }) {
                walk.goOn(in: bounds(), until: $0)
            } then: { [unowned self] in
                mark(walk.found)
                forgetDeletedMarks()
                sayMarked()
            }
        } catch {
            browser.complain(error)
        }
    }

    func markByPredicate() {
        let prompt = Prompt(
            label: "mark: ", history: browser.filterHistory,
            hint: sentence(
                "a predicate such as \(FilterText.example(for: entity)); Tab completes, empty marks all"))
        prompt.complete = { [unowned self, unowned prompt] text, cursor in
            filter.complete(text, cursor: cursor, in: prompt)
        }
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

    /// Marks the records of the list that match a predicate; in the background if the list is long.
    private func mark(by predicate: NSPredicate?) throws {
        let request = NSFetchRequest<NSManagedObjectID>()
        request.entity = entity
        request.resultType = .managedObjectIDResultType
        let conditions = [predicate, records.controller.fetchRequest.predicate].compactMap { $0 }
        if !conditions.isEmpty {
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
        }
        guard records.objectCount > session.limits.longList else {
            return mark(try session.context.fetch(request))
        }
        begin("marking") { screen in screen.mark(try await screen.session.context.fetchAsynchronously(request)) }
    }

    private func mark(_ ids: [NSManagedObjectID]) {
        var found: Set<NSManagedObject> = []
        var done = 0
        do {
            let what = sentence("marking \(CountedNoun.text(ids.count, "record"))")
            try browser.workPiecewise(what, share: { Double(done) / Double(max(1, ids.count)) }) {
                [unowned self] deadline in
                while done < ids.count {
                    found.insert(session.context.object(with: ids[done]))
                    done += 1
                    if done.isMultiple(of: 256), ContinuousClock.now >= deadline { return done == ids.count }
                }
                return true
            } then: { [unowned self] in
                marks.add(found)
                forgetDeletedMarks()
                sayMarked()
            }
        } catch {
            browser.complain(error)
        }
    }

    /// Removes the marks of deleted records, after an edit of many records.
    func forgetDeletedMarks() {
        guard marks.removeDeleted() else { return }
        browser.say("the first record of the range was deleted; v starts another range", role: .warning)
    }

    private func sayMarked() { browser.say(sentence("\(CountedNoun.text(marks.objects.count, "record")) marked")) }

    // MARK: Editing marked records

    /// Asks for a value of the focused column and sets it in all marked records, after a preview.
    func editMarked() {
        guard let attribute = entity.attributesByName[focusedKey], FieldText.kind(of: attribute) != .readOnly else {
            return browser.say("cannot edit this column; press h or l to choose another", role: .warning)
        }
        withChosen { [unowned self] in askForValue(of: attribute, in: $0) }
    }

    private func askForValue(of attribute: NSAttributeDescription, in chosen: [NSManagedObject]) {
        let title = PropertyTitle.title(attribute.name)
        let prompt = Prompt(
            label: sentence("\(title) of \(CountedNoun.text(chosen.count, entity.name ?? "record")): "),
            hint: sentence("\(FieldText.hint(for: attribute)); empty clears it"))
        prompt.onAccept = { [unowned self] text in
            do {
                try preview(text.isEmpty ? nil : text, of: attribute, in: chosen)
                return nil
            } catch {
                return Prompt.Problem(Self.problem(error, with: title), at: 0)
            }
        }
        browser.layers.push(prompt)
    }

    private static func problem(_ error: any Error, with title: String) -> String {
        guard let error = error as? ValueProblem else { return CommandError.line(for: error) }
        return sentence("\(title) \(error.reason)")
    }

    /// Validates a value for each record with the model's rules, and asks whether to set it in the records whose value
    /// differs.
    private func preview(_ text: String?, of attribute: NSAttributeDescription, in objects: [NSManagedObject]) throws {
        let title = PropertyTitle.title(attribute.name)
        let parsed = try FieldText.value(text, of: attribute)
        let new = ValueDisplay.text(parsed, of: attribute)
        var done = 0
        var lines: [TextPane.Line] = []
        var changed: [SeenValues] = []
        func look(at object: NSManagedObject) throws {
            guard !object.isDeleted, object.managedObjectContext != nil else { return }
            var value = parsed.map { $0 as AnyObject }
            try object.validateValue(&value, forKey: attribute.name)
            let old = ValueDisplay.text(object.value(forKey: attribute.name), of: attribute)
            guard old != new else { return }
            changed.append(SeenValues(of: object, attribute: attribute.name))
            if lines.count < Self.named {
                let values = "\(RecordName.short(old)) → \(RecordName.short(new))"
                lines.append(TextPane.Line("\(RecordName.short(object)): \(values)"))
            }
        }
        let counted = CountedNoun.text(objects.count, entity.name ?? "record")
        try browser.workPiecewise(
            sentence("checking \(counted)"), share: { Double(done) / Double(max(1, objects.count)) },
            { deadline in
                while done < objects.count {
                    try look(at: objects[done])
                    done += 1
                    if done.isMultiple(of: 16), ContinuousClock.now >= deadline { return done == objects.count }
                }
                return true
            }, orElse: { [unowned self] in browser.say(Self.problem($0, with: title), role: .error) },
            then: { [unowned self] in ask(whetherToSet: parsed, of: attribute, in: changed, lines) })
    }

    /// Number of records named in a question.
    private static let named = 6

    private static func more(than count: Int) -> [TextPane.Line] {
        guard count > named else { return [] }
        return [TextPane.Line(sentence("and \(GroupedNumber.text(count - named)) more"), role: .muted)]
    }

    private func ask(
        whetherToSet value: Any?, of attribute: NSAttributeDescription, in seen: [SeenValues],
        _ lines: [TextPane.Line]
    ) {
        guard !seen.isEmpty else { return browser.say("nothing changed: all have that value") }
        let title = PropertyTitle.title(attribute.name)
        let counted = CountedNoun.text(seen.count, entity.name ?? "record")
        let edited = sentence("\(title) of \(counted)")
        browser.layers.push(
            Dialog(
                title: edited, lines: lines + Self.more(than: seen.count),
                choices: [
                    Dialog.Choice("y", "change") { [unowned self] in
                        browser.editMany(
                            sentence("edit \(edited)"), doing: sentence("changing \(edited)"), count: seen.count,
                            seen: seen,
                            { if !seen[$1].isGone { seen[$1].object.setValue(value, forKey: attribute.name) } },
                            then: { [unowned self] in
                                let counted = CountedNoun.text(seen.count, "record")
                                browser.say(sentence("changed \(counted), not saved yet"))
                            })
                    },
                    Dialog.Choice("n", "leave"),
                ]))
    }

    /// Copies each chosen record with its attributes and to-one relationships.
    func duplicate() {
        guard !marks.isEmpty || cursorObject != nil else { return browser.say("no record under the cursor") }
        withChosen { [unowned self] chosen in
            guard chosen.count > 1 else { return duplicate(chosen) }
            let names = chosen.prefix(Self.named).map {
                TextPane.Line("+ \(RecordName.short($0))", role: .inserted)
            }
            browser.layers.push(
                Dialog(
                    title: sentence("Copies of \(CountedNoun.text(chosen.count, entity.name ?? "record"))"),
                    lines: names + Self.more(than: chosen.count),
                    choices: [
                        Dialog.Choice("y", "duplicate") { [unowned self] in duplicate(chosen) },
                        Dialog.Choice("n", "leave"),
                    ]))
        }
    }

    private func duplicate(_ chosen: [NSManagedObject]) {
        let unique = Set(
            entity.uniquenessConstraints.flatMap { $0 }.compactMap {
                ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name
            })
        var last: NSManagedObject?
        let counted = CountedNoun.text(chosen.count, "record")
        browser.editMany(
            sentence("duplicate \(counted)"), doing: sentence("duplicating \(counted)"), count: chosen.count,
            { context, index in
                guard !chosen[index].isDeleted, chosen[index].managedObjectContext != nil else { return }
                last = Self.copy(of: chosen[index], unique: unique, in: context)
            },
            then: { [unowned self] in
                if let last { moveCursor(to: last) }
                browser.say(sentence("duplicated \(counted), not saved yet"))
            })
    }

    private static func copy(
        of object: NSManagedObject, unique: Set<String>, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let copy = NSManagedObject(entity: object.entity, insertInto: context)
        for attribute in object.entity.attributesByName.values where !(attribute is NSDerivedAttributeDescription) {
            guard !attribute.isTransient else { continue }
            let value = object.value(forKey: attribute.name)
            // Unique texts get a suffix, because the copy could not be saved otherwise.
            let isName = unique.contains(attribute.name) && attribute.attributeType == .stringAttributeType
            copy.setValue(isName ? (value as? String).map { $0 + " copy" } : value, forKey: attribute.name)
        }
        for relationship in object.entity.relationshipsByName.values
        where !relationship.isToMany && relationship.inverseRelationship?.isToMany != false {
            copy.setValue(object.value(forKey: relationship.name), forKey: relationship.name)
        }
        return copy
    }
}
