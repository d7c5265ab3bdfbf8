import Foundation

extension Sequence where Element: NSManagedObject {
    /// The objects that match the predicate, in their order.
    ///
    /// An addition to Apple's interface. Faster than `NSArray.filtered(using:)` and `filter` with `evaluate(with:)`,
    /// which box each object in a value of any type. Fires faults.
    ///
    /// - Precondition: The predicate can be evaluated, and the objects have its keys.
    public func filtered(using predicate: NSPredicate) -> [Element] {
        Array(self).held { ObjectFilter.matches(predicate, among: $0) }
    }
}

/// Filters managed objects. Not generic, so that it is compiled once for all classes.
// SAFETY: `held` retains the array of these elements during the call.
private enum ObjectFilter {
    typealias Reference = Unretained<NSManagedObject>

    static func matches(_ predicate: NSPredicate, among objects: UnsafeBufferPointer<Reference>) -> [Reference] {
        guard let (evaluator, tree) = (predicate as? any TreePredicate)?.evaluation else {
            return objects.filter { $0.with { predicate.evaluate(with: $0) } }
        }
        return objects.filter { $0.with { evaluator.evaluate(tree, on: $0) } }
    }
}

extension Array where Element: NSManagedObject {
    /// Returns the objects that `choose` returns. No reference counting: the array retains them during the call.
    // SAFETY: the array retains its objects during the call; a reference to an object and an `Unretained` of it are the
    // same word. Each chosen object is retained once for the new array, whose class is that of the elements.
    fileprivate func held(
        _ choose: (UnsafeBufferPointer<Unretained<NSManagedObject>>) -> [Unretained<NSManagedObject>]
    ) -> [Element] {
        withUnsafeBufferPointer { objects in
            objects.withMemoryRebound(to: Unretained<NSManagedObject>.self) { references in
                let chosen = choose(references)
                // An array created with capacity 0 writes to the empty array that all threads share.
                if chosen.isEmpty { return [] }
                return [Element](unsafeUninitializedCapacity: chosen.count) { target, filled in
                    target.withMemoryRebound(to: Unretained<NSManagedObject>.self) { target in
                        for (index, object) in chosen.enumerated() {
                            object.retain()
                            target.initializeElement(at: index, to: object)
                        }
                    }
                    filled = chosen.count
                }
            }
        }
    }
}
