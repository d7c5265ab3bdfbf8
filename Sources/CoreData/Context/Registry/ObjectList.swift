/// A set of managed objects that keeps the order in which they came, without hashing: membership is a flag of the object.
///
/// Each list of a context has its own flag. An object that left stays in the array until the list is emptied, so that
/// adding and removing are O(1) and a later return keeps its old place.
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

    /// Forgets all who left: they may come into the lists of another context.
    mutating func leaveNoTrace() { if count < members.count { compact() } }

    private mutating func compact() {
        for object in members where !object.flags.contains(flag) { object.flags.remove(flag.listed) }
        members.removeAll { !$0.flags.contains(flag) }
    }

    /// The members, in the order in which they came.
    var all: [NSManagedObject] { count == members.count ? members : members.filter { $0.flags.contains(flag) } }

    var set: Set<NSManagedObject> { Set(all) }

    /// Empties the list and gives what was in it.
    @discardableResult
    mutating func takeAll() -> [NSManagedObject] { takeAll { _ in } }

    /// Empties the list, calls `body` with each object that was in it, and gives these. One look at each object: memory that
    /// was not looked at for a while is cold in cache.
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

    /// What says that an object is in the list.
    var marks: ObjectFlags { flag.union(flag.listed) }

    /// Whether the list has exactly these objects, in that order: told by their array, not by a look at them.
    func isExactly(_ objects: [NSManagedObject]) -> Bool { count == members.count && members.isSame(as: objects) }

    /// Forgets the objects, whose marks the caller took away.
    mutating func drop(_ objects: [NSManagedObject]) {
        if members.isSame(as: objects) {
            members = []
            count = 0
        } else {
            // An observer of the first changes changed other objects.
            let (flag, marks) = (flag, marks)
            members.removeAll { $0.flags.isDisjoint(with: marks) }
            count = members.count { $0.flags.contains(flag) }
        }
    }
}
