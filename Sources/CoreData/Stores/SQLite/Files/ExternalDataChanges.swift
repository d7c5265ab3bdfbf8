import Foundation

// A row must never refer to a file that is not there. So the files of new values are whole, and on the disk, before the
// transaction commits; those of old values go after it has. A save that dies in between leaves files that no row refers
// to. Their names stand in a note, written before, and the next opening of the store clears up after it.

/// The files that one save makes, and those that it leaves without a row.
final class ExternalDataChanges {
    private let place: ExternalData
    private var made: [String] = []
    private var replaced: [String] = []
    private var note: ExternalDataNote?

    init(_ place: ExternalData) { self.place = place }

    /// The bytes of the column for a new value. Makes a file for a big one.
    ///
    /// - Throws: a `CocoaError` where the file cannot be written.
    func stored(_ value: Data) throws -> Data {
        guard value.count > ExternalData.inlineLimit, place.keepsFiles else { return ExternalData.inline(value) }
        let name = UUID().uuidString
        if made.isEmpty { try place.makeFolder() }
        try noteName(name)
        made.append(name)
        try place.create(name, value)
        return ExternalData.reference(toFileNamed: name)
    }

    /// Says that the transaction takes these bytes out of their column.
    func willReplace(_ stored: Data) throws {
        guard let name = ExternalData.fileName(in: stored) else { return }
        try noteName(name)
        replaced.append(name)
    }

    private func noteName(_ name: String) throws {
        let note = try note ?? ExternalDataNote(in: place)
        self.note = note
        try note.add(name)
    }

    /// Call it right before the commit.
    ///
    /// - Parameter referred: the names among these to which rows refer: rows may share a file.
    func sync(_ referred: ([String]) throws -> Set<String>) throws {
        if !made.isEmpty { try place.syncFolder() }
        guard !replaced.isEmpty else { return }
        let kept = try referred(replaced)
        replaced.removeAll(where: kept.contains)
    }

    /// Call it when the transaction is committed. Without `synchronous=FULL` that is not to say that it is on the disk: a power
    /// failure may bring the old rows back, so the old files go once it is. Where that cannot be reached, or while somebody copies
    /// the store, they stay, with the note.
    func didCommit() {
        guard !replaced.isEmpty else { return remove([]) }
        guard DurableFile.syncCommits(toStoreAt: place.storePath), let lock = place.values.lockForRemoval() else {
            return leave()
        }
        withExtendedLifetime(lock) { remove(replaced) }
    }

    /// Call it when the transaction was taken back before its commit.
    func didRollBack() { remove(made) }

    /// Call it after a failed commit. Keeps the new files and the note: after a failed sync the commit may be in the store. The
    /// next opening removes the files that no row refers to.
    func didFailToCommit() { leave() }

    private func remove(_ names: [String]) {
        for name in names { place.values.remove(name) }
        note?.remove()
        leave()
    }

    private func leave() {
        note = nil
        made = []
        replaced = []
    }
}
