import CoreData
import Foundation
import StoreConformance
import Testing

#if canImport(CSVFolderStore)
    import CSVFolderStore
#endif

/// Processes that are killed while they save the folder.
@Suite(.serialized) struct KilledSaveTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let pathKey = "CSV_FOLDER_THAT_IS_KILLED"
    private static let rowCount = 300

    private static func authors(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
    }

    /// Runs in the other process: saves all rows repeatedly until it is killed.
    @Test(.enabled(if: environment[pathKey] != nil)) func savesUntilItIsKilled() throws {
        CSVFolderStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreConformance.library())
        try coordinator.addPersistentStore(
            type: CSVFolderStore.storeType, at: URL(fileURLWithPath: try #require(Self.environment[Self.pathKey])))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let authors = try Self.authors(context)
            let first = authors.first?.value(forKey: "born") as? Int ?? 0
            for turn in 1...100_000 {
                for author in authors { author.setValue(first + turn, forKey: "born") }
                try context.save()
            }
        }
    }

    /// Afterwards the folder has its state from before or after a save. `ROSTER_LONG_TESTS` runs it a hundred times.
    @Test func aKilledSaveLeavesAWholeFolder() throws {
        CSVFolderStore.register()
        let stack = try StoreConformance(CSVFolderStore.storeType) { $0.appendingPathComponent("Library") }
        try stack.inContext { context in
            for number in 0..<Self.rowCount {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                author.setValue("n \(number)", forKey: "name")
                author.setValue(0, forKey: "born")
            }
            try context.save()
        }
        let file = stack.url.appendingPathComponent("Author.csv")
        var (last, seen) = (0, 0)
        let turns = Self.environment["ROSTER_LONG_TESTS"] == nil ? 4 : 100
        for _ in 0..<turns {
            let before = try Data(contentsOf: file)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [
                "--testing-library", "swift-testing", "--filter", "KilledSaveTests.savesUntilItIsKilled",
            ]
            process.environment = Self.environment.merging([Self.pathKey: stack.url.path]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let deadline = Date(timeIntervalSinceNow: 20)
            // The file is missing for a moment during each save.
            while process.isRunning, Date() < deadline, (try? Data(contentsOf: file)) ?? before == before {
                usleep(2000)
            }
            usleep(UInt32.random(in: 0..<40_000))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            try stack.reopen()
            let born = try stack.inContext { try Self.authors($0).map { $0.value(forKey: "born") as? Int ?? -1 } }
            #expect(born.count == Self.rowCount && Set(born).count == 1)
            if let now = born.first, now > last { (last, seen) = (now, seen + 1) }
        }
        #expect(seen == turns)
    }
}
