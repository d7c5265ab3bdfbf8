/// Adjacent objects of one fetch or to-many relationship whose rows were not read. The first read of a value of one of
/// them reads the rows of all, with one query for each entity and 512 rows.
///
/// Shared by its members; contains only their keys or IDs, so that it retains no object. One block of memory with the
/// rows' numbers as offsets from the smallest, in as few bytes as they need, because a long list has one per row.
final class FaultBatch: ManagedBuffer<FaultBatchHead, UInt8> {
    /// The number of rows read at once for a request without a batch size.
    static let defaultSize = 128

    /// The identity of a member.
    enum Member {
        case row(RowKey, StoreReference)
        /// The object has a temporary ID, or other members are in another store.
        case named(NSManagedObjectID)
    }

    // MARK: Creating batches

    /// Creates a batch of rows in one store.
    // SAFETY: there is memory for `size` bytes per key, and `create` returns an instance of the class it is called on.
    static func make(_ keys: some Collection<RowKey>, of store: StoreReference) -> FaultBatch {
        var head = FaultBatchHead(store: store, count: UInt32(keys.count))
        var last = Int64.min
        head.first = .max
        for key in keys {
            head.first = min(head.first, key.reference)
            last = max(last, key.reference)
        }
        head.entity = keys.first?.entity ?? 0
        head.hasEntities = keys.contains { $0.entity != head.entity }
        let range = keys.isEmpty ? 0 : UInt64(bitPattern: last &- head.first)
        head.width = UInt8((64 - range.leadingZeroBitCount + 7) / 8)
        let size = head.size
        let made = create(minimumCapacity: size * keys.count) { _ in head }
        made.withUnsafeMutablePointerToElements { bytes in
            var place = bytes
            for key in keys {
                write(UInt64(bitPattern: key.reference &- head.first), head.width, to: place)
                if head.hasEntities { write(UInt64(key.entity), 4, to: place + Int(head.width)) }
                place += size
            }
        }
        return unsafeDowncast(made, to: FaultBatch.self)
    }

    // SAFETY: `create` returns an instance of the class it is called on.
    private static func make(_ ids: [NSManagedObjectID]) -> FaultBatch {
        unsafeDowncast(create(minimumCapacity: 0) { _ in FaultBatchHead(ids: ids) }, to: FaultBatch.self)
    }

    /// Creates a batch for faults that are created one by one. They can join until it is full or its rows are read.
    static func open() -> FaultBatch {
        let batch = make([NSManagedObjectID]())
        batch.header.isOpen = true
        return batch
    }

    /// Adds an object to the batch, unless the batch is full or was read.
    ///
    /// - Returns: `true` if the object has joined.
    func admit(_ object: NSManagedObject) -> Bool {
        guard header.isOpen else { return false }
        header.ids.append(object.passingID)
        object.faultBatch = self
        if header.ids.count == Self.defaultSize { header.isOpen = false }
        return true
    }

    /// Closes the batch when its rows are read.
    func close() { header.isOpen = false }

    static func make(of objects: some Collection<NSManagedObject>) -> FaultBatch {
        var keys: [RowKey] = []
        keys.reserveCapacity(objects.count)
        let store = objects.first?.storeReference
        for object in objects {
            guard let key = object.rowKey, object.storeReference === store else { break }
            keys.append(key)
        }
        if let store, keys.count == objects.count { return make(keys, of: store) }
        return make(objects.map(\.objectID))
    }

    /// Puts those of `objects` whose rows were not read into batches of `size`.
    ///
    /// - Parameter list: The relationship of which `objects` are all members. Stored if one batch has them all.
    static func join(_ objects: [NSManagedObject], size: Int, list: NSRelationshipDescription? = nil) {
        let waiting = objects.filter(\.waitsForRow)
        guard waiting.count > 1 else { return }
        for start in stride(from: 0, to: waiting.count, by: size) {
            let neighbours = waiting[start..<min(start + size, waiting.count)]
            let batch = make(of: neighbours)
            if waiting.count < size { batch.header.list = list.map(ObjectIdentifier.init) }
            for object in neighbours { object.faultBatch = batch }
        }
    }

    // MARK: Reading batches

    /// Returns the objects to read when a value of `object` is read: it, and all other members without rows.
    ///
    /// - Parameter registered: Returns the context's object for a member.
    func waiting(with object: NSManagedObject, registered: (Member) -> NSManagedObject?) -> [NSManagedObject] {
        var result = [object]
        for index in 0..<(header.store == nil ? header.ids.count : Int(header.count)) {
            guard let member = registered(member(index)), member !== object, member.waitsForRow else { continue }
            result.append(member)
        }
        return result
    }

    /// The identity of the member at `index`.
    // SAFETY: `index` is below the number of keys that `make` has written, `size` bytes each.
    func member(_ index: Int) -> Member {
        guard let store = header.store else { return .named(header.ids[index]) }
        return withUnsafeMutablePointers { head, bytes in
            let place = bytes + index * head.pointee.size
            let width = head.pointee.width
            let entity = head.pointee.hasEntities ? UInt32(Self.read(4, at: place + Int(width))) : head.pointee.entity
            let reference = head.pointee.first &+ Int64(bitPattern: Self.read(width, at: place))
            return .row(RowKey(entity: entity, reference: reference), store)
        }
    }

    // SAFETY: the caller provides memory for `width` bytes at `place`.
    private static func write(_ number: UInt64, _ width: UInt8, to place: UnsafeMutablePointer<UInt8>) {
        for byte in 0..<Int(width) { (place + byte).initialize(to: UInt8(truncatingIfNeeded: number >> (byte * 8))) }
    }

    // SAFETY: the caller has written `width` bytes at `place`.
    private static func read(_ width: UInt8, at place: UnsafeMutablePointer<UInt8>) -> UInt64 {
        (0..<Int(width)).reduce(0) { $0 | UInt64(place[$1]) << ($1 * 8) }
    }
}

/// The data shared by the members of a ``FaultBatch``.
struct FaultBatchHead {
    /// The store of the rows; `nil` if the members are identified by IDs.
    var store: StoreReference?
    var ids: [NSManagedObjectID] = []
    /// The to-many relationship of which these are all members, if it fits into one batch.
    var list: ObjectIdentifier?
    /// True while more rows may be added to the batch.
    var isOpen = false
    /// The smallest row number in the batch.
    var first: Int64 = 0
    var count: UInt32 = 0
    /// The entity of all rows, if they have the same one; otherwise each row number is followed by its entity.
    var entity: UInt32 = 0
    var hasEntities = false
    /// The number of bytes of a row's number.
    var width: UInt8 = 0

    /// The number of bytes of a member.
    var size: Int { Int(width) + (hasEntities ? 4 : 0) }
}
