import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Case 82: random edits, with and without sections and a predicate. After each batch, the controller is consistent and
/// agrees with a fresh fetch, and the delegate's events replay to the same list.
@Suite(.needs(.campaign)) struct ControllerStressTests {
    struct Setup: CustomTestStringConvertible, Sendable {
        let section: String?
        let sort: [String]
        let predicate: String?
        let seed: UInt64
        var offset = 0
        var limit = 0
        /// Minimum number of rows.
        var rows = 25
        var testDescription: String {
            "\(section ?? "flat") by \(sort) where \(predicate ?? "all") from \(offset) limit \(limit), seed \(seed)"
        }
    }

    static let setups = [
        Setup(section: nil, sort: ["salary", "name"], predicate: nil, seed: 1),
        Setup(section: "team", sort: ["team", "-salary"], predicate: nil, seed: 2),
        Setup(section: "team", sort: ["-team", "name"], predicate: "salary BETWEEN {3, 15}", seed: 3),
        Setup(section: "department.name", sort: ["department.name", "team", "name"], predicate: nil, seed: 4),
        Setup(section: nil, sort: ["-department.name"], predicate: "department.name != 'D1' OR salary > 10", seed: 5),
        Setup(section: "isActive", sort: ["isActive", "-name"], predicate: "team IN {'T0', 'T2', 'T3'}", seed: 6),
        Setup(section: nil, sort: ["-salary", "name"], predicate: nil, seed: 7, limit: 5, rows: 120),
        Setup(section: "team", sort: ["team", "name"], predicate: nil, seed: 8, offset: 3, limit: 9, rows: 90),
        Setup(section: nil, sort: ["name"], predicate: "salary < 15", seed: 9, offset: 20),
        Setup(
            section: "department.name", sort: ["department.name", "-name"], predicate: "isActive == YES", seed: 10,
            offset: 30, limit: 20, rows: 200),
    ]

    /// 6,000 edits over all set-ups; `ROSTER_LONG_TESTS=n` runs 16,700·n.
    @Test(arguments: setups)
    func case82_randomEdits(setup: Setup) throws {
        let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
        let wanted = factor.map { 1_670 * $0 } ?? 600
        try Staff.run { staff in
            var random = SeededGenerator(seed: setup.seed)
            let departments = (0..<3).map { staff.department("D\($0)") }
            for number in 25..<max(25, setup.rows) { staff.employee("N\(number % 9)", "T\(number % 5)", number % 20) }
            let controller = self.controller(staff, setup)
            let recorder = Recorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
            var edits = 0
            var round = 0
            while edits < wanted {
                round += 1
                let all = try staff.context.fetch(staff.request([]))
                    .sorted { ObjectOrdering.compare($0.objectID, $1.objectID) == .orderedAscending }
                for _ in 0..<Int.random(in: 1...7, using: &random) {
                    edits += 1
                    edit(staff, all, departments, &random, rows: setup.rows)
                }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: try staff.context.save()
                default: staff.context.processPendingChanges()
                }
                let problem =
                    try recorder.violations.first ?? (round % 4 == 0 ? controller.contradiction() : nil)
                    ?? difference(staff, controller, setup)
                if let problem {
                    Issue.record("\(problem), seed \(setup.seed), round \(round), \(edits) edits")
                    return
                }
            }
            if factor != nil {
                print("controller, seed \(setup.seed): \(edits) edits, \(recorder.batches) batches told")
            }
            #expect(recorder.batches > wanted / (setup.rows > 25 || setup.offset > 0 ? 33 : 8))
        }
    }

    func edit(
        _ staff: Staff, _ all: [NSManagedObject], _ departments: [NSManagedObject], _ random: inout SeededGenerator,
        rows: Int = 25
    ) {
        func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        let kind = number(12)
        guard let object = all.randomElement(using: &random), !object.isDeleted, kind > 2 || all.count > rows else {
            let made = staff.employee("N\(number(9))", number(8) == 0 ? nil : "T\(number(5))", number(20))
            made.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
            made.setValue(number(2) == 0, forKey: "isActive")
            return
        }
        switch kind {
        case 0, 1, 2: staff.context.delete(object)
        case 3: object.setValue("N\(number(9))", forKey: "name")
        case 4, 5: object.setValue("T\(number(5))", forKey: "team")
        case 6, 7: object.setValue(number(20), forKey: "salary")
        case 8: object.setValue(number(2) == 0, forKey: "isActive")
        case 9: object.setValue(number(4) == 0 ? nil : departments[number(3)], forKey: "department")
        case 10: departments[number(3)].setValue("D\(number(5))", forKey: "name")
        default: staff.employee("N\(number(9))", "T\(number(5))", number(20))
        }
    }

    private func controller(_ staff: Staff, _ setup: Setup) -> NSFetchedResultsController<NSManagedObject> {
        let controller = staff.controller(section: setup.section, sort: setup.sort, where: setup.predicate)
        controller.fetchRequest.fetchOffset = setup.offset
        controller.fetchRequest.fetchLimit = setup.limit
        return controller
    }

    private func difference(
        _ staff: Staff, _ controller: NSFetchedResultsController<NSManagedObject>, _ setup: Setup
    ) throws -> String? {
        let fresh = self.controller(staff, setup)
        try fresh.performFetch()
        // A fetch ignores unsaved changes of related objects.
        if setup.section != "department.name", setup.seed > 6,
            try staff.context.fetch(fresh.fetchRequest) != fresh.fetchedObjects
        {
            return "a controller's fetch is another"
        }
        if fresh.sections?.map(\.name) == controller.sections?.map(\.name),
            fresh.fetchedObjects == controller.fetchedObjects
        {
            return nil
        }
        return "a fetch gives\n\(fresh.text)\nthe controller has\n\(controller.text)\n"
    }
}
