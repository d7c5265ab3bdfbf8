import Foundation
import SQLiteAccess
import Glibc

// Replaces a store by another one, so that at every moment one of them is complete at the path:
//
// 1. The source, with its log, is copied to a single file next to the destination.
// 2. Its external data is copied to the destination's folder, which now has the files of both stores.
// 3. The destination's log is moved into its main file, which requires that no other process has it open. Then the copy
//    is renamed over it, and no log remains that could be taken for the new file's. If only this process has it open,
//    the log is removed instead: its connections keep their open files.
// 4. External data that only rows of the old store referred to is removed.

/// Replaces one SQLite store by a copy of another.
struct StoreReplacement {
    let source: StoreFile
    let destination: StoreFile
    /// True to replace the destination even if a process has it open.
    let isForced: Bool

    /// Copies the source to the destination. The copy has the permissions of the store that it replaces, otherwise
    /// those of its source.
    ///
    /// - Throws: 260 if the source does not exist, 259 if it is not a store, 134090 if another process has the
    ///   destination open, 516 if the destination has external values but no store. The destination is then unchanged.
    func run() throws {
        guard source.exists else {
            throw CoreDataError.make(
                260, "Cannot copy the store \(source.path): the file does not exist.",
                userInfo: [NSFilePathErrorKey: source.path])
        }
        try checkDestination()
        guard !isSameFile else {
            throw CoreDataError.make(134080, "Cannot replace the store \(source.path) with itself.")
        }
        try SideFiles(path: destination.path).check()
        let folder = SupportFolder(ofStoreAt: destination.path)
        // This comes first, because files of a killed replacement would be in the way.
        let making = StoreInMaking(for: destination.path, .replacement) { Self.discard($0, for: destination.path) }
        defer { making.end() }
        try folder.checkThatNothingIsLeft()
        let copy = making.path
        defer {
            StoreFiles.remove(at: copy)
        }
        let (kept, referred) = try makeCopyKeepingValues(at: copy)
        defer { withExtendedLifetime(kept) {} }
        let values = ExternalDataCopy(ofStoreAt: source.path, toStoreAt: destination.path)
        do {
            try values.run(only: referred, replaces: destination.exists && !folder.isShared)
            let left = valuesOfOldStoreAlone(copy)
            let note = noteOf(left)
            defer { note?.remove() }
            try takePlace(copy)
            folder.removeFiles(left)
        } catch {
            // If the copy no longer exists, it was already renamed: the replacement is done and its values stay.
            if PlainFile.kind(copy) == .plain { values.takeBack() }
            throw error
        }
    }

    /// Removes the copy of a killed replacement, and the files of its values at the destination.
    static func discard(_ copy: String, for destination: String) {
        let folder = SupportFolder(ofStoreAt: destination)
        if !folder.isShared, let names = try? folder.namesOfCopy(copy) { folder.removeFiles(names, withParts: true) }
        StoreFiles.remove(at: copy)
    }

    /// Writes a note with which the next opening removes the files, if this process is killed first.
    private func noteOf(_ names: Set<String>) -> ExternalDataNote? {
        guard !names.isEmpty, let note = try? ExternalDataNote(in: ExternalData(storePath: destination.path)) else {
            return nil
        }
        for name in names { try? note.add(name) }
        return note
    }

    /// Refuses anything but a plain file. Unless forced, it must be a store, which may be damaged, or empty.
    private func checkDestination() throws {
        guard !destination.isInMemory else {
            throw CoreDataError.make(
                134080, "Cannot replace an in-memory store. Add one, then migrate the other store to it.")
        }
        guard try PlainFile.check(destination.name, for: "replace"), !isForced else { return }
        guard let connection = try openedDestination() else { return }
        defer { connection.close() }
        do {
            if try connection.integer("SELECT COUNT(*) FROM sqlite_master") == 0 { return }
            _ = try StoreMetadata.read(from: connection)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == 259 {
            throw isNoStore(error)
        } catch let error as SQLiteError where error.kind == .corrupt {
            return
        }
    }

    /// Opens the destination; `nil` for a database that is damaged or has another store's log.
    private func openedDestination() throws -> Connection? {
        do {
            return try destination.open()
        } catch let error as NSError where error.code == 259 {
            guard SQLiteStoreErrors.kind(of: error) == .notADatabase else { return nil }
            throw isNoStore(error)
        }
    }

    private func isNoStore(_ error: NSError) -> NSError {
        CoreDataError.make(
            259,
            "Cannot replace \(destination.path): it is not a store. NSPersistentStoreForceDestroyOption replaces it "
                + "anyway.", underlying: error, userInfo: [NSFilePathErrorKey: destination.path])
    }

    private var isSameFile: Bool { FileWriting.areSame(source.path, destination.path) }

    // MARK: Steps

    /// Copies the rows in one read transaction.
    ///
    /// - Returns: a lock that keeps the files of values until they are copied, `nil` if there are none; their names.
    private func makeCopyKeepingValues(at path: String) throws -> (FolderLock?, Set<String>) {
        let folder = ExternalData(storePath: source.path).values
        var kept = folder.keepFiles()
        try makeCopy(at: path)
        // The store's first value may have been saved, and deleted again, during the copy.
        if kept == nil, folder.isThere {
            kept = folder.keepFiles()
            StoreFiles.remove(at: path)
            try makeCopy(at: path)
        }
        guard kept != nil else { return (nil, []) }
        let copy = try Connection(path: path, access: .readOnly)
        defer { copy.close() }
        return (kept, Set(try SupportFolder(ofStoreAt: source.path).names(referredToIn: copy)))
    }

    private func makeCopy(at path: String) throws {
        let reader = try source.open()
        defer { reader.close() }
        try source.errors.translating(.reading) { _ = try StoreMetadata.read(from: reader) }
        try destination.errors.translating(.creating) {
            try StoreFiles.makeEmpty(
                at: path, PlainFile.permissions(destination.path) ?? PlainFile.permissions(source.path))
            let writer = try Connection(path: path, access: .readWrite)
            defer { writer.close() }
            try reader.copy(to: writer)
            try writer.setPragma("journal_mode", to: "delete")
        }
    }

    private func takePlace(_ copy: String) throws {
        guard destination.exists else {
            // Files left by a store that is gone would be taken for the new store's.
            StoreFiles.remove(at: destination.path)
            _ = DurableFile.syncCommits(toStoreAt: destination.path)
            return try rename(copy)
        }
        // Other coordinators of this process keep the file that they have open.
        if LogOwnership(path: destination.path).isOpenHereAlone {
            moveLogIntoFile()
            return try takePlaceOfOpenFile(copy)
        }
        do {
            try whileNobodyHasItOpen { try rename(copy) }
        } catch let error as NSError where isForced || error.code == 259 {
            return try takePlaceOfOpenFile(copy)
        }
        StoreFiles.removeCompanions(at: destination.path)
    }

    /// Moves the log into the file as far as readers allow, so that the old store is complete without its log.
    private func moveLogIntoFile() {
        guard let connection = try? destination.open() else { return }
        defer { connection.close() }
        _ = try? connection.rows("PRAGMA wal_checkpoint(PASSIVE)")
    }

    private func takePlaceOfOpenFile(_ copy: String) throws {
        StoreFiles.removeCompanions(at: destination.path)
        _ = DurableFile.syncCommits(toStoreAt: destination.path)
        try rename(copy)
        StoreFiles.removeCompanions(at: destination.path)
    }

    func whileNobodyHasItOpen(_ body: () throws -> Void) throws {
        try destination.errors.translating(.saving) {
            // The log of another store would be played into this one, and stay there if locking fails.
            let connection = try LogOwnership.check(destination.path) {
                try Connection(path: destination.path, access: .readWrite, busyTimeout: destination.timeout)
            }
            defer { connection.close() }
            try connection.setPragma("journal_mode", to: "delete")
            // A power failure must not restore the old log next to the new file.
            _ = DurableFile.syncCommits(toStoreAt: destination.path)
            try connection.transaction(.exclusive, body)
        }
    }

    private func rename(_ copy: String) throws {
        guard Glibc.rename(copy, destination.path) == 0 else {
            throw CoreDataError.make(
                513, "Cannot replace the store \(destination.path): \(String(cString: strerror(errno))).",
                userInfo: [NSFilePathErrorKey: destination.path])
        }
        let folder = open((destination.path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    // MARK: External data

    /// Returns the files of values that only the old store has. None if that is unknown, or if other stores may use
    /// them.
    private func valuesOfOldStoreAlone(_ copy: String) -> Set<String> {
        let folder = SupportFolder(ofStoreAt: destination.path)
        guard destination.exists, !folder.isShared, folder.hasValues, let old = try? destination.open() else {
            return []
        }
        defer { old.close() }
        guard let names = try? folder.names(referredToIn: old), !names.isEmpty,
            let new = try? Connection(path: copy, access: .readOnly)
        else { return [] }
        defer { new.close() }
        guard let kept = try? folder.names(referredToIn: new) else { return [] }
        return Set(names).subtracting(kept)
    }
}
