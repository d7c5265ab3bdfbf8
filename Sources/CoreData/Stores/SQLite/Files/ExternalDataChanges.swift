import Foundation

// A row must never refer to a missing file. So files of new values are complete and synced before the transaction
// commits, and files of old values are removed after it. A save that dies in between leaves files that no row refers
// to. Their names are in a note, which was written before, and the next opening of the store removes them.

/// The files that one save creates, and those that it makes unused.
final class ExternalDataChanges {
    private let place: ExternalData
    private var made: [String] = []
    private var replaced: [String] = []
    private var note: ExternalDataNote?

    init(_ place: ExternalData) { self.place = place }

    /// Returns the column's bytes for a new value, and creates a file for a large one.
    ///
    /// - Throws: a `CocoaError` if the file cannot be written.
    func stored(_ value: Data) throws -> Data {
        guard value.count > ExternalData.inlineLimit, place.keepsFiles else { return ExternalData.inline(value) }
        let name = UUID().uuidString
        if made.isEmpty { try place.makeFolder() }
        try noteName(name)
        made.append(name)
        try place.create(name, value)
        return ExternalData.reference(toFileNamed: name)
    }

    /// Called when the transaction replaces these bytes in their column.
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

    /// Called right before the commit.
    ///
    /// - Parameter referred: returns those of the names that rows refer to, because rows may share a file.
    func sync(_ referred: ([String]) throws -> Set<String>) throws {
        if !made.isEmpty { try place.syncFolder() }
        guard !replaced.isEmpty else { return }
        let kept = try referred(replaced)
        replaced.removeAll(where: kept.contains)
    }

    /// Called after the commit. Without `synchronous=FULL` the commit may not be durable, and a power failure may
    /// restore the old rows. So the old files are removed only after a sync. They stay, with the note, if it fails or
    /// if a copy of the store is being made.
    func didCommit() {
        guard !replaced.isEmpty else { return remove([]) }
        guard DurableFile.syncCommits(toStoreAt: place.storePath), let lock = place.values.lockForRemoval() else {
            return leave()
        }
        withExtendedLifetime(lock) { remove(replaced) }
    }

    /// Called after a rollback.
    func didRollBack() { remove(made) }

    /// Called after a failed commit. Keeps the new files and the note, because after a failed sync the commit may be in
    /// the store. The next opening removes the files that no row refers to.
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
