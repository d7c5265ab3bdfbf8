import CoreData
import ChildProgram
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Processes killed while they save an atomic store.
@Suite(.needs(.process), .serialized) struct AtomicSaveKillTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let pathKey = "ROSTER_KILLED_STORE", typeKey = "ROSTER_KILLED_STORE_TYPE"
    private static let rowCount = 300

    /// Runs in the other process: saves all rows repeatedly until it is killed.
    @Test(.enabled(if: environment[pathKey] != nil)) func savesUntilItIsKilled() throws {
        let path = try #require(Self.environment[Self.pathKey])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreConformance.library())
        try coordinator.addPersistentStore(
            ofType: try #require(Self.environment[Self.typeKey]), configurationName: nil,
            at: URL(fileURLWithPath: path))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let authors = try context.all("Author")
            let first = authors.first?.value(forKey: "born") as? Int ?? 0
            for turn in 1...100_000 {
                for author in authors { author.setValue(first + turn, forKey: "born") }
                try context.save()
            }
        }
    }

    /// Afterwards, the file is complete: its state is that before or after a save.
    @Test(arguments: [NSPersistentStore.StoreType.binary, .xml])
    func aKilledSaveLeavesAWholeFile(_ type: NSPersistentStore.StoreType) throws {
        let stack = try StoreConformance(type)
        try stack.inContext { context in
            for _ in 0..<Self.rowCount { context.make("Author", named: "n").setValue(0, forKey: "born") }
            try context.save()
        }
        let turns = Self.environment["ROSTER_LONG_TESTS"] == nil ? 4 : 100
        var (last, seen) = (0, 0)
        let seed = Self.environment["RANDOM_SEED"].flatMap { UInt64($0) } ?? 24
        var random = SeededGenerator(seed: seed)
        for _ in 0..<turns {
            let before = try Data(contentsOf: stack.url)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [
                "--testing-library", "swift-testing", "--filter", "AtomicSaveKillTests.savesUntilItIsKilled",
            ]
            process.environment = Self.environment.merging(
                [Self.pathKey: stack.url.path, Self.typeKey: type.rawValue]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try ChildProgram.startAlone { try process.run() }
            try eventually("the program saves", within: 120) {
                try !process.isRunning || Data(contentsOf: stack.url) != before
            }
            usleep(UInt32.random(in: 0..<40_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try stack.reopen()
            let born = try stack.inContext { context in
                try context.all("Author").map { $0.value(forKey: "born") as? Int ?? -1 }
            }
            #expect(born.count == Self.rowCount && Set(born).count == 1)
            if let now = born.first, now > last { (last, seen) = (now, seen + 1) }
        }
        if turns > 4 { print("kills in saves of a \(type.rawValue) store, seed \(seed): \(turns)") }
        #expect(seen == turns)
    }
}
