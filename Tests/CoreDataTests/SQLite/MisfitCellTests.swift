import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Cells in which another program stored a value of another type.
@Suite struct MisfitCellTests {
    private static let cells = [
        ("int16", "'abc'"), ("int32", "'12abc'"), ("int64", "1.5"), ("boolean", "x'01'"), ("double", "'abc'"),
        ("float", "x'3132'"), ("date", "'2022-01-01'"), ("string", "x'616263'"), ("data", "'abc'"), ("uuid", "x'0102'"),
        ("decimal", "'abc'"), ("uri", "x'616263'"), ("transformable", "'abc'"),
    ]

    /// They are read as nil and reported, not converted; other edits of the row do not change them.
    @Test func valuesOfAnotherTypeAreNotCoerced() throws {
        let harness = try StoreHarness(StoreModels.types())
        var open = try harness.open()
        let names = open.coordinator.managedObjectModel.entitiesByName["Thing"]?.attributesByName ?? [:]
        try open.insert("Thing", [:])
        try open.close()
        for (name, literal) in Self.cells {
            _ = try harness.sql("UPDATE ZTHING SET Z\(name.uppercased()) = \(literal)")
        }
        let columns = Self.cells.map { "Z\($0.0.uppercased())" }.joined(separator: ", ")
        let before = try harness.sql("SELECT \(columns) FROM ZTHING")

        open = try harness.open()
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = open.coordinator
        try context.performAndWait {
            let thing = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            for (name, _) in Self.cells {
                #expect(names[name] != nil && thing.value(forKey: name) == nil, "\(name)")
                #expect(open.coordinator.readingNotes.contains { $0.hasPrefix("Thing.\(name): ") }, "\(name)")
            }
            thing.setValue(Data([1]), forKey: "external")
            try context.save()
            let values = NSFetchRequest<NSDictionary>(entityName: "Thing")
            values.resultType = .dictionaryResultType
            values.propertiesToFetch = Self.cells.map(\.0).filter { $0 != "transformable" }
            #expect(try context.fetch(values) == [[:]])
        }
        #expect(try harness.sql("SELECT \(columns) FROM ZTHING") == before)
    }

    /// An integer is valid in a column for floating-point numbers and dates.
    @Test func wholeNumbersAreFractions() throws {
        let harness = try StoreHarness(StoreModels.types())
        let open = try harness.open()
        let id = try open.insert("Thing", [:])
        _ = try harness.sql("UPDATE ZTHING SET ZDATE = 5, ZDOUBLE = 6, ZDECIMAL = 7")
        #expect(try open.value("date", of: id) == .real(5))
        #expect(try open.value("double", of: id) == .real(6))
        #expect(try open.value("decimal", of: id) == .decimal(7))
        #expect(open.coordinator.readingNotes.isEmpty)
    }
}
