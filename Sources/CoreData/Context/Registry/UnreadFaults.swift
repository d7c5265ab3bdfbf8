import Foundation

// Handles a store that cannot be read (a damaged page, a lost disk) while an accessor fires a fault. An accessor cannot
// throw, and the program must not stop. So the fault stays a fault and returns nil, an unread to-many relationship
// returns its known members, and the next access tries again. Values that are set before the row is read are kept here
// and applied over the row afterwards. A save never overwrites a row that was not read: it first reads all of these,
// and throws the store's error if it still cannot.

extension NSManagedObjectContext {
    /// The row of an object, or the contents of a relationship, could not be read when an accessor needed them. The
    /// fault returned nil and stays a fault; the next access tries again.
    ///
    /// An addition to Apple's API. Posted by the context (the object) on its queue, once for each object until it is
    /// read. The user info has the store's error under `NSUnderlyingErrorKey` and the objects under
    /// `NSAffectedObjectsErrorKey`. A save of such objects throws the same error.
    public static let didFailToFulfillFaultNotification = Notification.Name(
        "NSManagedObjectContextDidFailToFulfillFaultNotification")
}

extension NSNotification.Name {
    /// The older name of `NSManagedObjectContext.didFailToFulfillFaultNotification`.
    public static let NSManagedObjectContextDidFailToFulfillFault =
        NSManagedObjectContext.didFailToFulfillFaultNotification
}

/// Faults of a context that could not be read: the failures, and the values that were set in such objects.
final class UnreadFaults {
    // SAFETY: the context owns it and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }

    /// True if there ever were `writes`. Checked for every fault that becomes real.
    // SAFETY: used only on the context's queue and read or written as a whole, so accesses do not overlap.
    @exclusivity(unchecked)
    private var hasWrites = false
    /// Values that were set in objects whose rows could not be read.
    private var writes: [ObjectIdentifier: Writes] = [:]
    private struct Writes {
        /// The object. It is retained, so that its identifier stays unique.
        let object: NSManagedObject
        var values: [Int: SlotValue] = [:]
    }

    /// To-many relationships that could not be read.
    private var contents: [Contents] = []
    private struct Contents {
        weak var owner: NSManagedObject?
        let number: Int
        /// True if all contents were replaced before they were read: the known members are then all members.
        var isReplaced = false
    }

    private var reported: Set<NSManagedObjectID> = []
    private var isReporting = false

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Failures

    /// Records that `objects` could not be read, and posts the notification.
    func didFail(_ objects: [NSManagedObject], _ error: any Error) {
        let new = objects.filter { reported.insert($0.objectID).inserted }
        // An observer of the notification may read the same objects.
        guard !new.isEmpty, !isReporting else { return }
        isReporting = true
        defer { isReporting = false }
        NotificationCenter.default.post(
            name: NSManagedObjectContext.didFailToFulfillFaultNotification, object: context,
            userInfo: [NSUnderlyingErrorKey: error as NSError, NSAffectedObjectsErrorKey: new])
    }

    /// Records that the contents of a to-many relationship could not be read.
    func didFail(_ owner: NSManagedObject, number: Int, _ error: any Error) {
        if place(of: owner, number) == nil { contents.append(Contents(owner: owner, number: number)) }
        didFail([owner], error)
    }

    /// Records that `objects`, or relationships of them, have been read.
    func didRead(_ objects: [NSManagedObject]) {
        if reported.isEmpty { return }
        for object in objects { reported.remove(object.objectID) }
    }

    // MARK: Values

    /// The value that was set in a fault without a row.
    func value(_ slot: Int, of object: NSManagedObject) -> SlotValue {
        writes[ObjectIdentifier(object)]?.values[slot] ?? .null
    }

    func set(_ value: SlotValue, _ slot: Int, of object: NSManagedObject) {
        hasWrites = true
        writes[ObjectIdentifier(object), default: Writes(object: object)].values[slot] = value
    }

    /// The slots that were set in a fault without a row.
    func slots(of object: NSManagedObject) -> [Int] {
        writes[ObjectIdentifier(object)].map { $0.values.keys.sorted() } ?? []
    }

    /// Applies the values that were set over the row of an object that has now been read.
    func apply(to object: NSManagedObject) {
        guard hasWrites, let found = writes.removeValue(forKey: ObjectIdentifier(object)) else { return }
        if let baseline = object.baseline, baseline.snapshot == nil {
            object.baseline = EventBaseline(event: baseline.event, values: [], snapshot: object.snapshot)
        }
        for (slot, value) in found.values.sorted(by: { $0.key < $1.key }) {
            guard slot >= object.layout.attributeCount else {
                object.write(value, slot: slot)
                continue
            }
            // The old destination is known only now that the row was read, so its inverse is updated here.
            var target: NSManagedObject?
            if case .reference(let id) = value { target = object.managedObjectContext?.registry.object(for: id) }
            InverseUpkeep.set(target, of: object, slot: slot)
        }
    }

    // MARK: Contents

    private func place(of owner: NSManagedObject, _ number: Int) -> Int? {
        contents.firstIndex { $0.owner === owner && $0.number == number }
    }

    /// Records that all contents of an unread relationship were replaced by the known members.
    func didReplace(_ owner: NSManagedObject, number: Int) {
        if let place = place(of: owner, number) { contents[place].isReplaced = true }
    }

    /// True if all contents of the relationship, which has now been read, were replaced before. Forgets the
    /// replacement.
    func takeReplacement(_ owner: NSManagedObject, number: Int) -> Bool {
        guard !contents.isEmpty, let place = place(of: owner, number) else { return false }
        return contents.remove(at: place).isReplaced
    }

    /// Unread relationships of objects with unsaved changes.
    var unsavedContents: [(owner: NSManagedObject, number: Int)] {
        contents.removeAll { $0.owner == nil }
        return contents.compactMap { entry in
            guard let owner = entry.owner, !owner.flags.isDisjoint(with: .unsaved) else { return nil }
            return (owner, entry.number)
        }
    }

    // MARK: Forgetting

    /// Forgets an object whose changes are dropped.
    func forget(_ object: NSManagedObject) {
        if !writes.isEmpty { writes[ObjectIdentifier(object)] = nil }
        if !contents.isEmpty { contents.removeAll { $0.owner === object || $0.owner == nil } }
    }

    func forgetAll() {
        writes = [:]
        contents = []
        reported = []
    }
}
