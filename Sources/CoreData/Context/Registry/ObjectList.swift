/// A set of managed objects in insertion order, without hashing: membership is a flag of the object.
///
/// Each list of a context has its own flag. A removed object stays in the array until the list is compacted, so adding
/// and removing are O(1), and an object that is added again keeps its position.
struct ObjectList {
    private var members: [NSManagedObject] = []
    private(set) var count = 0
    private let flag: ObjectFlags

    init(flag: ObjectFlags) { self.flag = flag }

    var isEmpty: Bool { count == 0 }

    mutating func add(_ object: NSManagedObject) {
        guard !object.flags.contains(flag) else { return }
        object.flags.insert(flag)
        count += 1
        guard !object.flags.contains(flag.listed) else { return }
        object.flags.insert(flag.listed)
        members.append(object)
    }

    mutating func remove(_ object: NSManagedObject) {
        guard object.flags.contains(flag) else { return }
        object.flags.remove(flag)
        count -= 1
        if count == 0 || (members.count > 64 && count < members.count / 2) { compact() }
    }

    /// Drops removed objects from the array: they may be added to the lists of another context.
    mutating func leaveNoTrace() { if count < members.count { compact() } }

    private mutating func compact() {
        for object in members where !object.flags.contains(flag) { object.flags.remove(flag.listed) }
        members.removeAll { !$0.flags.contains(flag) }
    }

    /// The members, in insertion order.
    var all: [NSManagedObject] { count == members.count ? members : members.filter { $0.flags.contains(flag) } }

    var set: Set<NSManagedObject> { Set(all) }

    /// Empties the list and returns its members.
    @discardableResult
    mutating func takeAll() -> [NSManagedObject] { takeAll { _ in } }

    /// Empties the list, calls `body` with each member, and returns the members. Visits each object once, because
    /// memory that was not used for a while is not in the cache.
    @inline(__always)
    mutating func takeAll(_ body: (NSManagedObject) -> Void) -> [NSManagedObject] {
        let taken = all
        let marks = marks
        members.forEachHeld { object in
            let isMember = object.flags.contains(flag)
            object.flags.subtract(marks)
            if isMember { body(object) }
        }
        members = []
        count = 0
        return taken
    }

    /// The flags of a member of the list.
    var marks: ObjectFlags { flag.union(flag.listed) }

    /// True if the list has exactly these objects, in that order. Compares the arrays' storage, not the objects.
    func isExactly(_ objects: [NSManagedObject]) -> Bool { count == members.count && members.isSame(as: objects) }

    /// Drops the objects, whose marks the caller has removed.
    mutating func drop(_ objects: [NSManagedObject]) {
        if members.isSame(as: objects) {
            members = []
            count = 0
        } else {
            // The list also has objects that an observer changed while the first changes were posted. They stay.
            let (flag, marks) = (flag, marks)
            members.removeAll { $0.flags.isDisjoint(with: marks) }
            count = members.count { $0.flags.contains(flag) }
        }
    }
}
