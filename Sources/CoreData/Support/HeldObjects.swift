import CPrefetch
import Foundation

// Ways through arrays of objects that count no references: the array holds them all meanwhile. A save looks at all its
// objects a dozen times, and to retain and release each takes longer than most of these looks.

// SAFETY: a reference to an object and an `Unmanaged` of it are the same word, and the array holds its objects, and its
// memory, during each call.
extension Array where Element: AnyObject {
    /// Calls `body` with each object, or with those in `range`.
    @inline(__always)
    func forEachHeld(in range: Range<Int>? = nil, _ body: (Element) throws -> Void) rethrows {
        try withUnsafeBufferPointer { objects in
            try objects.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for index in range ?? 0..<count { try references[index]._withUnsafeGuaranteedRef(body) }
            }
        }
    }

    /// Calls `body` with each object and the one at its place in `others`, which are as many.
    @inline(__always)
    func forEachHeld<Other: AnyObject>(with others: [Other], _ body: (Element, Other) throws -> Void) rethrows {
        precondition(others.count == count)
        var place = 0
        try forEachHeld { object in
            try others.forEachHeld(in: place..<(place + 1)) { try body(object, $0) }
            place += 1
        }
    }

    /// Whether an object satisfies `condition`.
    @inline(__always)
    func containsHeld(where condition: (Element) -> Bool) -> Bool {
        withUnsafeBufferPointer { objects in
            objects.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                references.contains { $0._withUnsafeGuaranteedRef(condition) }
            }
        }
    }

    /// Whether both are the same array, or have the same objects in the same order. Compares the references as memory.
    func isSame(as other: [Element]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                guard let one = left.baseAddress, let two = right.baseAddress, one != two else { return true }
                return memcmp(one, two, left.count) == 0
            }
        }
    }

    /// The objects that satisfy `isKept`: the array itself, not copied, where all do.
    func keeping(_ isKept: (Element) -> Bool) -> [Element] {
        containsHeld { !isKept($0) } ? filter(isKept) : self
    }
}

extension Set where Element: NSObject {
    /// The set of `objects`. Takes a fifth less time than the standard initialiser: what that gives back of each insertion is
    /// retained once more, after a write to memory that is usually not in the processor's cache. That a large table has
    /// its memory at hand takes a third of the rest off where the memory is new, as in a save.
    // SAFETY: the array holds its objects during the call; each is retained once for the set.
    init(held objects: [Element]) {
        self.init(minimumCapacity: objects.count)
        approachTable()
        objects.withUnsafeBufferPointer { objects in
            objects.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for reference in references { update(with: reference.retain().takeRetainedValue()) }
            }
        }
    }

    /// For how many members a table is larger than the processor's nearest cache.
    private static var many: Int { 4_000 }

    /// Has the memory of the empty table brought near: the first write to each line of it waits for that memory, and for its
    /// page, and with it all that comes after.
    // SAFETY: a set is one word, the address of its table, and the table of a set that was just made is this one's alone; it
    // is longer than what is walked, which is written back as it was read. Rests on the layout of `Set`, not on a promise.
    private func approachTable() {
        guard capacity >= Self.many, MemoryLayout<Self>.size == MemoryLayout<UnsafeRawPointer>.size else { return }
        // A set is a reference to its table, which fills three quarters of its places at most.
        let places = capacity / 3 * 4
        roster_approach(
            unsafeBitCast(self, to: UnsafeMutableRawPointer.self), places * MemoryLayout<Element>.stride)
    }
}

extension Array where Element: AnyObject {
    /// The elements at `places`, each of which is named once, as objects of their class. Their references are counted in the
    /// order in which they stand here, where they usually lie next to each other in memory, and not in the new one.
    // SAFETY: callers name each place once, below the count: each reference is retained once, and moved to one place of
    // the new array. The objects are of the class, as the caller says.
    func inOrder<Object: AnyObject>(of places: [Int], as class: Object.Type) -> [Object] {
        precondition(places.count == count, "Each place is named once.")
        return withUnsafeBufferPointer { elements in
            elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for reference in references { _ = reference.retain() }
                return [Object](unsafeUninitializedCapacity: count) { target, filled in
                    target.withMemoryRebound(to: Unmanaged<Element>.self) { target in
                        for (index, place) in places.enumerated() {
                            target.initializeElement(at: index, to: references[place])
                        }
                    }
                    filled = count
                }
            }
        }
    }
}

/// A value of any type as it lies in memory: an object's reference comes first, and last the type as which it was put there,
/// which may be a class above the object's own, or an optional.
// SAFETY: a value of any type is three words and its type, last; an object's reference is the first. The words are
// compared, and followed only where the type is that of managed objects.
struct AnyWords {
    let reference: UInt
    let type: UInt

    /// Copies nothing: to take a value of any type apart retains and releases what is in it.
    @inline(__always)
    init(_ value: borrowing Any?) {
        (reference, type) = withUnsafeBytes(of: value) { bytes in
            (
                bytes.load(as: UInt.self),
                bytes.load(fromByteOffset: MemoryLayout<Any>.size - MemoryLayout<UInt>.size, as: UInt.self)
            )
        }
    }
}

// SAFETY: the type was found to be that class, so that the first word is the reference; `value` holds the object.
extension Unmanaged {
    /// The reference in `value`, where that is an object of exactly that class; `nil` says nothing.
    ///
    /// The runtime's cast takes 100 ns, and sets of objects compare those whose hashes fall together. A value of any type
    /// has a reference to an object in its first word.
    @inline(__always)
    init?(in value: Any, ofExactly type: Instance.Type) {
        guard Swift.type(of: value) == type else { return nil }
        self = withUnsafeBytes(of: value) { $0.load(as: Unmanaged<Instance>.self) }
    }
}
