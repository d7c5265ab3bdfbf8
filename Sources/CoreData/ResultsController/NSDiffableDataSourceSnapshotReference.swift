import Foundation

/// The contents of a results controller at one moment: sections by name, objects by ID.
///
/// A snapshot costs little memory; lists of IDs are made on demand. ``reloadedItemIdentifiers`` has the objects that
/// changed since the previous snapshot. (On Apple's systems, UIKit and AppKit define the class.)
///
/// Used on the queue of the controller's context; ``FetchedResultsSnapshot`` is for any queue.
public final class NSDiffableDataSourceSnapshotReference: NSObject {
    private let contents: ListContents
    private let names: SectionNames
    private let identities: RowIdentities
    private let reloaded: [RowToken]
    /// Computed when the first section is looked up.
    private lazy var numbers = names.numbersByName(in: contents)

    init(_ contents: ListContents, names: SectionNames, identities: RowIdentities, reloaded: [RowToken]) {
        self.contents = contents
        self.names = names
        self.identities = identities
        self.reloaded = reloaded
    }

    /// The number of objects.
    public var numberOfItems: Int { contents.rowCount }
    /// The number of sections.
    public var numberOfSections: Int { contents.sectionCount }

    /// The names of the sections. O(sections).
    public var sectionIdentifiers: [Any] { contents.allSections.map { names[$0.number] } }

    /// The IDs of all objects, in order. O(objects).
    public var itemIdentifiers: [Any] { ids(in: 0..<contents.rowCount) }

    /// The IDs of the remaining objects that changed since the previous snapshot.
    public var reloadedItemIdentifiers: [Any] { identities.objectIDs(of: reloaded) }

    /// The number of objects in a section.
    ///
    /// - Precondition: There is a section of that name.
    public func numberOfItems(inSection sectionIdentifier: Any) -> Int { range(of: sectionIdentifier).count }

    /// The IDs of the objects of a section, in order. O(objects of the section).
    ///
    /// - Precondition: There is a section of that name.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        ids(in: range(of: sectionIdentifier))
    }

    /// The name of the section that contains the object with an ID, or `nil` if none does.
    public func sectionIdentifier(forSectionContainingItemIdentifier identifier: Any) -> Any? {
        path(of: identifier).map { names[contents.section(at: $0.section).number] }
    }

    /// The position of the object with an ID in the whole list, or `NSNotFound`.
    public func index(ofItemIdentifier identifier: Any) -> Int {
        path(of: identifier).flatMap(contents.position) ?? NSNotFound
    }

    /// The index of the section of a name, or `NSNotFound`.
    public func index(ofSectionIdentifier identifier: Any) -> Int {
        number(of: identifier).flatMap(contents.index(ofSection:)) ?? NSNotFound
    }

    private func path(of identifier: Any) -> ListContents.Path? {
        guard let id = identifier as? NSManagedObjectID else { return nil }
        return identities.token(of: id, in: contents).flatMap(contents.path)
    }

    private func number(of identifier: Any) -> UInt32? { (identifier as? String).flatMap { numbers[ExactText($0)] } }

    private func range(of identifier: Any) -> Range<Int> {
        guard let number = number(of: identifier) else {
            preconditionFailure("The snapshot has no section \(identifier).")
        }
        return contents.range(ofSection: number)
    }

    private func ids(in range: Range<Int>) -> [NSManagedObjectID] {
        identities.objectIDs(of: contents.rows.elements(in: range))
    }
}
