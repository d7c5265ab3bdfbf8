import Foundation

extension Sequence where Element: NSManagedObject {
    /// The objects that match the predicate, in their order.
    ///
    /// An addition to Apple's interface. `NSArray.filtered(using:)` and `filter` with `evaluate(with:)` put each object into
    /// a value of any type, to be taken out again; this looks at the objects where they are, and is quicker. Fires
    /// faults.
    ///
    /// - Precondition: The predicate can be evaluated, and the objects have its keys.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        Array(self).choosingHeld(as: NSManagedObject.self) { ObjectFilter.matches(predicate, among: $0) }
    }
}

/// Not generic: compiled for objects of all classes at once.
// SAFETY: `choosingHeld` holds the array whose elements these are meanwhile.
private enum ObjectFilter {
    typealias Reference = Unretained<NSManagedObject>

    static func matches(_ predicate: NSPredicate, among objects: UnsafeBufferPointer<Reference>) -> [Reference] {
        guard let (evaluator, tree) = (predicate as? any TreePredicate)?.evaluation else {
            return objects.filter { $0.with { predicate.evaluate(with: $0) } }
        }
        return objects.filter { $0.with { evaluator.evaluate(tree, on: $0) } }
    }
}
