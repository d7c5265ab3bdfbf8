import Foundation
import Testing

@testable import CoreData

/// A staff that changes at random, and a list of it.
final class SectionReplayWorld {
    let staff: Staff
    private(set) var setup: SectionReplayTests.Setup
    let recorder = Recorder()
    let controller: NSFetchedResultsController<NSManagedObject>
    private(set) var last = ""
    private var random: SeededGenerator
    private var departments: [NSManagedObject] = []
    private var other: Staff?
    let heard = HeardBatches()
    /// Number of batches of each kind of source.
    private(set) var sources: [String: Int] = [:]
    private(set) var sumsBySQL = 0
    private let followers = ListFollowers()

    init(_ staff: Staff, _ setup: SectionReplayTests.Setup, seed: UInt64) {
        self.staff = staff
        self.setup = setup
        random = SeededGenerator(seed: seed)
        controller = staff.controller(section: nil, sort: setup.sort, where: setup.predicate)
        recorder.mayHaveEmptySections = true
    }

    func use(_ setup: SectionReplayTests.Setup) {
        self.setup = setup
        setupChanged = true
        Self.set(setup, controller, staff)
    }

    private var setupChanged = false

    private static func set(
        _ setup: SectionReplayTests.Setup, _ controller: NSFetchedResultsController<NSManagedObject>, _ staff: Staff
    ) {
        let request = staff.request(setup.sort, setup.predicate.map { NSPredicate(format: $0) })
        controller.fetchRequest.sortDescriptors = request.sortDescriptors
        controller.fetchRequest.predicate = request.predicate
        controller.fetchRequest.fetchLimit = setup.limit
        controller.fetchRequest.fetchOffset = setup.offset
        controller.sectionBy = setup.sectionBy
        controller.aggregates = setup.aggregates
    }

    func begin() throws {
        departments = (0..<3).map { staff.department("D\($0)") }
        for _ in 0..<30 { add() }
        try staff.context.save()
        staff.context.undoManager = UndoManager()
        staff.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        Self.set(setup, controller, staff)
        controller.delegate = recorder
        try controller.performFetch()
        recorder.load(controller)
        heard.listen(to: controller)
        try followers.begin {
            staff.controller(section: nil, sort: setup.sort, where: setup.predicate)
        } as: {
            Self.set(setup, $0, staff)
        }
    }

    private func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private func date() -> Date? {
        number(6) == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number(40)) * 10 * 86_400 + 43_200)
    }

    private func add() {
        let made = staff.employee(
            "\(["N", "é", "m", "1"][number(4)])\(number(9))", number(7) == 0 ? nil : "T\(number(5))", number(20))
        made.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
        made.setValue(number(2) == 0, forKey: "isActive")
        made.setValue(date(), forKey: "hired")
    }

    /// Makes several edits, and causes a batch with them.
    func change(follows: Bool = true) throws {
        let all = try staff.context.fetch(staff.request([])).filter { !$0.isDeleted }
            .sorted { ObjectOrdering.compare($0.objectID, $1.objectID) == .orderedAscending }
        let kind = number(follows ? 14 : 4)
        for _ in 0..<(1 + number(5)) { edit(all) }
        let batches = recorder.batches
        defer { sources[last, default: 0] += recorder.batches - batches }
        switch kind {
        case 0, 1, 2:
            last = "process"
            staff.context.processPendingChanges()
        case 3, 4:
            last = "save"
            try staff.context.save()
        case 5, 6: takeBack()
        case 7, 8: rollBack(all)
        case 9:
            last = "batch update"
            try staff.context.save()
            try batchUpdate()
        case 10:
            last = "batch delete"
            try staff.context.save()
            try batchDelete()
        case 11:
            last = "batch insert"
            try staff.context.save()
            try batchInsert()
        case 12:
            last = "a sibling's save"
            try staff.context.save()
            try saveInSibling()
        default:
            try staff.context.save()
            // Starting a process takes as long as thirty rounds.
            if number(8) > 0 {
                last = "another coordinator"
                try changeElsewhere()
            } else {
                last = "another process"
                try changeInProcess()
            }
        }
    }

    private func changeInProcess() throws {
        let process = SecondProcess(staff: staff)
        let values = ["salary=\(number(20))", "team=T\(number(5))"]
        switch number(4) {
        case 0: try process.run("insert", ["name=N\(number(9))"] + values)
        case 1:
            let some = "salary == \(number(20)) AND name BEGINSWITH 'N\(number(9))'"
            try process.run("delete", ["--where", some])
        default: try process.run("update", values + ["--where", "salary == \(number(20))"])
        }
    }

    private func takeBack() {
        last = "undo"
        staff.context.processPendingChanges()
        for _ in 0..<(1 + number(2)) { staff.context.undo() }
        staff.context.processPendingChanges()
        guard number(2) == 0 else { return }
        last = "redo"
        staff.context.redo()
        staff.context.processPendingChanges()
    }

    /// Rolls back new, changed and deleted rows, with or without reporting them first.
    private func rollBack(_ all: [NSManagedObject]) {
        last = "rollback"
        for object in all.prefix(5) where !object.isDeleted { object.setValue(number(20), forKey: "salary") }
        add()
        if number(3) > 0 { staff.context.processPendingChanges() }
        if number(2) == 0 { edit(all) }
        staff.context.rollback()
    }

    private func edit(_ all: [NSManagedObject]) {
        guard let object = all.randomElement(using: &random), !object.isDeleted, number(6) > 0 || all.count > 40 else {
            return add()
        }
        switch number(9) {
        case 0: if all.count > 15 { staff.context.delete(object) } else { add() }
        case 1: object.setValue("N\(number(9))", forKey: "name")
        case 2: object.setValue(number(7) == 0 ? nil : "T\(number(10))", forKey: "team")
        case 3, 4: object.setValue(number(20), forKey: "salary")
        case 5: object.setValue(number(2) == 0, forKey: "isActive")
        case 6: object.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
        case 7: object.setValue(date(), forKey: "hired")
        default: departments[number(3)].setValue("D\(number(5))", forKey: "name")
        }
    }

    private func batchDelete() throws {
        let wanted = staff.request(["salary"], NSPredicate(format: "salary == %d", number(20)))
        wanted.fetchLimit = 2
        let ids = try staff.context.fetch(wanted).map(\.objectID)
        let request = NSBatchDeleteRequest(objectIDs: ids)
        request.resultType = .resultTypeObjectIDs
        guard !ids.isEmpty, let result = try staff.context.execute(request) as? NSBatchDeleteResult else { return }
        merge(NSDeletedObjectIDsKey, result.result)
    }

    private func batchInsert() throws {
        let rows: [[String: Any]] = (0..<(1 + number(2))).map { _ in
            ["name": "N\(number(9))", "team": "T\(number(5))", "salary": number(20)]
        }
        let request = NSBatchInsertRequest(entityName: "Employee", objects: rows)
        request.resultType = .objectIDs
        let result = try staff.context.execute(request) as? NSBatchInsertResult
        merge(NSInsertedObjectIDsKey, result?.result)
    }

    private func merge(_ key: String, _ ids: Any?) {
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [key: ids as? [NSManagedObjectID] ?? []], into: [staff.context])
    }

    /// Saves in another context of the same coordinator and merges its notification.
    private func saveInSibling() throws {
        let sibling = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        sibling.persistentStoreCoordinator = staff.coordinator
        let saved = ControllerSourceTests.SavedNotification()
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: sibling, queue: nil
        ) { saved.value = $0 }
        defer { NotificationCenter.default.removeObserver(observer) }
        let (salary, team, goes) = (number(20), "T\(number(5))", number(3) == 0)
        let request = staff.request(["name", "-salary"], NSPredicate(format: "salary == %d", number(20)))
        try sibling.performAndWait {
            for (place, object) in try sibling.fetch(request).prefix(3).enumerated() {
                if goes, place == 0 { sibling.delete(object) } else { object.setValue(salary, forKey: "salary") }
            }
            let made = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: sibling)
            made.setValue("é\(salary)", forKey: "name")
            made.setValue(team, forKey: "team")
            try sibling.save()
        }
        if let saved = saved.value { staff.context.mergeChanges(fromContextDidSave: saved) }
    }

    private func batchUpdate() throws {
        let request = NSBatchUpdateRequest(entityName: "Employee")
        request.predicate = NSPredicate(format: "salary == %d", number(20))
        request.propertiesToUpdate = ["salary": number(20), "team": "T\(number(5))"]
        request.resultType = .updatedObjectIDsResultType
        let result = try staff.context.execute(request) as? NSBatchUpdateResult
        merge(NSUpdatedObjectIDsKey, result?.result)
    }

    /// Saves in another coordinator of the same file and merges the changes by ID, as a program does with the history.
    private func changeElsewhere() throws {
        let other = try other ?? Staff(in: staff.folder)
        self.other = other
        let (name, salary, team) = ("N\(number(9))", number(20), "T\(number(5))")
        let place = number(10)
        let changes = try other.context.performAndWait { () -> [String: [URL]] in
            other.context.reset()
            let all = try other.context.fetch(other.request(["name", "salary"]))
            let made = other.employee(name, team, salary)
            var gone: [NSManagedObject] = []
            for (index, object) in all.enumerated() where index % 10 == place {
                if index > 30 {
                    gone.append(object)
                    other.context.delete(object)
                } else {
                    object.setValue(salary, forKey: "salary")
                }
            }
            let updated = all.filter { $0.hasChanges && !$0.isDeleted }
            try other.context.save()
            return [
                NSInsertedObjectIDsKey: [made.objectID.uriRepresentation()],
                NSUpdatedObjectIDsKey: updated.map { $0.objectID.uriRepresentation() },
                NSDeletedObjectIDsKey: gone.map { $0.objectID.uriRepresentation() },
            ]
        }
        let ids = changes.mapValues { urls in
            urls.compactMap { staff.coordinator.managedObjectID(forURIRepresentation: $0) }
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: ids, into: [staff.context])
    }

    // MARK: Judging

    func problem() throws -> String? {
        if let violation = recorder.violations.first { return violation }
        if let broken = controller.tracker.state?.published.brokenInvariant() { return broken }
        if let problem = heard.problem(controller) { return problem }
        if !setupChanged, let problem = followers.problem(controller) { return problem }
        let fresh = staff.controller(section: nil, sort: setup.sort, where: setup.predicate)
        Self.set(setup, fresh, staff)
        try fresh.performFetch()
        guard fresh.sections?.map(\.name) == controller.sections?.map(\.name),
            fresh.fetchedObjects == controller.fetchedObjects
        else { return "a fetch gives\n\(fresh.text)\nthe controller has\n\(controller.text)\n" }
        if let problem = try otherwiseInSQL() { return problem }
        for aggregate in setup.aggregates {
            if fresh.aggregate(aggregate) != controller.aggregate(aggregate) {
                return "\(aggregate) is \(String(describing: controller.aggregate(aggregate)))"
            }
            if let problem = try wrong(aggregate, fresh) { return problem }
        }
        return nil
    }

    /// Compares with a `GROUP BY` in the store, if the context has no unsaved changes.
    private func otherwiseInSQL() throws -> String? {
        guard !staff.context.hasChanges, setup.limit == 0, setup.offset == 0 else { return nil }
        let wanted = setup.aggregates.filter { ["sum", "min", "max"].contains("\($0)".prefix(3)) }
        guard !wanted.isEmpty else { return nil }
        let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
        request.resultType = .dictionaryResultType
        request.predicate = setup.predicate.map { NSPredicate(format: $0) }
        request.propertiesToGroupBy = ["team"]
        let columns = wanted.map { aggregate in
            let column = NSExpressionDescription()
            column.name = "\(aggregate)"
            let function = "\(aggregate)".prefix(3) + ":"
            column.expression = NSExpression(
                forFunction: String(function), arguments: [NSExpression(forKeyPath: aggregate.keyPath)])
            column.expressionResultType = aggregate.keyPath == "name" ? .stringAttributeType : .integer64AttributeType
            return column
        }
        request.propertiesToFetch = ["team"] + columns
        let groups = try staff.context.fetch(request)
        sumsBySQL += 1
        for aggregate in wanted {
            let values = groups.compactMap { $0["\(aggregate)"] }
            let isMaximum = "\(aggregate)".hasPrefix("max")
            let told: SectionValue
            if aggregate.keyPath == "name" {
                // Compares bytes, as SQLite does.
                let texts = values.compactMap { $0 as? String }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                told = texts.last.map { .text($0) } ?? .missing
            } else {
                let numbers = values.compactMap { ($0 as? NSNumber)?.intValue }
                let isSum = "\(aggregate)".hasPrefix("sum")
                let number = isSum ? numbers.reduce(0, +) : isMaximum ? numbers.max() : numbers.min()
                told = number.map { .integer($0) } ?? .missing
            }
            let mine = controller.aggregate(aggregate)
            if told != mine { return "\(aggregate) is \(String(describing: mine)), by SQL \(told)" }
        }
        return nil
    }

    /// Compares sums with the objects and with a fresh list.
    private func wrong(
        _ aggregate: SectionAggregate, _ fresh: NSFetchedResultsController<NSManagedObject>
    ) throws -> String? {
        for (mine, new) in zip(controller.sections ?? [], fresh.sections ?? []) {
            guard mine.aggregate(aggregate) == new.aggregate(aggregate) else {
                return "\(aggregate) of \(mine.name) is \(String(describing: mine.aggregate(aggregate)))"
            }
            guard aggregate == .sum("salary") else { continue }
            let sum = (mine.objects ?? []).reduce(0) { sum, object in
                sum + Int((object as? NSManagedObject)?.value(forKey: "salary") as? Int32 ?? 0)
            }
            if mine.aggregate(aggregate) != .integer(sum) { return "the sum of \(mine.name) is \(sum)" }
        }
        return nil
    }
}
