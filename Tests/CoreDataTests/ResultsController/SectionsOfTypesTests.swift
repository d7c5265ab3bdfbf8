import Foundation
import Testing

@testable import CoreData

/// Sections by attributes of every type are the same whether the store groups the rows (by an index or by sorting) or
/// each object is read.
@Suite struct SectionsOfTypesTests {
    /// SAFETY: never changed.
    nonisolated(unsafe) private static let values: [(name: String, values: [Any?])] = [
        ("int16", [nil, Int16.min, -1, 0, 7, Int16.max]), ("int32", [nil, Int32.min, 0, 3]),
        ("int64", [nil, Int64.min, Int64.max, 1 << 53, 1 << 53 + 1, 0]),
        ("decimal", [nil, Decimal(string: "1.5"), Decimal(-2), Decimal(string: "1.25")]),
        ("double", [nil, -0.5, 0.0, 1e300, 2.0]), ("float", [nil, Float(0.25), Float(-3)]),
        ("string", [nil, "", "a", "a\0b", "Zürich", "漢字", "🇧🇷", "b"]), ("boolean", [nil, true, false]),
        ("date", [nil, Date(timeIntervalSinceReferenceDate: -1.5), Date(timeIntervalSinceReferenceDate: 1e9)]),
        (
            "uuid",
            [
                nil, UUID(uuidString: "00000000-0000-0000-0000-000000000001"),
                UUID(uuidString: "F0000000-0000-0000-0000-000000000000"),
            ]
        ),
        ("uri", [nil, URL(string: "https://example.org/a"), URL(string: "https://example.org/b")]),
    ]

    private func stack(isIndexed: Bool) throws -> (StoreHarness, StoreHarness.Open) {
        let model = StoreModels.types()
        let thing = try #require(model.entitiesByName["Thing"])
        if isIndexed {
            thing.indexes = Self.values.map { name, _ in
                let properties = [name, "data"].compactMap { thing.propertiesByName[$0] }
                return NSFetchIndexDescription(
                    name: "by\(name)",
                    elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
            }
        }
        let harness = try StoreHarness(model)
        return (harness, try harness.open())
    }

    private func fill(_ context: NSManagedObjectContext, _ count: Int) throws {
        var random = SeededGenerator(seed: 11)
        for number in 0..<count {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            for (name, values) in Self.values { thing.setValue(values.randomElement(using: &random)!, forKey: name) }
            thing.setValue(Data([UInt8(number % 5)]), forKey: "data")
        }
        try context.save()
    }

    /// The name and rows of each section, computed from each object of a fetch.
    private func expected(
        _ request: NSFetchRequest<NSManagedObject>, _ key: SectionKey, _ context: NSManagedObjectContext
    ) throws -> [String] {
        var sections: [(name: String, count: Int)] = []
        for object in try context.fetch(request) {
            let name = key.name(of: object)
            if sections.last?.name == name {
                sections[sections.count - 1].count += 1
            } else {
                sections.append((name, 1))
            }
        }
        return sections.map { "\($0.name): \($0.count)" }
    }

    @Test(arguments: [true, false]) func sectionsAreThoseOfTheObjects(_ isIndexed: Bool) throws {
        let (harness, open) = try stack(isIndexed: isIndexed)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        try context.performAndWait {
            try fill(context, 120)
            for (name, _) in Self.values {
                for (isAscending, limit, offset) in [(true, 0, 0), (false, 0, 0), (true, 40, 7)] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                    request.sortDescriptors = [
                        NSSortDescriptor(key: name, ascending: isAscending),
                        NSSortDescriptor(key: "data", ascending: true),
                    ]
                    request.fetchLimit = limit
                    request.fetchOffset = offset
                    let controller = NSFetchedResultsController(
                        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: name, cacheName: nil)
                    try controller.performFetch()
                    let sections = (controller.sections ?? []).map { "\($0.name): \($0.numberOfObjects)" }
                    let key = SectionKey(name, of: try open.entity("Thing"))
                    #expect(sections == (try expected(request, key, context)), "\(name), \(isAscending), \(limit)")
                    #expect(controller.fetchedObjects == (try context.fetch(request)))
                }
            }
        }
        withExtendedLifetime(harness) {}
    }
}
