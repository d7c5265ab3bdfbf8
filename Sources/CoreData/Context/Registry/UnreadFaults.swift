import Foundation

// What happens when the store cannot be read (a damaged page, a disk that is gone) while an accessor fires a fault. An
// accessor has no way to throw, and the program must not stop, so: the fault stays a fault and answers nil, an unread
// to-many relationship answers what is known of it, and the next access tries again. What is set meanwhile is kept here,
// apart from the row, and laid over it once it was read. Nothing is ever saved over a row that was not read: a save reads
// all of these first, and throws the store's error if it still cannot.

extension NSManagedObjectContext {
    /// A row or the contents of a relationship could not be read while an accessor of an object wanted them: the fault
    /// answered nil and stays one; the next access tries again.
    ///
    /// An addition to Apple's API. Posted by the context (the object) on its queue, once for each object until it was
    /// read. Carries the store's error under `NSUnderlyingErrorKey` and the objects under
    /// `NSAffectedObjectsErrorKey`. A save of such objects throws the same error.
    public static let didFailToFulfillFaultNotification = Notification.Name(
        "NSManagedObjectContextDidFailToFulfillFaultNotification")
}

extension NSNotification.Name {
    /// The same as `NSManagedObjectContext.didFailToFulfillFaultNotification`, spelt as the older names are.
    public static let NSManagedObjectContextDidFailToFulfillFault =
        NSManagedObjectContext.didFailToFulfillFaultNotification
}

/// What a context knows of faults that could not be read: failures, and what was set in such objects meanwhile.
final class UnreadFaults {
    // SAFETY: the context owns it, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }

    /// Whether there ever were `writes`. Every fault that becomes real asks.
    // SAFETY: used on the context's queue alone, as a whole: no accesses overlap.
    @exclusivity(unchecked)
    private var hasWrites = false
    /// The values that were set in objects whose rows could not be read.
    private var writes: [ObjectIdentifier: Writes] = [:]
    private struct Writes {
        /// Kept, so that the identifier stays the object's.
        let object: NSManagedObject
        var values: [Int: SlotValue] = [:]
    }

    /// To-many relationships that could not be read.
    private var contents: [Contents] = []
    private struct Contents {
        weak var owner: NSManagedObject?
        let number: Int
        /// Whether all contents were replaced meanwhile: those that are known are all there shall be.
        var isReplaced = false
    }

    private var reported: Set<NSManagedObjectID> = []
    private var isReporting = false

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    // MARK: Failures

    /// Notes that `objects` could not be read, and posts it.
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

    /// Notes that the contents of a to-many relationship could not be read.
    func didFail(_ owner: NSManagedObject, number: Int, _ error: any Error) {
        if place(of: owner, number) == nil { contents.append(Contents(owner: owner, number: number)) }
        didFail([owner], error)
    }

    /// `objects`, or relationships of theirs, have been read.
    func didRead(_ objects: [NSManagedObject]) {
        if reported.isEmpty { return }
        for object in objects { reported.remove(object.objectID) }
    }

    // MARK: Values

    /// The value that was set in a fault that has no row.
    func value(_ slot: Int, of object: NSManagedObject) -> SlotValue {
        writes[ObjectIdentifier(object)]?.values[slot] ?? .null
    }

    func set(_ value: SlotValue, _ slot: Int, of object: NSManagedObject) {
        hasWrites = true
        writes[ObjectIdentifier(object), default: Writes(object: object)].values[slot] = value
    }

    /// The slots that were set in a fault that has no row.
    func slots(of object: NSManagedObject) -> [Int] {
        writes[ObjectIdentifier(object)].map { $0.values.keys.sorted() } ?? []
    }

    /// The object has been read: lays what was set over its row.
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
            // The old destination, unknown until now, has to forget the object.
            var target: NSManagedObject?
            if case .reference(let id) = value { target = object.managedObjectContext?.registry.object(for: id) }
            InverseUpkeep.set(target, of: object, slot: slot)
        }
    }

    // MARK: Contents

    private func place(of owner: NSManagedObject, _ number: Int) -> Int? {
        contents.firstIndex { $0.owner === owner && $0.number == number }
    }

    /// All contents of an unread relationship were replaced by those that are known.
    func didReplace(_ owner: NSManagedObject, number: Int) {
        if let place = place(of: owner, number) { contents[place].isReplaced = true }
    }

    /// Whether all contents of the relationship, which has been read now, were replaced before it was.
    func takeReplacement(_ owner: NSManagedObject, number: Int) -> Bool {
        guard !contents.isEmpty, let place = place(of: owner, number) else { return false }
        return contents.remove(at: place).isReplaced
    }

    /// The relationships of objects with unsaved changes that could not be read.
    var unsavedContents: [(owner: NSManagedObject, number: Int)] {
        contents.removeAll { $0.owner == nil }
        return contents.compactMap { entry in
            guard let owner = entry.owner, !owner.flags.isDisjoint(with: .unsaved) else { return nil }
            return (owner, entry.number)
        }
    }

    // MARK: Forgetting

    /// The object's changes are dropped.
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
