import Synchronization

/// A reference to an ID in one word, which several threads may find empty at once: they all get the same ID.
///
/// Replacing it is for the object's queue alone.
struct IDReference: ~Copyable, Sendable {
    private let address = Atomic<UInt>(0)

    deinit { Self.release(address.load(ordering: .acquiring)) }

    @inline(__always)
    var isThere: Bool { address.load(ordering: .relaxed) != 0 }

    @inline(__always)
    func load() -> NSManagedObjectID? {
        UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map {
            Unmanaged<NSManagedObjectID>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Keeps `id`, unless there is one already.
    ///
    /// - Returns: the one that is there now.
    func loadOrStore(_ id: NSManagedObjectID) -> NSManagedObjectID {
        let made = UInt(bitPattern: Unmanaged.passRetained(id).toOpaque())
        let (isStored, _) = address.compareExchange(expected: 0, desired: made, ordering: .acquiringAndReleasing)
        if isStored { return id }
        Self.release(made)
        return load() ?? id
    }

    /// Keeps `id` in the place of what is there, and gives that.
    func replace(by id: NSManagedObjectID) -> NSManagedObjectID? {
        let new = UInt(bitPattern: Unmanaged.passRetained(id).toOpaque())
        let old = address.exchange(new, ordering: .acquiringAndReleasing)
        return UnsafeRawPointer(bitPattern: old).map { Unmanaged<NSManagedObjectID>.fromOpaque($0).takeRetainedValue() }
    }

    private static func release(_ address: UInt) {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged<NSManagedObjectID>.fromOpaque($0).release() }
    }
}
