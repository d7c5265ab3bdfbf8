import CoreData
import CoreDataImport
import Foundation
import Testing

/// Numbers at and beyond the limits of attributes, set in every way: each is saved and read back exactly, or refused by
/// an error. None stops the program.
@Suite struct ExtremeValueTests {
    /// `ROSTER_LONG_TESTS=n` adds 100 · n random numbers of each kind.
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 0

    static let types: [(name: String, type: NSAttributeType)] = [
        ("int16", .integer16AttributeType), ("int32", .integer32AttributeType), ("int64", .integer64AttributeType),
        ("boolean", .booleanAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
        ("decimal", .decimalAttributeType),
    ]

    // SAFETY: never changed.
    nonisolated(unsafe) private static let values: [Any] = {
        var reals: [Double] = [
            1e30, -1e30, 9.3e18, -9.3e18, 0x1p63, -0x1p63, 0x1p62, 1e200, 1e-200, 1e308, .leastNonzeroMagnitude, 3.4e38,
            3.5e38, 0.5,
            -0.5, 32767.5, 32768, -32769, 2_147_483_648, .nan, .infinity, -.infinity, 1e127, 1e165, 1e166, 0,
        ]
        var whole: [Int64] = [.min, .max, .max - 1, 40_000, -40_000, 3_000_000_000, 9_007_199_254_740_993, 1, 0]
        var decimals = [
            "1e40", "-1e40", "1e127", "-1e127", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "9007199254740993", "0.1", "-0.1", "32767.9", "1e-127",
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<factor * 100 {
            reals.append(Double(bitPattern: .random(in: 0...UInt64.max, using: &random)))
            whole.append(.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))
            decimals.append("\(whole[whole.count - 1])e\(Int.random(in: -60...60, using: &random))")
        }
        let numbers = decimals.map { NSDecimalNumber(string: $0) } + [.notANumber, .maximum, .minimum]
        return reals.flatMap { [$0, NSNumber(value: $0), Float($0)] as [Any] }
            + whole.flatMap { [$0, NSNumber(value: $0)] as [Any] } + numbers
            + numbers.map { $0.decimalValue as Any }
            + [UInt64.max, NSNumber(value: UInt64.max), UInt64(1) << 63, UInt.max, Int8.min, UInt8.max, CGFloat(1e30)]
    }()

    /// The expected number of `value` after it was saved in an attribute of the type; `nil` if it is refused.
    private func expected(_ value: Any, _ type: NSAttributeType) -> NSNumber? {
        let exact = decimal(value)
        let (number, isDecimal) = (value as? NSNumber, value is NSDecimalNumber || value is Decimal)
        let isReal = !isDecimal && number.map { ["d", "f"].contains(String(cString: $0.objCType)) } ?? false
        let real = isReal ? number?.doubleValue : nil
        let double = real ?? exact.flatMap { Double("\($0)") } ?? .nan
        func whole(_ range: ClosedRange<Int64>) -> NSNumber? {
            let number =
                real.map { $0.isFinite ? Int64(exactly: $0.rounded(.towardZero)) : nil }
                ?? exact.flatMap { Int64("\($0)".prefix { $0 != "." }.replacingOccurrences(of: "-0", with: "0")) }
            return number.flatMap { range.contains($0) ? NSNumber(value: $0) : nil }
        }
        switch type {
        case .integer16AttributeType: return whole(Int64(Int16.min)...Int64(Int16.max))
        case .integer32AttributeType: return whole(Int64(Int32.min)...Int64(Int32.max))
        case .integer64AttributeType: return whole(.min ... .max)
        case .booleanAttributeType:
            return double.isNaN ? nil : NSNumber(value: whole(.min ... .max).map { $0 != 0 } ?? true)
        case .doubleAttributeType: return double.isNaN ? nil : NSNumber(value: double)
        case .floatAttributeType:
            return double.isNaN || double.isFinite && !Float(double).isFinite ? nil : NSNumber(value: Float(double))
        default:
            guard let real else { return exact.map { NSDecimalNumber(decimal: $0) } }
            if !real.isFinite || real.magnitude >= 1e165 { return nil }
            let decimal = Decimal(string: "\(real)") ?? Decimal(real)
            return NSDecimalNumber(decimal: decimal.isNaN ? 0 : decimal)
        }
    }

    /// The exact value of a number that is not a floating-point one; `nil` for NaN.
    private func decimal(_ value: Any) -> Decimal? {
        switch value {
        case let number as Decimal: number.isNaN ? nil : number
        case let number as NSDecimalNumber: number.decimalValue.isNaN ? nil : number.decimalValue
        case let number as NSNumber: Decimal(string: number.stringValue)
        default: Decimal(string: "\(value)")
        }
    }

    private func stack(_ type: NSPersistentStore.StoreType) throws -> (NSManagedObjectContext, URL) {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = Self.types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("extremes-\(UUID().uuidString)")
        _ = try coordinator.addPersistentStore(type: type, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, url)
    }

    private func remove(_ url: URL) {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) }
    }

    private func isEqual(_ found: Any?, _ wanted: NSNumber?) -> Bool {
        guard let found = found as? NSNumber, let wanted else { return found == nil && wanted == nil }
        if found is NSDecimalNumber || wanted is NSDecimalNumber { return found.decimalValue == wanted.decimalValue }
        return found == wanted
    }

    @Test(arguments: [NSPersistentStore.StoreType.inMemory, .sqlite, .xml, .binary])
    func setNumbersAreSavedOrRefused(_ storeType: NSPersistentStore.StoreType) throws {
        let (context, url) = try stack(storeType)
        defer { remove(url) }
        var refused = 0
        context.performAndWait {
            for (name, type) in Self.types {
                for (number, value) in Self.values.enumerated() where storeType == .inMemory || number % 5 == 0 {
                    let (wanted, kind) = (expected(value, type), Swift.type(of: value))
                    let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                    if number.isMultiple(of: 2) {
                        thing.setValue(value, forKey: name)
                    } else {
                        thing.setPrimitiveValue(value, forKey: name)
                    }
                    do {
                        try context.save()
                        context.refresh(thing, mergeChanges: false)
                        let found = thing.value(forKey: name)
                        #expect(
                            wanted != nil && isEqual(found, wanted), "\(name) = \(kind) \(value): \(found ?? "nil")")
                    } catch {
                        refused += 1
                        let known = error as NSError
                        #expect(wanted == nil, "\(name) = \(kind) \(value): \(known.localizedDescription)")
                        #expect([1550, 1610, 1620].contains(known.code))
                        #expect(known.userInfo[NSValidationKeyErrorKey] as? String == name)
                        var given: AnyObject? = value as AnyObject
                        #expect(throws: CocoaError.self) {
                            try withUnsafeMutablePointer(to: &given) {
                                try thing.validateValue(AutoreleasingUnsafeMutablePointer($0), forKey: name)
                            }
                        }
                    }
                    context.rollback()
                }
            }
        }
        #expect(refused > 100 || storeType != .inMemory)
    }

    @Test func accessorsTakeThemAll() throws {
        let (context, url) = try stack(.inMemory)
        defer { remove(url) }
        func set<Value: ManagedPropertyValue>(_ value: Value, _ name: String, _ thing: NSManagedObject) {
            switch name {
            case "int16": thing[managed: "int16"] = value
            case "int32": thing[managed: "int32"] = value
            case "int64": thing[managed: "int64"] = value
            case "boolean": thing[managed: "boolean"] = value
            case "double": thing[managed: "double"] = value
            case "float": thing[managed: "float"] = value
            default: thing[managed: "decimal"] = value
            }
        }
        context.performAndWait {
            for (name, type) in Self.types {
                for value in Self.values {
                    let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                    guard let given = value as? any ManagedPropertyValue else { continue }
                    set(given, name, thing)
                    _ = (thing[managed: "int16"] as Int16, thing[managed: "int64"] as Int?)
                    _ = (thing[managed: "decimal"] as Decimal, thing[managed: "boolean"] as Bool)
                    _ = (thing[managed: "float"] as Float, thing[managed: "double"] as Double)
                    let isSaved = (try? context.save()) != nil
                    #expect(isSaved == (expected(value, type) != nil), "\(name) = \(Swift.type(of: value)) \(value)")
                    if isSaved {
                        context.refresh(thing, mergeChanges: false)
                        #expect(isEqual(thing.value(forKey: name), expected(value, type)), "\(name) = \(value)")
                    }
                    context.rollback()
                }
            }
        }
    }

    @Test(arguments: [NSPersistentStore.StoreType.inMemory, .sqlite])
    func batchesTakeOrRefuseThem(_ storeType: NSPersistentStore.StoreType) throws {
        let (context, url) = try stack(storeType)
        defer { remove(url) }
        func read(_ name: String) throws -> [Any?] {
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            return try context.fetch(request).map { $0.value(forKey: name) }
        }
        try context.performAndWait {
            for (name, type) in Self.types {
                for (number, value) in Self.values.enumerated() where number % 3 == 0 {
                    // Batches do not validate: a 64-bit number can be stored in any integer attribute.
                    let isWhole = type == .integer16AttributeType || type == .integer32AttributeType
                    let wanted = expected(value, isWhole ? .integer64AttributeType : type)
                    var rows = 0
                    let ofObjects = NSBatchInsertRequest(entityName: "Thing") { (object: NSManagedObject) in
                        rows += 1
                        if rows == 1 { object.setValue(value, forKey: name) }
                        return rows > 1
                    }
                    let ofValues = NSBatchInsertRequest(entityName: "Thing", objects: [[name: value]])
                    let insertion = number.isMultiple(of: 2) ? ofValues : ofObjects
                    let update = NSBatchUpdateRequest(entityName: "Thing")
                    update.propertiesToUpdate = [name: value]
                    for request: NSPersistentStoreRequest in [insertion, update] {
                        let label: Comment = "\(Swift.type(of: request)) \(name) = \(Swift.type(of: value)) \(value)"
                        do {
                            try context.execute(request)
                            let found = try read(name).last ?? nil
                            #expect(wanted != nil && isEqual(found, wanted), label)
                        } catch { #expect(wanted == nil && (error as NSError).code == 134060, label) }
                    }
                    try context.execute(NSBatchDeleteRequest(fetchRequest: .init(entityName: "Thing")))
                }
            }
        }
    }

    /// Converting between kinds of numbers loses no digit.
    @Test func numbersOfOneKindReadAsAnother() throws {
        let (context, url) = try stack(.inMemory)
        defer { remove(url) }
        context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing[managed: "decimal"] = 5_848_503_429.0
            #expect(thing.value(forKey: "decimal") as? NSDecimalNumber == NSDecimalNumber(string: "5848503429"))
            thing.setValue(3.133, forKey: "decimal")
            #expect("\(thing.value(forKey: "decimal") ?? "")" == "3.133")
            let long = NSDecimalNumber(string: "-164142678120641330")
            for name in ["decimal", "double", "int64"] { thing.setValue(long, forKey: name) }
            #expect(thing.value(forKey: "double") as? Double == -164_142_678_120_641_344)
            #expect(thing[managed: "decimal"] as Double == -164_142_678_120_641_344)
            #expect(thing.value(forKey: "int64") as? Int64 == -164_142_678_120_641_330)
            #expect(thing[managed: "decimal"] as Int64 == -164_142_678_120_641_330)
            thing.setValue(NSDecimalNumber(string: "9223372036854775808"), forKey: "decimal")
            #expect(thing[managed: "decimal"] as Int64? == nil && thing[managed: "decimal"] as Int64 == 0)
        }
    }

    private static let formats = [
        "%K == %@", "%K < %@", "%K != %@", "%K IN {%@, 1}", "NOT %K BETWEEN {%@, 5}", "%K + %@ > 0",
    ]

    /// A constant number finds the same objects in memory and in the store.
    @Test func predicatesCompareWithThem() throws {
        let (context, url) = try stack(.sqlite)
        defer { remove(url) }
        try context.performAndWait {
            for number in [0, -1, 1, 32767] {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                for (name, _) in Self.types { thing.setValue(number, forKey: name) }
            }
            let most = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            most.setValue(Int64.max, forKey: "int64")
            most.setValue(Double.infinity, forKey: "double")
            most.setValue(NSDecimalNumber.maximum, forKey: "decimal")
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            let all = try context.fetch(request)
            for (name, _) in Self.types {
                for (number, value) in Self.values.enumerated() where number % 2 == 0 {
                    guard let object = value as? NSNumber else { continue }
                    for format in Self.formats {
                        let predicate = NSPredicate(format: format, argumentArray: [name, object])
                        request.predicate = predicate
                        let found = Set(try context.fetch(request))
                        let wanted = Set(all.filter { predicate.evaluate(with: $0) })
                        #expect(found == wanted, "\(predicate) (\(Swift.type(of: value)))")
                    }
                }
            }
        }
    }

    @Test func importsTakeOrRefuseThem() throws {
        let (context, url) = try stack(.inMemory)
        defer { remove(url) }
        try context.performAndWait {
            for (name, type) in Self.types where type != .booleanAttributeType {
                for value in Self.values {
                    let importer = RecordImporter(context: context)
                    for record in [ImportValue.number("\(value)"), .string("\(value)")] {
                        do {
                            try importer.importRecords([.object([("\(name)", record)])], into: "Thing")
                            try context.save()
                        } catch { context.rollback() }
                        context.reset()
                    }
                }
            }
            for thing in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) {
                #expect(Self.types.contains { thing.value(forKey: $0.name) != nil }, "no number became nil")
            }
        }
    }

    @Test func defaultsAndElementsAreValidatedToo() throws {
        let parts = NSCompositeAttributeDescription()
        parts.name = "parts"
        let element = NSAttributeDescription()
        (element.name, element.attributeType) = ("count", .integer32AttributeType)
        parts.elements = [element]
        let number = NSAttributeDescription()
        (number.name, number.attributeType, number.defaultValue) = ("number", .integer64AttributeType, 1e30)
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = [parts, number]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        _ = try coordinator.addPersistentStore(type: .inMemory, at: place)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            let large = #expect(throws: CocoaError.self) { try context.save() }
            #expect(large?.code == .validationNumberTooLarge)
            thing.setValue(1, forKey: "number")
            thing.setValue(["count": 1e30], forKey: "parts")
            let refused = #expect(throws: CocoaError.self) { try context.save() }
            #expect(refused?.localizedDescription.contains("count") == true)
            thing.setValue(["count": 3], forKey: "parts")
            try context.save()
        }
    }

    @Test func objectsOutsideContextsOutliveTheirModel() {
        func made() -> NSManagedObject {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = ("count", .integer32AttributeType)
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = ("Thing", [attribute])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return NSManagedObject(entity: entity, insertInto: nil)
        }
        let thing = made()
        #expect(thing.entity.name == "Thing")
        thing.setValue(3, forKey: "count")
        #expect(thing.value(forKey: "count") as? Int == 3)
        let id = thing.objectID
        #expect(id.entity === thing.entity && id.isTemporaryID)
        #expect(NSPredicate(format: "count == 3").evaluate(with: thing))
        #expect("\(thing) \(id)".contains("Thing"))
    }

    @Test func objectsWithoutAnEntityDoNotStopTheProgram() {
        let object = NSManagedObject()
        #expect(object.managedObjectContext == nil && object.entity.name == nil && !object.isInserted)
        let id = NSManagedObjectID()
        #expect(id.isTemporaryID && id.persistentStore == nil && id != NSManagedObjectID() && id == id)
        #expect(!"\(object) \(id)".isEmpty)
    }
}
