/// The states of the relationships and fetched properties of one object, one element for each. Allocates nothing before
/// the first touch; if the entity has only one place, the state is stored directly.
// SAFETY: with more than one place the storage is a `Block`, which only `set` creates, with all its places initialised;
// indices are checked. `create` returns an instance of the class it is called on.
struct RelationPlaces {
    /// The contents of the only place, or a block of all.
    private var storage: AnyObject?

    /// True if no relationship was touched.
    @inline(__always)
    var isEmpty: Bool { storage == nil }

    /// - Parameter count: The number of places for the object's entity.
    @inline(__always)
    func value(at index: Int, of count: Int) -> AnyObject? {
        guard count > 1, let storage else { return storage }
        return unsafeDowncast(storage, to: Block.self).value(at: index)
    }

    @inline(__always)
    mutating func set(_ value: AnyObject?, at index: Int, of count: Int) {
        guard count > 1 else { return storage = value }
        let block = storage.map { unsafeDowncast($0, to: Block.self) } ?? Block.make(count)
        block.set(value, at: index)
        storage = block
    }

    private final class Block: ManagedBuffer<Int, AnyObject?> {
        static func make(_ count: Int) -> Block {
            let made = create(minimumCapacity: count) { _ in count }
            made.withUnsafeMutablePointerToElements { $0.initialize(repeating: nil, count: count) }
            return unsafeDowncast(made, to: Block.self)
        }

        @inline(__always)
        func value(at index: Int) -> AnyObject? {
            withUnsafeMutablePointers { count, places in
                precondition(index >= 0 && index < count.pointee)
                return places[index]
            }
        }

        @inline(__always)
        func set(_ value: AnyObject?, at index: Int) {
            withUnsafeMutablePointers { count, places in
                precondition(index >= 0 && index < count.pointee)
                places[index] = value
            }
        }

        deinit { _ = withUnsafeMutablePointers { count, places in places.deinitialize(count: count.pointee) } }
    }
}
