import Foundation
import Synchronization

/// The contents of a results controller at one moment, by object ID: an immutable value for any queue.
///
/// Creating one is cheap, however long the list: it shares the list's tree. IDs are made on demand. An object that was
/// unsaved at that moment has its temporary ID.
public struct FetchedResultsSnapshot: Sendable {
    /// A section at that moment.
    public struct Section: Sendable, Hashable {
        /// The section's name, `""` in a list without sections.
        public let name: String
        /// The section's value, in a list whose sections are made by ``SectionBy``; otherwise the name as a text.
        public let value: SectionValue
        /// The positions of the section's objects in the whole list.
        public let positions: Range<Int>

        /// The number of objects in the section.
        public var count: Int { positions.count }
    }

    private let storage: Storage

    init(_ contents: ListContents, names: SectionNames, identities: RowIdentities) {
        storage = Storage(contents.detached(), names: names.table, identities: identities.frozen())
    }

    var contents: ListContents { storage.contents }

    func name(ofSectionNumbered number: UInt32) -> String { storage.names.name(of: number) }

    /// The index of a section; `nil` if it does not exist. On any thread, unlike the same method of ``contents``.
    func index(ofSectionNumbered number: UInt32) -> Int? { storage.index(ofSection: number) }

    /// The sections as a tree: the outermost level, which contains the others. O(sections).
    public var sectionTree: [SectionNode] { SectionTree(contents: storage.contents, table: storage.names).nodes }

    /// The number of objects in all sections.
    public var count: Int { storage.contents.rowCount }

    /// True if there are no objects.
    public var isEmpty: Bool { count == 0 }

    /// The number of sections: one in a list without sections.
    public var numberOfSections: Int { storage.contents.sectionCount }

    /// The sections in order. O(sections).
    public var sections: [Section] {
        var start = 0
        return storage.contents.allSections.map { entry in
            defer { start += entry.weight }
            let name = storage.names.name(of: entry.number)
            return Section(
                name: name, value: storage.names.value(of: entry.number) ?? (name.isEmpty ? .missing : .text(name)),
                positions: start..<start + entry.weight)
        }
    }

    /// The IDs of all objects, in order. O(objects).
    public var objectIDs: [NSManagedObjectID] { objectIDs(at: 0..<count) }

    /// The IDs of the objects at some positions of the whole list. O(positions + log n).
    ///
    /// - Precondition: The list has these positions.
    public func objectIDs(at positions: Range<Int>) -> [NSManagedObjectID] {
        storage.identities.objectIDs(of: storage.contents.rows.elements(in: positions))
    }

    /// The ID at an index path; `nil` if the list has no such path. O(log n).
    public subscript(indexPath: IndexPath) -> NSManagedObjectID? {
        guard let path = indexPath.listPath, let row = storage.contents.row(at: path) else { return nil }
        return storage.identities.objectID(of: row)
    }

    /// The index path of an object; `nil` if it is not in the list. O(log n); the first call of a snapshot is O(n).
    public func indexPath(of id: NSManagedObjectID) -> IndexPath? { storage.path(of: id).map { IndexPath($0) } }

    /// The index path of a position of the whole list, counted from 0. O(log n).
    ///
    /// - Precondition: The list has this position.
    public func indexPath(at position: Int) -> IndexPath { IndexPath(storage.contents.path(at: position)) }

    /// State that several threads read. It is immutable but for the indexes of positions and of sections, which the
    /// lock guards.
    // SAFETY: immutable but for the indexes of positions and of sections, which `lock` guards.
    private final class Storage: @unchecked Sendable {
        let contents: ListContents
        let identities: RowIdentities
        let names: SectionTable
        private let lock = Mutex(())

        init(_ contents: ListContents, names: SectionTable, identities: RowIdentities) {
            (self.contents, self.names, self.identities) = (contents, names, identities)
        }

        func path(of id: NSManagedObjectID) -> ListContents.Path? {
            lock.withLock { _ in identities.token(of: id, in: contents).flatMap(contents.path) }
        }

        func index(ofSection number: UInt32) -> Int? { lock.withLock { _ in contents.index(ofSection: number) } }
    }
}
