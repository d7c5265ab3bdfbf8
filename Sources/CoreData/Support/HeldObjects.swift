import Foundation

// Loops over arrays of objects without counting references: the array holds the objects. A save visits all its
// objects a dozen times, and retaining and releasing each costs more than most of these visits.

// SAFETY: a reference to an object and an `Unretained` of it are the same word (`LayoutTests`), and the array holds its
// objects, and its memory, during each call.
extension Array where Element: AnyObject {
    /// Calls `body` with the references in memory, typed as the class that all objects have.
    @inline(__always)
    private func withReferences<Object: AnyObject, Result>(
        as type: Object.Type, _ body: (UnsafeBufferPointer<Unretained<Object>>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeBufferPointer { try $0.withMemoryRebound(to: Unretained<Object>.self, body) }
    }

    /// Calls `body` with each object, or with those in `range`.
    @inline(__always)
    func forEachHeld(in range: Range<Int>? = nil, _ body: (Element) throws -> Void) rethrows {
        try withReferences(as: Element.self) { references in
            for index in range ?? 0..<count { try references[index].with(body) }
        }
    }

    /// The index of an object. Linear search.
    func firstHeldIndex(of object: Element) -> Int? {
        let wanted = Unretained(object)
        return withReferences(as: Element.self) { $0.firstIndex(of: wanted) }
    }

    /// Calls `body` with each object and the element at the same index of `others`, which has the same count.
    @inline(__always)
    func forEachHeld<Other: AnyObject>(with others: [Other], _ body: (Element, Other) throws -> Void) rethrows {
        precondition(others.count == count)
        var place = 0
        try forEachHeld { object in
            try others.forEachHeld(in: place..<(place + 1)) { try body(object, $0) }
            place += 1
        }
    }

    /// True if an object satisfies `condition`.
    @inline(__always)
    func containsHeld(where condition: (Element) -> Bool) -> Bool {
        withReferences(as: Element.self) { references in references.contains { $0.with(condition) } }
    }

    /// True if both arrays have the same objects in the same order. Compares the references as memory.
    func isSame(as other: [Element]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                guard let one = left.baseAddress, let two = right.baseAddress, one != two else { return true }
                return memcmp(one, two, left.count) == 0
            }
        }
    }

    /// The array, typed as references to another class. A cast would check the class of each object and copy the
    /// array, which costs a third of a whole fetch.
    // SAFETY: callers know that all objects are of the class. An array is one reference to a buffer of one-word
    // references. The buffer knows the class it was made for, and releases them.
    func recast<Object: AnyObject>(as type: Object.Type) -> [Object] { unsafeBitCast(self, to: [Object].self) }

    /// The objects that satisfy `isKept`. If all do, returns the array itself without a copy.
    func keeping(_ isKept: (Element) -> Bool) -> [Element] {
        containsHeld { !isKept($0) } ? filter(isKept) : self
    }
}

extension Set where Element: NSObject {
    /// The set of `objects`. Takes a fifth less time than the standard initialiser, which retains the result of each
    /// insertion again after a write to memory that is usually not cached.
    init(held objects: [Element]) {
        self.init(minimumCapacity: objects.count)
        objects.forEachHeld { update(with: $0) }
    }
}

extension Array where Element: AnyObject {
    /// The elements at `places`, each named once, as objects of their class. References are counted in the array's
    /// present order, in which the objects are usually adjacent in memory.
    // SAFETY: callers name each place below the count once: each reference is retained once, and moved to one place of
    // the new array. The caller ensures that the objects are of the class.
    func inOrder<Object: AnyObject>(of places: [Int], as class: Object.Type) -> [Object] {
        precondition(places.count == count, "Each place is named once.")
        // For an array without capacity this would write to the empty array that all threads share.
        if isEmpty { return [] }
        return withReferences(as: Element.self) { references in
            for reference in references { reference.retain() }
            return [Object](unsafeUninitializedCapacity: count) { target, filled in
                target.withMemoryRebound(to: Unretained<Element>.self) { target in
                    for (index, place) in places.enumerated() {
                        target.initializeElement(at: index, to: references[place])
                    }
                }
                filled = count
            }
        }
    }
}
