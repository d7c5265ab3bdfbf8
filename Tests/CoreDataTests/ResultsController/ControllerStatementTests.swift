import Foundation
import SQLiteAccess
import Synchronization
import Testing

@testable import CoreData

/// Number of statements that a list's operations need.
@MainActor @Suite struct ControllerStatementTests {
    /// No other test has this table.
    private nonisolated static let table = "ZTURNSTILE"

    /// Properties of an index with the list's order.
    private nonisolated static let whole = ["gate", "-passed"]

    /// - Parameter index: properties of an index, with `-` for descending order; none for no index.
    private static func model(index: [String]) -> NSManagedObjectModel {
        let turnstile = NSEntityDescription()
        turnstile.name = "Turnstile"
        turnstile.properties = [
            ("name", NSAttributeType.stringAttributeType), ("gate", .stringAttributeType),
            ("passed", .integer64AttributeType),
        ].map {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = ($0.0, $0.1, true)
            return attribute
        }
        let elements = index.compactMap { key -> NSFetchIndexElementDescription? in
            let name = key.hasPrefix("-") ? String(key.dropFirst()) : key
            guard let property = turnstile.propertiesByName[name] else { return nil }
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            element.isAscending = name == key
            return element
        }
        if !index.isEmpty { turnstile.indexes = [NSFetchIndexDescription(name: "byGate", elements: elements)] }
        let model = NSManagedObjectModel()
        model.entities = [turnstile]
        return model
    }

    private typealias List = NSFetchedResultsController<NSManagedObject>

    /// Calls `body` with a list of turnstiles in sections by gate, sorted descending by `passed`.
    private func withList(
        _ rows: [[String: Any]], index: [String], _ body: (List) throws -> Void
    ) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "turnstiles-\(UUID().uuidString).sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(index: index))
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer {
            try? coordinator.remove(store)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        }
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = try context.execute(NSBatchInsertRequest(entityName: "Turnstile", objects: rows))
        let list = list(context)
        try list.performFetch()
        try body(list)
    }

    private func list(_ context: NSManagedObjectContext) -> List {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Turnstile")
        request.sortDescriptors = [
            NSSortDescriptor(key: "gate", ascending: true), NSSortDescriptor(key: "passed", ascending: false),
        ]
        request.fetchBatchSize = 20
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "gate", cacheName: nil)
    }

    /// The statements that `body` runs on the table.
    private func statements(_ body: () throws -> Void) rethrows -> [String] {
        let heard = Mutex<[String]>([])
        let observation = StatementObservation { statement in
            if statement.sql.contains(Self.table) { heard.withLock { $0.append(statement.sql) } }
        }
        try body()
        withExtendedLifetime(observation) {}
        return heard.withLock { $0 }
    }

    private final class Counter: NSObject, NSFetchedResultsControllerDelegate {
        private(set) var moves = 0

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            if type == .move { moves += 1 }
        }
    }

    /// A binary search with one statement per step would need twelve.
    @Test(arguments: [([], 5), (whole, 2)])
    func theNewPlaceOfARowTakesFewStatements(index: [String], most: Int) throws {
        let rows = (0..<6_000).map { ["gate": "\($0 % 2)", "passed": $0 * 10] as [String: Any] }
        try withList(rows, index: index) { list in
            let counter = Counter()
            list.delegate = counter
            let moved = list.object(at: IndexPath(row: 10, section: 1))
            #expect(moved.value(forKey: "gate") as? String == "1")
            let told = statements {
                moved.setValue(20_005, forKey: "passed")
                list.managedObjectContext.processPendingChanges()
            }
            // The rows with higher numbers are 59,990 down to 20,010, minus the moved one.
            #expect(list.indexPath(forObject: moved) == IndexPath(row: 1_999, section: 1))
            #expect(told.count <= most, "\(told)")
            #expect(counter.moves == 1)
        }
    }

    /// Some twenty instructions for each of the eight rows of a result, plus the beginning. Scanning the table or half
    /// of it takes at least ten thousand.
    private static let mostSteps = 400

    /// An index is used only if it leads to the rows: one with only the last key would be scanned.
    @Test(arguments: [[], whole, ["-passed"], ["gate"], ["-passed", "gate"], ["passed"], ["-gate", "passed"]])
    func noStatementScansTheRows(index: [String]) throws {
        // All numbers of gate A are higher than those of B.
        let rows = (0..<6_000).map { ["gate": $0 < 3_000 ? "B" : "A", "passed": $0 * 10] as [String: Any] }
        try withList(rows, index: index) { list in
            let counter = Counter()
            list.delegate = counter
            let steps = Mutex<[String: Int]>([:])
            let owner = NSObject()
            StatementObservers.add(owner) { statement in
                guard statement.sql.contains(Self.table) else { return }
                steps.withLock { $0[statement.sql] = max($0[statement.sql] ?? 0, statement.steps) }
            }
            defer { StatementObservers.remove(owner) }
            for (row, passed) in [(10, 59_995), (2_000, 15), (30, -1), (0, 12_345)] {
                let moved = list.object(at: IndexPath(row: row, section: 1))
                #expect(moved.value(forKey: "gate") as? String == "B")
                moved.setValue(passed, forKey: "passed")
                list.managedObjectContext.processPendingChanges()
            }
            #expect(counter.moves == 4)
            let counted = steps.withLock { $0 }
            #expect(!counted.isEmpty && counted.values.allSatisfy { $0 > 0 })
            #expect(counted.filter { $0.value > Self.mostSteps } == [:], "\(index)")
        }
    }

    /// The ends of long sections are found by key. With many sections, the values are read together with all keys.
    @Test(arguments: [
        [9_000], [5_000, 1, 5_000], [4_096, 4_097, 900, 7], [6_000] + Array(repeating: 1, count: 2_000),
        Array(repeating: 20, count: 400), [3, 4_000], [],
    ])
    func endsOfSectionsAreFound(sizes: [Int]) throws {
        var rows: [[String: Any]] = []
        for (number, size) in sizes.enumerated() {
            for passed in 0..<size {
                // The first section contains the rows without a gate.
                rows.append(number == 0 ? ["passed": passed] : ["gate": "G\(10_000 + number)", "passed": passed])
            }
        }
        rows.shuffle()
        try withList(rows, index: Self.whole) { first in
            let list = self.list(first.managedObjectContext)
            let told = try statements { try list.performFetch() }
            #expect(list.sections?.map(\.numberOfObjects) == sizes)
            #expect(
                list.sections?.map(\.name) == sizes.indices.map { $0 == 0 ? "" : "G\(10_000 + $0)" })
            for (number, size) in sizes.enumerated() {
                let ends = [0, size - 1].map { list.object(at: IndexPath(row: $0, section: number)) }
                #expect(ends.map { $0.value(forKey: "passed") as? Int } == [size - 1, 0])
            }
            let lookUps = told.count { $0.hasSuffix("WHERE t0.Z_PK = ?") }
            #expect(sizes.count(where: { $0 > 4_000 }) == 0 ? lookUps == 0 : (1...256).contains(lookUps), "\(lookUps)")
        }
    }

    /// With an index on the groups but not on all aggregated values, SQLite would look up each row in the table.
    @Test func groupsAreSortedRatherThanLookedUpOneByOne() throws {
        let rows = (0..<50).map { ["name": "N\($0)", "gate": "\($0 % 2)", "passed": $0] as [String: Any] }
        try withList(rows, index: Self.whole) { list in
            @MainActor func told(_ key: String) throws -> [String] {
                let request = NSFetchRequest<NSDictionary>(entityName: "Turnstile")
                request.resultType = .dictionaryResultType
                let most = NSExpressionDescription()
                most.name = "most"
                most.expression = NSExpression(format: "max:(\(key))")
                request.propertiesToGroupBy = ["gate"]
                request.propertiesToFetch = ["gate", most]
                request.sortDescriptors = [NSSortDescriptor(key: "gate", ascending: true)]
                var found: [NSDictionary] = []
                let heard = try statements { found = try list.managedObjectContext.fetch(request) }
                #expect(found.map { $0["gate"] as? String } == ["0", "1"])
                return heard
            }
            let (names, numbers) = (try told("name"), try told("passed"))
            #expect(names.allSatisfy { $0.contains("GROUP BY +") }, "\(names)")
            #expect(numbers.allSatisfy { $0.contains("GROUP BY t0.") }, "\(numbers)")
        }
    }

    /// The store's positions are based on saved values. Rows with unsaved, equal or missing values are placed
    /// correctly, too.
    @Test func rowsWithUnsavedValuesArePlacedCorrectly() throws {
        var random = SeededGenerator(seed: 22)
        let rows = (0..<900).map { _ in
            [
                "gate": Int.random(in: 0..<10, using: &random) == 0 ? "B" : "A",
                "passed": Int.random(in: 0..<300, using: &random),
            ]
                as [String: Any]
        }
        try withList(rows, index: Self.whole) { list in
            let recorder = Recorder()
            list.delegate = recorder
            recorder.load(list)
            let context = list.managedObjectContext
            func randomPath() -> IndexPath {
                let section = Int.random(in: 0..<(list.sections?.count ?? 0), using: &random)
                let count = list.sections?[section].numberOfObjects ?? 0
                return IndexPath(row: Int.random(in: 0..<count, using: &random), section: section)
            }
            for round in 0..<60 {
                for _ in 0..<(1 + round % 3) {
                    let object = list.object(at: randomPath())
                    if object.isDeleted { continue }
                    let number = Int.random(in: 0..<320, using: &random)
                    switch number % 10 {
                    case 0: context.delete(object)
                    case 1: object.setValue(number % 4 == 0 ? nil : number % 3 == 0 ? "B" : "A", forKey: "gate")
                    case 2:
                        let new = NSEntityDescription.insertNewObject(forEntityName: "Turnstile", into: context)
                        new.setValuesForKeys(["gate": "A", "passed": number])
                    default: object.setValue(number % 17 == 0 ? nil : number, forKey: "passed")
                    }
                }
                context.processPendingChanges()
                if round % 10 == 9 { try context.save() }
                // Releases objects, which are then read again.
                if round % 10 == 4 { context.refreshAllObjects() }
                let fresh = self.list(context)
                try fresh.performFetch()
                #expect(list.fetchedObjects?.map(\.objectID) == fresh.fetchedObjects?.map(\.objectID), "round \(round)")
            }
            #expect(recorder.violations == [])
        }
    }
}
