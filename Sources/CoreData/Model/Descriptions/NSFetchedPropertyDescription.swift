import Foundation

/// A fetched property: a property whose value is what a fetch request finds. One way, never saved, computed when asked.
// SAFETY: as `NSPropertyDescription`: frozen with its model before other threads may see it.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// A fetched property without a request.
    public required init() {
        super.init()
        isTransient = true
    }

    /// What is fetched. In its predicate `$FETCH_SOURCE` stands for the object whose property it is, and
    /// `$FETCHED_PROPERTY` for this description.
    open var fetchRequest: NSFetchRequest<NSFetchRequestResult>? { willSet { willModify() } }

    override func copyValues(to copy: NSPropertyDescription) {
        super.copyValues(to: copy)
        guard let copy = copy as? NSFetchedPropertyDescription else { return }
        copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<NSFetchRequestResult>
    }
}
