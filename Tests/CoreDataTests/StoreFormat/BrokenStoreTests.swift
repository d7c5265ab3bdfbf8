import Foundation
import SQLiteAccess
import Testing

@testable import CoreData
import Glibc

/// Files that are not stores, and damaged stores: a clear error with the file, never a crash and never a hang.
@Suite struct BrokenStoreTests {
    let harness: StoreHarness

    init() throws { harness = try StoreHarness(StoreModels.league()) }

    /// Creates a store with a few rows, all in its main file.
    private func makeStore() throws {
        let open = try harness.open()
        for number in 0..<5 {
            let venue = try open.insert("Venue", ["name": .text("Venue \(number)")])
            try open.insert("Team", ["name": .text("Team \(number)"), "home": .reference(venue)])
        }
        try open.close()
        try execute("PRAGMA journal_mode = DELETE")
    }

    private func execute(_ sql: String) throws {
        let connection = try Connection(path: harness.url.path, access: .readWrite)
        try connection.execute(sql)
        connection.close()
    }

    /// Reads the file at `url` in every way.
    private func read(_ url: URL) throws {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        let cached = Result { try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
        let inferred = Result { try NSPersistentStoreCoordinator.inferredModelForPersistentStore(at: url) }
        try readRows(url, cached.get())
        try readRows(url, inferred.get())
    }

    private func readRows(_ url: URL, _ model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in model.entities where !entity.isAbstract {
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) {
                    for name in entity.propertiesByName.keys { follow(object.value(forKey: name)) }
                }
                try search(entity, context)
            }
        }
    }

    /// Reads the destinations of a relationship, one level deep.
    private func follow(_ value: Any?) {
        let objects = value as? [NSManagedObject] ?? (value as? NSSet)?.allObjects as? [NSManagedObject]
        for object in objects ?? [value as? NSManagedObject].compactMap({ $0 }) {
            for name in object.entity.attributesByName.keys { _ = object.value(forKey: name) }
        }
    }

    /// Fetches with sorts and predicates that the store evaluates.
    private func search(_ entity: NSEntityDescription, _ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        if let name = entity.attributesByName.values.first(where: { $0.attributeType == .stringAttributeType })?.name {
            request.predicate = NSPredicate(format: "%K CONTAINS[cd] 'e' OR %K == nil", name, name)
            request.sortDescriptors = [NSSortDescriptor(key: name, ascending: false)]
            request.fetchBatchSize = 2
        }
        for object in try context.fetch(request) { _ = object.isFault }
        request.sortDescriptors = nil
        _ = try context.count(for: request)
    }

    /// Changes, inserts and deletes as far as possible.
    private func write(_ url: URL) throws {
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in model.entities where !entity.isAbstract {
                let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
                let name = entity.attributesByName.values.first { $0.attributeType == .stringAttributeType }?.name
                if let name { objects.first?.setValue("changed", forKey: name) }
                if let last = objects.last, objects.count > 1 { context.delete(last) }
                let new = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                if let name { new.setValue("new \(UUID().uuidString)", forKey: name) }
            }
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            _ = try context.execute(request)
        }
    }

    private func expectError(_ code: Int, _ text: String, at url: URL, _ place: SourceLocation = #_sourceLocation) {
        do {
            try read(url)
            Issue.record("\(url.path) was read", sourceLocation: place)
        } catch {
            let error = error as NSError
            #expect(error.domain == NSCocoaErrorDomain && error.code == code, "\(error)", sourceLocation: place)
            #expect(error.localizedDescription.contains(text), "\(error)", sourceLocation: place)
            #expect(error.localizedDescription.contains(url.path), sourceLocation: place)
        }
    }

    @Test func anEncryptedStore() throws {
        var generator = SeededNumbers(seed: 7)
        let bytes = (0..<40_960).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try Data(bytes).write(to: harness.url)
        expectError(259, "not an SQLite database", at: harness.url)
    }

    @Test func pathsThatAreNotPlainFiles() throws {
        expectError(259, "not a regular file", at: URL(fileURLWithPath: "/dev/zero"))
        expectError(259, "not a regular file", at: URL(fileURLWithPath: "/dev/full"))
        #expect(mkfifo(harness.url.path, 0o600) == 0)
        expectError(259, "not a regular file", at: harness.url)
        expectError(134080, "folder", at: harness.folder)
        for path in ["/dev/zero", harness.url.path] {
            let error = #expect(throws: CocoaError.self) {
                try NSManagedObjectModel(validContentsOf: URL(fileURLWithPath: path))
            }
            #expect(error?.code == .fileReadCorruptFile && error?.localizedDescription.contains(path) == true)
        }
    }

    @Test func anEmptyFileCannotBeReadAsAStore() throws {
        try Data().write(to: harness.url)
        expectError(259, "the file is empty", at: harness.url)
    }

    @Test func aStoreWithoutMetadata() throws {
        try makeStore()
        try execute("DROP TABLE Z_METADATA")
        expectError(259, "no table Z_METADATA", at: harness.url)
    }

    @Test func invalidMetadata() throws {
        try makeStore()
        try execute("UPDATE Z_METADATA SET Z_PLIST = x'0102'")
        expectError(259, "metadata cannot be read", at: harness.url)
        try execute("DELETE FROM Z_METADATA")
        expectError(259, "empty", at: harness.url)
    }

    /// Flips one bit of the stored model: it can be read, or an error names the store.
    @Test func aBitOfTheKeptModel() throws {
        try makeStore()
        let connection = try Connection(path: harness.url.path, access: .readWrite)
        guard case .blob(let model)? = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE") else {
            Issue.record("no model is kept")
            return
        }
        var failures = 0
        for place in stride(from: 0, to: model.count, by: max(1, model.count / 60)) {
            var damaged = model
            damaged[damaged.startIndex + place] ^= 0x10
            try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.blob(damaged)])
            do {
                _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: harness.url)
            } catch let error as CocoaError {
                failures += 1
                #expect(error.code == .fileReadCorruptFile, "\(error)")
                #expect(
                    error.localizedDescription.contains(
                        "\(harness.url.path): cannot read the model in the store"))
            }
        }
        connection.close()
        #expect(failures > 20)
    }

    // MARK: Mutations

    /// 80 damaged stores; `ROSTER_LONG_TESTS=n` runs 200·n.
    @Test func damagedStoresAreReadOrRefused() throws {
        try makeStore()
        let whole = [UInt8](try Data(contentsOf: harness.url))
        let count = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { 200 * $0 } ?? 80
        var generator = SeededNumbers(seed: 20_261_122)
        var refused = 0
        let url = harness.folder.appendingPathComponent("Damaged.sqlite")
        for number in 0..<count {
            let before = generator.state
            try Data(Self.damaged(whole, &generator)).write(to: url)
            do {
                try read(url)
                try write(url)
            } catch {
                refused += 1
                let error = error as NSError
                #expect(error.domain == NSCocoaErrorDomain, "mutation \(number), state \(before): \(error)")
            }
            for suffix in ["-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
        }
        print("damaged stores: \(count), refused \(refused), read \(count - refused)")
        #expect(refused > count / 10, "hardly any mutation was noticed: the test attacks nothing")
    }

    private static func damaged(_ whole: [UInt8], _ generator: inout SeededNumbers) -> [UInt8] {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            // The first pages contain the schema, so half of the damage is there.
            let range = Bool.random(using: &generator) ? 0..<min(8192, bytes.count) : 0..<bytes.count
            guard let place = range.randomElement(using: &generator) else { break }
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] ^= UInt8(1) << UInt8.random(in: 0...7, using: &generator)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &generator))
            case 3:
                let end = min(bytes.count, place + Int.random(in: 1...64, using: &generator))
                for index in place..<end { bytes[index] = 0 }
            default:
                if Int.random(in: 0..<8, using: &generator) == 0 { bytes.removeSubrange(place...) }
            }
            if bytes.isEmpty { break }
        }
        return bytes
    }
}

/// SplitMix64, with the same numbers for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    private(set) var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
