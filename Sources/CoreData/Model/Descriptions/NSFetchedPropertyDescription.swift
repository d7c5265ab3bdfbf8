import Foundation

/// A fetched property: its value is the result of a fetch request. One-way, never saved, computed on access.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// A fetched property without a request.
    public required init() {
        super.init()
        isTransient = true
    }

    /// The fetch request. In its predicate, `$FETCH_SOURCE` is the object that owns the property, and
    /// `$FETCHED_PROPERTY` is this description.
    open var fetchRequest: NSFetchRequest<NSFetchRequestResult>? { willSet { willModify() } }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSFetchedPropertyDescription else { return }
        copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<NSFetchRequestResult>
    }
}
