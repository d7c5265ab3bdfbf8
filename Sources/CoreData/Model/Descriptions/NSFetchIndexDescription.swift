import Foundation
import ModelFiles

/// An index of a store that makes fetches of an entity quick. Changed by one thread at a time until a coordinator uses its
/// model; from then on immutable and safe to read on any thread.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSFetchIndexDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The name of the index, unique in its entity.
    open var name: String { willSet { willModify() } }

    /// What is indexed, in order.
    ///
    /// - Precondition: All elements are binary, or all are R-tree elements.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { willModify() }
        didSet { adoptElements() }
    }

    /// The entity that has the index; `nil` until it is in the `indexes` of one.
    open internal(set) var entity: NSEntityDescription? {
        get { entityLink?.target }
        set { entityLink = newValue?.backlink }
    }
    private var entityLink: Backlink<NSEntityDescription>?

    /// Which rows stand in the index; `nil` means all.
    open var partialIndexPredicate: NSPredicate? { willSet { willModify() } }

    /// What the model's file said here that is not known; it is written back.
    final var unknownParts = UnknownParts()

    /// An index of that name over `elements`, in their order.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        adoptElements()
    }

    /// The index in an archive: standing alone as a copy does.
    public required convenience init?(coder: NSCoder) {
        guard let index = DescriptionArchive.index(with: coder) else { return nil }
        self.init(name: index.name, elements: index.elements)
        partialIndexPredicate = index.partialIndexPredicate
        unknownParts = index.unknownParts
    }

    /// Archives the index.
    ///
    /// - Precondition: No predicate of it is code.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    private func adoptElements() {
        precondition(
            Set(elements.map(\.collationType)).count < 2,
            "The index '\(name)' mixes binary and R-tree elements; an index has one kind.")
        for element in elements { element.indexDescription = self }
    }

    private func willModify() { entity?.willModify() }

    /// A copy of the index and of its elements, which belongs to no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(
            name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        copy.unknownParts = unknownParts
        return copy
    }
}
