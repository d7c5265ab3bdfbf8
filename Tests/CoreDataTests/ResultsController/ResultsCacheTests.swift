import Foundation
import Testing

@testable import CoreData

/// Lists on disk: used if valid, updated or fetched again if not, and never an error.
@Suite(.serialized) struct ResultsCacheTests {
    private let name = "list \(UUID().uuidString)/with: any name"

    init() {
        ResultsCacheDirectory.use(
            FileManager.default.temporaryDirectory.appendingPathComponent("lists-of-tests-\(getpid())").path)
    }

    private var path: String { ResultsCacheDirectory.file(named: name) }

    /// Fetches with a new controller and waits until its list is written.
    @discardableResult
    private func fetch(
        _ staff: Staff, section: String? = "team", sort: [String] = ["team", "name"], where predicate: String? = nil
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let controller = staff.controller(section: section, sort: sort, where: predicate, cache: name)
        try controller.performFetch()
        ResultsCache.waitForWriting()
        return controller
    }

    /// Reverses the order of the list on disk, so that a test detects if it was used.
    private func reverseListOnDisk() throws {
        let list = try #require(CachedList.read(at: path, accepts: { _ in true }))
        let rows = Array(list.rows.buffer.reversed())
        try CachedList.write(
            fingerprint: list.fingerprint, origin: list.origin, sections: list.sections.map { $0.reversed() },
            rowCount: rows.count, forEachRun: { rows.withUnsafeBufferPointer($0) }, to: path)
    }

    private func onStaff(keepsHistory: Bool = true, _ body: (Staff) throws -> Void) throws {
        try Staff.run(keepsHistory: keepsHistory) { staff in
            _ = try staff.savedThree()
            try fetch(staff)
            try reverseListOnDisk()
            try body(staff)
        }
        ResultsCacheDirectory.remove(named: name)
    }

    @Test func case74_sameListIsReadFromDisk() throws {
        try onStaff { staff in
            staff.context.reset()
            let controller = try fetch(staff)
            #expect(staff.context.registeredObjects.isEmpty)
            #expect(controller.text == "S: Sam | E: Bob Alice")
            #expect(controller.contradiction() == nil)
        }
    }

    /// A pipe or a device at its path is ignored and replaced; a folder is kept.
    @Test(arguments: ["pipe", "device", "folder"]) func cachesThatAreNotFilesAreIgnored(_ kind: String) throws {
        try onStaff { staff in
            try FileManager.default.removeItem(atPath: path)
            switch kind {
            case "pipe": try #require(mkfifo(path, 0o600) == 0)
            case "device": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
            default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            staff.context.reset()
            for _ in 0..<2 { try #expect(fetch(staff).text == "E: Alice Bob | S: Sam") }
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test func flatListIsReadFromDisk() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            try fetch(staff, section: nil)
            try reverseListOnDisk()
            try #expect(fetch(staff, section: nil).text == "Sam Bob Alice")
        }
    }

    @Test func emptyListIsReadFromDisk() throws {
        try Staff.run { staff in
            try fetch(staff)
            try #expect(fetch(staff).text == "")
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func case75And76_otherRequestIsFetched() throws {
        try onStaff { staff in
            let text = try fetch(staff, sort: ["-team", "name"]).text
            #expect(text == "S: Sam | E: Alice Bob")
        }
        try onStaff { staff in
            let text = try fetch(staff, section: nil).text
            #expect(text == "Alice Bob Sam")
        }
        try onStaff { staff in
            let text = try fetch(staff, where: "salary < 3").text
            #expect(text == "E: Bob | S: Sam")
        }
        try onStaff { staff in
            let text = try fetch(staff, section: "name", sort: ["name"]).text
            #expect(text == "Alice: Alice | Bob: Bob | Sam: Sam")
        }
    }

    @Test func listsOfPinnedContextsAreNotCached() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            try staff.context.setQueryGenerationFrom(.current)
            #expect(try fetch(staff).text == "E: Alice Bob | S: Sam")
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = staff.coordinator
            try other.performAndWait {
                let zoe = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: other)
                zoe.setValue("Zoe", forKey: "name")
                zoe.setValue("E", forKey: "team")
                try other.save()
            }
            #expect(try fetch(staff).text == "E: Alice Bob | S: Sam")
            try staff.context.setQueryGenerationFrom(nil)
            #expect(try fetch(staff).text == "E: Alice Bob Zoe | S: Sam")
        }
        ResultsCacheDirectory.remove(named: name)
    }

    @Test func case77_deletedCachesAreGone() throws {
        try onStaff { staff in
            NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "another")
            #expect(FileManager.default.fileExists(atPath: path))
            NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
            #expect(!FileManager.default.fileExists(atPath: path))
            try #expect(fetch(staff).text == "E: Alice Bob | S: Sam")
            NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func case78_storeChangedByAnotherProcess() throws {
        try onStaff(keepsHistory: false) { staff in
            let other = try Staff(in: staff.folder, keepsHistory: false)
            try other.context.performAndWait {
                other.employee("Zoe", "A")
                try other.context.save()
            }
            try #expect(fetch(staff).text == "A: Zoe | E: Alice Bob | S: Sam")
        }
    }

    @Test func changesSinceAreTakenFromTheHistory() throws {
        try Staff.run { staff in
            let (alice, bob, _) = try staff.savedThree()
            for number in 0..<20 { staff.employee("N\(number)", "E") }
            try staff.context.save()
            try fetch(staff)
            let other = try Staff(in: staff.folder)
            try other.context.performAndWait {
                other.employee("Zoe", "A")
                try other.find("Alice").setValue("S", forKey: "team")
                other.context.delete(try other.find("Bob"))
                try other.context.save()
                try other.find("Sam").setValue("Tom", forKey: "name")
                try other.context.save()
            }
            // The objects of this context are older than the store.
            #expect(alice.value(forKey: "team") as? String == "E" && !bob.isDeleted)
            let repaired = try fetch(staff)
            let stored = try #require(CachedList.read(at: path, accepts: { _ in true }))
            let present = try staff.coordinator.withLock { try ListOrigin(of: staff.store) }
            #expect(stored.origin == present)
            staff.context.reset()
            let fresh = staff.controller()
            try fresh.performFetch()
            try repaired.performFetch()
            #expect(repaired.text == fresh.text)
            #expect(stored.sections?.map(\.name) == ["A", "E", "S"] && stored.sections?.map(\.rows) == [1, 20, 2])
            #expect(
                fresh.fetchedObjects?.map { Int64($0.objectID.rowKey?.reference ?? 0) }
                    == stored.rows.buffer.map { Int64($0.code & 0xFFFF_FFFF_FFFF) })
        }
    }

    @Test func unsavedChangesAreShownAndNotKept() throws {
        try onStaff { staff in
            staff.employee("Zoe", "A")
            try #expect(fetch(staff).text == "A: Zoe | S: Sam | E: Bob Alice")
            let stored = try #require(CachedList.read(at: path, accepts: { _ in true }))
            #expect(stored.rows.count == 3)
        }
    }

    // MARK: The first refetch of a controller

    /// Fetches with a new controller in the background and waits until its list is written.
    private func refetch(_ staff: Staff) async throws -> NSFetchedResultsController<NSManagedObject> {
        let controller = staff.controller(cache: name)
        try await controller.refetch()
        ResultsCache.waitForWriting()
        return controller
    }

    @Test func aFirstRefetchReadsTheListOnDisk() async throws {
        let staff = try Staff()
        try staff.context.performAndWait {
            _ = try staff.savedThree()
            try fetch(staff)
        }
        try reverseListOnDisk()
        let onDisk = try Data(contentsOf: URL(fileURLWithPath: path))
        staff.context.performAndWait { _ = staff.employee("Zoe", "A") }
        let controller = try await refetch(staff)
        staff.context.performAndWait { #expect(controller.text == "A: Zoe | S: Sam | E: Bob Alice") }
        // The file is unchanged, because unsaved changes are not part of it.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == onDisk)
        // The difference between the current and the new contents is found by reading both.
        try await controller.refetch()
        staff.context.performAndWait { #expect(controller.text == "A: Zoe | E: Alice Bob | S: Sam") }
    }

    @Test func aFirstRefetchKeepsItsList() async throws {
        let staff = try Staff()
        try staff.context.performAndWait {
            _ = try staff.savedThree()
            staff.employee("Zoe", "A")
        }
        let controller = try await refetch(staff)
        staff.context.performAndWait { #expect(controller.text == "A: Zoe | E: Alice Bob | S: Sam") }
        #expect(CachedList.read(at: path, accepts: { _ in true })?.rows.count == 3)
        try reverseListOnDisk()
        staff.context.performAndWait { staff.context.rollback() }
        let next = try await refetch(staff)
        staff.context.performAndWait { #expect(next.text == "S: Sam | E: Bob Alice") }
    }

    /// Changes of many transactions would be read under the coordinator's lock, which could delay the user interface.
    @Test(arguments: [3, 101])
    func aFirstRefetchLooksAtFewTransactions(count: Int) async throws {
        let staff = try Staff()
        try staff.context.performAndWait {
            _ = try staff.savedThree()
            for number in 0..<20 { staff.employee("N\(number)", "N") }
            try staff.context.save()
            try fetch(staff)
        }
        let other = try Staff(in: staff.folder)
        try other.context.performAndWait {
            for number in 0..<count {
                other.employee("O\(number)", "O")
                try other.context.save()
            }
            try other.find("Alice").setValue("S", forKey: "team")
            other.context.delete(try other.find("Bob"))
            try other.context.save()
        }
        let controller = try await refetch(staff)
        let stored = try #require(CachedList.read(at: path, accepts: { _ in true }))
        #expect(try stored.origin == staff.coordinator.withLock { try ListOrigin(of: staff.store) })
        #expect(stored.sections?.map(\.rows) == [20, UInt32(count), 2])
        try staff.context.performAndWait {
            staff.context.reset()
            let fresh = staff.controller()
            try fresh.performFetch()
            try controller.performFetch()
            #expect(controller.text == fresh.text)
        }
    }

    @Test func listOnDiskFollowsSaves() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            do {
                let controller = try fetch(staff)
                let recorder = Recorder()
                controller.delegate = recorder
                recorder.load(controller)
                alice.setValue("S", forKey: "team")
                staff.employee("Zoe", "A")
                try staff.context.save()
                staff.employee("Unsaved", "B")
                staff.context.processPendingChanges()
                controller.tracker.flushCache()
                #expect(controller.text == "A: Zoe | B: Unsaved | E: Bob | S: Alice Sam")
            }
            try reverseListOnDisk()
            staff.context.reset()
            try #expect(fetch(staff).text == "S: Sam Alice | E: Bob | A: Zoe")
        }
    }

    @Test func damagedAndForeignFilesAreReplaced() throws {
        try onStaff { staff in
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(whole.count == 4_096 + 3 * 8)
            var damaged: [Data] = [Data(), Data("not a list".utf8), whole.dropLast(1), whole + [0], whole.prefix(64)]
            for offset in [0, 9, 17, 25, 33, 41, 49, 57, 70, 200, 4_096, 4_119] {
                var bytes = whole
                bytes[offset] ^= 0x10
                damaged.append(bytes)
            }
            for (number, bytes) in damaged.enumerated() {
                try bytes.write(to: URL(fileURLWithPath: path))
                try #expect(fetch(staff).text == "E: Alice Bob | S: Sam", "number \(number)")
                // The file was written again.
                #expect(CachedList.read(at: path, accepts: { _ in true })?.rows.count == 3, "number \(number)")
            }
        }
    }

    /// Files with valid checksums and wrong sizes.
    @Test(arguments: [(24, Int64.max & ~4_095), (16, Int64.max / 8), (56, Int64.max), (8, Int64.max), (56, 500)])
    func forgedFilesAreReplaced(offset: Int, number: Int64) throws {
        try onStaff { staff in
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let length = Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: Int64.self) })
            bytes.withUnsafeMutableBytes { memory in
                memory.storeBytes(of: number, toByteOffset: offset, as: Int64.self)
                memory.storeBytes(of: 0, toByteOffset: 48, as: UInt64.self)
                var checksum = ListChecksum()
                checksum.update(UnsafeRawBufferPointer(rebasing: memory[..<length]))
                memory.storeBytes(of: checksum.value, toByteOffset: 48, as: UInt64.self)
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            try #expect(fetch(staff).text == "E: Alice Bob | S: Sam")
        }
    }

    @Test func unwritableDirectoryIsNotAnError() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            ResultsCacheDirectory.use("/proc/nowhere")
            try #expect(fetch(staff).text == "E: Alice Bob | S: Sam")
        }
    }

    @Test func largeListKeepsAllItsRows() throws {
        let rows = (0..<100_000).map { RowToken(code: UInt64($0) * 7) }
        try ResultsCacheDirectory.create()
        let sections = (0..<100).map { (name: "Section \($0) é", rows: UInt32(1_000)) }
        let list = ListContents(rows: SharedElements(rows), sections: [], isSectioned: false)
        try CachedList.write(
            fingerprint: "f", origin: ListOrigin(token: "t", historyNumber: 5), sections: sections,
            rowCount: rows.count,
            forEachRun: { body in list.rows.forEachLeaf { body($1) } }, to: path)
        let read = try #require(CachedList.read(at: path, accepts: { $0 == "f" }))
        #expect(read.rows.buffer.elementsEqual(rows))
        #expect(read.sections?.map(\.name) == sections.map(\.name))
        #expect(read.origin == ListOrigin(token: "t", historyNumber: 5))
        #expect(CachedList.read(at: path, accepts: { $0 == "g" }) == nil)
    }
}
