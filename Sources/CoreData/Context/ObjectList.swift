/// A set of managed objects that keeps the order in which they came, without hashing: membership is a flag of the object.
///
/// Each list of a context has its own flag. An object that left stays in the array until the list is emptied, so that
/// adding and removing are O(1) and a later return keeps its old place. One that left the context may have come into the
/// same list of another: its flags speak of that one then.
struct ObjectList {
    private var members: [NSManagedObject] = []
    private(set) var count = 0
    private let flag: ObjectFlags
    private let context: Unmanaged<NSManagedObjectContext>

    init(flag: ObjectFlags, context: Unmanaged<NSManagedObjectContext>) {
        self.flag = flag
        self.context = context
    }

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

    /// Forgets where those stood who left.
    mutating func forgetPlaces() { if count < members.count { compact() } }

    private mutating func compact() {
        let members = self.members
        self.members = all
        for object in members where !object.flags.contains(flag) && object.isRegistered(in: context) {
            object.flags.remove(flag.listed)
        }
    }

    @inline(__always)
    private func isMember(_ object: NSManagedObject) -> Bool {
        object.flags.contains(flag) && object.isRegistered(in: context)
    }

    /// The members, in the order in which they came.
    var all: [NSManagedObject] { count == members.count ? members : members.filter(isMember) }

    var set: Set<NSManagedObject> { Set(all) }

    /// Empties the list and gives what was in it.
    @discardableResult
    mutating func takeAll() -> [NSManagedObject] {
        let taken = all
        let cleared = flag.union(flag.listed)
        for object in members where object.isRegistered(in: context) { object.flags.subtract(cleared) }
        members = []
        count = 0
        return taken
    }
}

extension Array {
    /// The elements that satisfy `isKept`: the array itself, not copied, where all do.
    func keeping(_ isKept: (Element) -> Bool) -> [Element] { allSatisfy(isKept) ? self : filter(isKept) }
}
