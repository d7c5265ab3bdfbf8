import CSimulatedFiles
import CoreData
import Foundation
import Testing

/// Saves on a disk that loses, tears and reorders what was not synced when the power fails, and that fails at any single call. Each
/// test runs in a process of its own, whose databases all go through the simulated files.
///
/// `ROSTER_LONG_TESTS=n` makes the walks n times as long; each prints what it counted.
@Suite struct SimulatedDiskTests {
    @Test func nothingCommittedIsLostWithAFullySyncedLog() async {
        await #expect(processExitsWith: .success) { try SimulatedDisk("wal", "FULL").crashAtRandom() }
    }

    @Test func onlyTheLastSavesAreLostWithAnOrdinaryLog() async {
        await #expect(processExitsWith: .success) { try SimulatedDisk("wal", "NORMAL").crashAtRandom() }
    }

    @Test func nothingCommittedIsLostWithARollbackJournal() async {
        await #expect(processExitsWith: .success) { try SimulatedDisk("delete", "FULL").crashAtRandom() }
    }

    @Test func anyCallMayFailWithALog() async {
        await #expect(processExitsWith: .success) { try SimulatedDisk("wal", "NORMAL").failAtEachCall() }
    }

    @Test func anyCallMayFailWithARollbackJournal() async {
        await #expect(processExitsWith: .success) { try SimulatedDisk("delete", "FULL").failAtEachCall() }
    }
}

/// A store on the simulated disk. Every transaction sets `number` of five items to its own number, and adds an item.
private final class SimulatedDisk {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let world: NeverHarmTests.World
    private let options: [AnyHashable: Any]
    private let isSynced: Bool
    private let name: String
    private let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) } ?? 1
    /// The transactions whose save returned.
    private var committed = 0
    private var images: [(folder: URL, committed: Int)] = []
    private var generator = SeededNumbers(seed: 1999)

    init(_ journal: String, _ synchronous: String) throws {
        world = try NeverHarmTests.World()
        options = [
            NSSQLitePragmasOption: [
                "journal_mode": journal, "synchronous": synchronous, "wal_autocheckpoint": "12",
            ], NSPersistentHistoryTrackingKey: true,
        ]
        isSynced = synchronous == "FULL"
        name = "\(journal), synchronous=\(synchronous)"
        try FileManager.default.createDirectory(at: world.url("disk"), withIntermediateDirectories: true)
        guard simulated_files_begin(world.url("disk").path) == 0 else {
            throw Failure(description: "no simulated files")
        }
    }

    private var url: URL { world.url("disk/Store.sqlite") }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw Failure(description: "\(name): \(text())") }
    }

    private func open(_ url: URL) throws -> NSManagedObjectContext {
        try world.coordinator(url, options: options).context()
    }

    private func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        try coordinator.remove(coordinator.persistentStores[0])
    }

    /// Changes the items for the next transaction, without a save.
    private func edit(_ context: NSManagedObjectContext, _ number: Int) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "name BEGINSWITH 'fixed'")
        var items = try context.fetch(request)
        if items.isEmpty {
            items = (0..<5).map { index in
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue("fixed \(index)", forKey: "name")
                return item
            }
        }
        for item in items { item.setValue(number, forKey: "number") }
        let added = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        added.setValue("added \(number) " + String(repeating: "x", count: number * 37 % 700), forKey: "name")
    }

    private func transact(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            try edit(context, committed + 1)
            try context.save()
        }
        committed += 1
    }

    /// The transaction that a store is at: all of it, and nothing else.
    private func state(of context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait {
            let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            let fixed = items.filter { ($0.value(forKey: "name") as? String)?.hasPrefix("fixed") ?? false }
            let numbers = Set(fixed.compactMap { $0.value(forKey: "number") as? Int })
            guard let number = numbers.first else {
                try require(items.isEmpty, "items without numbers")
                return 0
            }
            try require(numbers.count == 1 && fixed.count == 5, "a part of a transaction: \(numbers)")
            try require(items.count == 5 + number, "\(items.count) items after transaction \(number)")
            return number
        }
    }

    // MARK: Power failures

    func crashAtRandom() throws {
        let context = try open(url)
        try transact(context)
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        simulated_files_on_operation(
            { pointer in
                guard let pointer else { return }
                Unmanaged<SimulatedDisk>.fromOpaque(pointer).takeUnretainedValue().mayCrash()
            }, pointer)
        var checked = 0
        for _ in 0..<120 * factor {
            try transact(context)
            checked += try checkImages()
        }
        simulated_files_on_operation(nil, nil)
        try close(context)
        try require(checked > 40 * factor, "only \(checked) crashes")
        print("\(name): \(checked) simulated crashes over \(committed) transactions, nothing lost")
    }

    private func mayCrash() {
        guard Int.random(in: 0..<6, using: &generator) == 0 else { return }
        let folder = world.url("image-\(images.count)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard simulated_files_crash(folder.path, generator.next()) == 0 else { return }
        images.append((folder, committed))
    }

    private func checkImages() throws -> Int {
        defer { images = [] }
        for (folder, committed) in images {
            let context: NSManagedObjectContext
            do { context = try open(folder.appendingPathComponent("Store.sqlite")) } catch {
                throw Failure(description: "\(name): after a crash: \((error as NSError).localizedDescription)")
            }
            let found = try state(of: context)
            try close(context)
            // The one that was at work may have come to the disk or not.
            let range = (isSynced ? committed : 0)...committed + 1
            try require(range.contains(found), "transaction \(found) after a crash, \(committed) were committed")
            try FileManager.default.removeItem(at: folder)
        }
        return images.count
    }

    // MARK: Calls that fail

    private static let kinds: [(name: String, kind: Int32, error: Int32)] = [
        ("read", Int32(SIMULATED_READ), 10 | 1 << 8), ("write", Int32(SIMULATED_WRITE), 10 | 3 << 8),
        ("full", Int32(SIMULATED_WRITE), 13), ("truncate", Int32(SIMULATED_TRUNCATE), 10 | 6 << 8),
        ("sync", Int32(SIMULATED_SYNC), 10 | 4 << 8), ("lock", Int32(SIMULATED_LOCK), 10 | 15 << 8),
        ("open", Int32(SIMULATED_OPEN), 14), ("delete", Int32(SIMULATED_DELETE), 10 | 10 << 8),
        ("size", Int32(SIMULATED_SIZE), 10 | 7 << 8), ("map", Int32(SIMULATED_SHARED_MAP), 10 | 21 << 8),
        ("shared lock", Int32(SIMULATED_SHARED_LOCK), 10 | 20 << 8),
    ]

    func failAtEachCall() throws {
        var failed = 0
        for (name, kind, error) in Self.kinds {
            for after in 0..<60 * factor {
                guard try fail(name, kind, after, error) else { break }
                failed += 1
            }
        }
        try require(failed > 50, "only \(failed) calls failed")
        print("\(name): \(failed) failed calls, nothing lost")
    }

    /// Opens, saves twice and closes, and lets one call on the way fail.
    ///
    /// - Returns: whether there was such a call.
    private func fail(_ name: String, _ kind: Int32, _ after: Int, _ error: Int32) throws -> Bool {
        simulated_files_fail(kind, after, error)
        var attempts = 0
        do {
            let context = try open(url)
            for _ in 0..<2 {
                attempts = committed + 1
                try transact(context)
            }
            try close(context)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            try require(simulated_files_failed() != 0, "\(name) \(after): an error without a failed call: \(error)")
        }
        let didFail = simulated_files_failed() != 0
        simulated_files_fail(-1, -1, 0)
        let context = try open(url)
        let found = try state(of: context)
        try close(context)
        // A commit whose error came out may have come to the disk all the same.
        try require(
            found == committed || found == committed + 1 && found == attempts,
            "\(name) \(after): transaction \(found) after \(committed)")
        committed = found
        return didFail
    }
}
