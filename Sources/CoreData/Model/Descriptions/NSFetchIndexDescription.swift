import Foundation
import ModelFiles

/// A store's index that speeds up fetches of an entity. Mutable, by one thread at a time, until a coordinator uses
/// its model; then immutable and safe to read on any thread.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSFetchIndexDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The name of the index, unique in its entity.
    open var name: String { willSet { willModify() } }

    /// The indexed properties and expressions, in order.
    ///
    /// - Precondition: all elements are binary, or all are R-tree elements.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { willModify() }
        didSet { adoptElements() }
    }

    /// The entity whose `indexes` include this one; `nil` if there is none yet.
    open internal(set) var entity: NSEntityDescription? {
        get { entityLink?.target }
        set { entityLink = newValue?.backlink }
    }
    private var entityLink: Backlink<NSEntityDescription>?

    /// The condition for rows in the index; `nil` means all rows.
    open var partialIndexPredicate: NSPredicate? { willSet { willModify() } }

    /// Unknown parts of the model file, kept to be written back.
    final var unknownParts = UnknownParts()

    /// Creates an index of that name over `elements`, in their order.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// Decodes an index. Like a copy it belongs to no entity.
    public required convenience init?(coder: NSCoder) {
        guard let index = DescriptionArchive.index(with: coder) else { return nil }
        self.init(name: index.name, elements: index.elements)
        partialIndexPredicate = index.partialIndexPredicate
        unknownParts = index.unknownParts
    }

    /// Archives the index.
    ///
    /// - Precondition: none of its predicates is a block.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    private func adoptElements() {
        precondition(
            Set(elements.map(\.collationType)).count < 2,
            "The index '\(name)' mixes binary and R-tree elements; an index has one kind.")
        for element in elements { element.indexDescription = self }
    }

    private func willModify() { entity?.willModify() }

    /// A copy of the index and its elements that belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(
            name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        copy.unknownParts = unknownParts
        return copy
    }
}
