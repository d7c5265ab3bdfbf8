import Foundation
import ModelFiles

/// The kind of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// A sorted index.
    case binary = 0
    /// An R-tree: ranges of numbers, for two-dimensional searches.
    case rTree = 1
}

/// One sort key of a fetch index. Mutable, by one thread at a time, until a coordinator uses its model; then
/// immutable and safe to read on any thread.
// SAFETY: one thread at a time changes it; it is frozen with its model before others may see it.
open class NSFetchIndexElementDescription: NSObject, NSCoding, NSCopying, @unchecked Sendable {
    /// The indexed property, or an `NSExpressionDescription`.
    open internal(set) var property: NSPropertyDescription?

    /// The kind of index. Binary by default.
    open var collationType: NSFetchIndexElementType { willSet { indexDescription?.entity?.willModify() } }

    /// The direction. Ascending by default.
    open var isAscending = true { willSet { indexDescription?.entity?.willModify() } }

    /// The index of the element.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// The name of the property.
    open var propertyName: String? { property?.name }

    /// Unknown parts of the model file, kept to be written back.
    final var unknownParts = UnknownParts()

    /// Creates an element for a property or an `NSExpressionDescription`.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    /// Decodes an element; it belongs to no index.
    public required convenience init?(coder: NSCoder) {
        guard let element = DescriptionArchive.index(with: coder)?.elements.first, let property = element.property
        else {
            return nil
        }
        self.init(property: property, collationType: element.collationType)
        isAscending = element.isAscending
        unknownParts = element.unknownParts
    }

    /// Archives the element and its indexed property.
    open func encode(with coder: NSCoder) { DescriptionArchive.encode(self, with: coder) }

    /// A copy with the same property that belongs to no index.
    open func copy(with zone: NSZone? = nil) -> Any {
        guard let property else { preconditionFailure("An index element without a property cannot be copied.") }
        let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
        copy.isAscending = isAscending
        copy.unknownParts = unknownParts
        return copy
    }
}
