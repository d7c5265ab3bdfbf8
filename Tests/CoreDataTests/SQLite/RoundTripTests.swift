import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// Values are stored in Apple's form and read back unchanged.
@Suite struct RoundTripTests {
    let harness: StoreHarness
    init() throws { harness = try StoreHarness(StoreModels.types()) }

    static let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!

    static let values: [(name: String, value: SlotValue, stored: SQLiteValue)] = [
        ("int16", .integer(-32768), .integer(-32768)), ("int32", .integer(1 << 31 - 1), .integer(1 << 31 - 1)),
        ("int64", .integer(.min), .integer(.min)), ("double", .real(0.1), .real(0.1)), ("double", .real(3), .real(3)),
        ("float", .real(1.5), .real(1.5)), ("string", .text(""), .text("")),
        ("string", .text("Côte d’Ivoire 🇨🇮"), .text("Côte d’Ivoire 🇨🇮")), ("boolean", .integer(1), .integer(1)),
        ("date", .real(0.25), .real(0.25)), ("date", .real(757_382_400), .integer(757_382_400)),
        ("data", .data(Data()), .blob(Data())), ("data", .data(Data([0, 1])), .blob(Data([0, 1]))),
        ("external", .data(Data([7, 8])), .blob(Data([1, 7, 8]))),
        ("uuid", .uuid(uuid), .blob(Data([0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255]))),
        ("uri", .text("https://example.org/ä"), .text("https://example.org/ä")),
        ("decimal", .decimal(NSDecimalNumber(string: "9.99")), .real(9.99)),
        ("decimal", .decimal(NSDecimalNumber(string: "-12345678901234")), .integer(-12_345_678_901_234)),
        ("decimal", .decimal(NSDecimalNumber(string: "0.000001")), .real(0.000001)),
    ]

    @Test(arguments: values.indices) func aValueComesBack(_ index: Int) throws {
        let (name, value, stored) = Self.values[index]
        let open = try harness.open()
        let id = try open.insert("Thing", [name: value])
        let found = try harness.sql("SELECT Z\(name.uppercased()) FROM ZTHING")
        #expect(found == [[stored]])
        #expect(try open.value(name, of: id) == value)
    }

    /// SQLite cannot store signed zeros and not-a-number.
    @Test func edgesOfNumbers() throws {
        let open = try harness.open()
        for value in [Int64.min, .max, -1, 0] { #expect(try back("int64", .integer(value), open) == .integer(value)) }
        for value in [Double.greatestFiniteMagnitude, .leastNonzeroMagnitude, -0.1, .pi, 1e300, .infinity, -.infinity] {
            #expect(try back("double", .real(value), open) == .real(value))
        }
        let dates = [
            Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1 + 0.2),
            Date(timeIntervalSinceReferenceDate: 1e15 + 0.125), Date(timeIntervalSinceReferenceDate: -1e-9),
        ].map(\.timeIntervalSinceReferenceDate)
        for date in dates {
            guard case .real(let found) = try back("date", .real(date), open) else { throw Missing() }
            #expect(found.bitPattern == date.bitPattern)
        }
        guard case .real(let zero) = try back("double", .real(-0.0), open) else { throw Missing() }
        #expect(zero == 0 && zero.sign == .plus)
        #expect(try back("double", .real(.nan), open) == .null)
        #expect(try back("decimal", .decimal(.notANumber), open) == .null)
    }

    private func back(_ name: String, _ value: SlotValue, _ open: StoreHarness.Open) throws -> SlotValue {
        try open.value(name, of: try open.insert("Thing", [name: value]))
    }

    /// Decimals keep all digits, and queries for long ones are exact.
    @Test func decimalsLoseNothing() throws {
        let texts = [
            "12345678901234567890.12345678901234567", "0.1000000000000000000000000001",
            "-99999999999999999999999999999999999999",
            "9223372036854775808", "1e-100", "3.14", "0.30000000000000004", "123456789012345678",
        ]
        let open = try harness.open()
        let entity = try open.entity("Thing")
        func found(_ format: String, _ store: SQLiteStore) throws -> [String]? {
            var query = StoreQuery(entity: entity, predicate: NSPredicate(format: format).syntaxTree)
            query.sortKeys = [NSSortDescriptor(key: "decimal", ascending: true).storeSortKey]
            let result = try store.fetch(query)
            return result.unsupported.isEmpty ? result.rows.map { "\($0.values[slot(entity)])" } : nil
        }
        try open.insert("Thing", ["decimal": .decimal(NSDecimalNumber(string: "1.5"))])
        #expect(try found("decimal > 1", open.store)?.count == 1)
        for text in texts {
            let value = SlotValue.decimal(NSDecimalNumber(string: text))
            #expect(try back("decimal", value, open) == value, "\(text)")
        }
        #expect(try found("decimal > 1", open.store) == nil, "compared in memory")
        #expect(open.store.metadata[DecimalCoding.metadataKey] != nil)
        open.store.metadata["Other"] = "kept"
        try open.store.save(StoreChangeSet())
        try open.close()
        let again = try harness.open()
        #expect(try found("decimal > 1", again.store) == nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = again.coordinator
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "decimal > 1e18")
            request.sortDescriptors = [NSSortDescriptor(key: "decimal", ascending: true)]
            let values = try context.fetch(request).compactMap { $0.value(forKey: "decimal") as? NSDecimalNumber }
            #expect(values == [texts[3], texts[0]].map { NSDecimalNumber(string: $0) })
        }
    }

    private func slot(_ entity: NSEntityDescription) -> Int {
        entity.layout.slots.firstIndex { $0.name == "decimal" } ?? 0
    }

    @Test func aTransformableValueIsAnArchive() throws {
        let open = try harness.open()
        let object = NSArray(array: [NSString("a"), NSNumber(value: 2)])
        let id = try open.insert("Thing", ["transformable": .object(object)])
        guard case .object(let back) = try open.value("transformable", of: id) else { throw Missing() }
        #expect(back.isEqual(object))
        guard case .blob(let data) = try harness.sql("SELECT ZTRANSFORMABLE FROM ZTHING")[0][0] else { throw Missing() }
        #expect(data.starts(with: Data("bplist00".utf8)))
    }

    struct Missing: Error {}

    /// A value of an unknown transformer is not decoded and not overwritten.
    @Test func aValueOfAnUnknownTransformerIsLeftAlone() throws {
        let model = StoreModels.types()
        let attribute = try #require(model.entitiesByName["Thing"]?.attributesByName["transformable"])
        attribute.valueTransformerName = "TransformerThatIsNotHere"
        let harness = try StoreHarness(model)
        let open = try harness.open()
        let id = try open.insert("Thing", ["string": .text("a")])
        _ = try harness.sql("UPDATE ZTHING SET ZTRANSFORMABLE = x'C0FFEE'")
        #expect(try open.value("transformable", of: id).isNull)
        try open.store.save(StoreChangeSet(updated: [try open.change(id, ["string": .text("b")])]))
        #expect(try harness.sql("SELECT ZTRANSFORMABLE FROM ZTHING") == [[.blob(Data([0xC0, 0xFF, 0xEE]))]])
        let change = try open.change(id, ["transformable": .object(NSString("red"))])
        #expect { try open.store.save(StoreChangeSet(updated: [change])) } throws: {
            code($0) == 134030 && message($0).contains("no value transformer named TransformerThatIsNotHere")
        }
    }

    @Test func missingValuesAreNull() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", [:])
        let row = try #require(open.store.rows(for: [id])[id])
        #expect(row.values.contains { !$0.isNull } == false)
        #expect(row.version == 1)
    }

    @Test func transientValuesHaveNoColumn() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["transient": .text("gone")])
        #expect(try open.value("transient", of: id).isNull)
        #expect(try harness.sql("SELECT name FROM pragma_table_info('ZTHING') WHERE name LIKE '%TRANS%'").count == 1)
    }

    @Test func externalDataIsReadFromItsFile() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["external": .data(Data([1]))])
        let folder = harness.folder.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data([9, 9]).write(to: folder.appendingPathComponent(Self.uuid.uuidString))
        let stored = Data([2]) + Data(Self.uuid.uuidString.utf8) + Data([0])
        _ = try harness.sql("UPDATE ZTHING SET ZEXTERNAL = ?", [.blob(stored)])
        #expect(try open.value("external", of: id) == .data(Data([9, 9])))
    }

    @Test func anUpdateWritesOnlyWhatChanged() throws {
        let open = try harness.open()
        let id = try open.insert("Thing", ["string": .text("a"), "int32": .integer(1)])
        let change = try open.change(id, ["string": .text("b")])
        _ = try harness.sql("UPDATE ZTHING SET ZINT32 = 5")
        try open.store.save(StoreChangeSet(updated: [change]))
        let row = try #require(open.store.rows(for: [id])[id])
        #expect(row.version == 2)
        #expect(try open.value("string", of: id) == .text("b"))
        #expect(try open.value("int32", of: id) == .integer(5))
    }

    @Test func rowsComeInAnyNumber() throws {
        let open = try harness.open()
        let entity = try open.entity("Thing")
        let ids = try open.store.obtainPermanentIDs(for: Array(repeating: entity, count: 3000))
        let slot = try #require(entity.layout.slots.firstIndex { $0.name == "int32" })
        let rows = ids.map { id in
            var values = [SlotValue](repeating: .null, count: entity.layout.slots.count)
            values[slot] = .integer(id.rowKey?.reference ?? 0)
            return IdentifiedRow(id: id, row: .make(values, version: 1))
        }
        try open.store.save(StoreChangeSet(inserted: rows.reversed()))
        for count in [1, 2, 3, 255, 256, 257, 400, 512, 513, 3000] {
            let wanted = Array(ids.shuffled().prefix(count))
            let found = try open.store.rows(for: wanted)
            #expect(found.count == count)
            #expect(found.allSatisfy { $0.value.values[slot] == .integer($0.key.rowKey?.reference ?? -1) })
        }
    }
}
