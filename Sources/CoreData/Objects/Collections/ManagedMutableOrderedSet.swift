import Foundation

/// The result of `mutableOrderedSetValue(forKey:)`: an ordered set whose changes change the relationship and its
/// inverse.
///
/// Foundation's class reads from a storage that a subclass cannot replace, so this storage is a copy. It is updated
/// before each change and each read that a subclass can override, and copied to the relationship after a change.
final class ManagedMutableOrderedSet: NSMutableOrderedSet {
    private var owner: NSManagedObject?
    private var number = 0
    /// Foundation implements some changes by calling others: only the outermost call is forwarded.
    private var depth = 0
    /// The members that were copied last.
    private var known: [NSManagedObject] = []

    required override init(capacity numItems: Int) { super.init(capacity: numItems) }

    required init?(coder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) { super.init(capacity: 0) }

    static func make(_ owner: NSManagedObject, _ number: Int) -> ManagedMutableOrderedSet {
        let set = ManagedMutableOrderedSet(capacity: 0)
        set.number = number
        set.owner = owner
        set.read {}
        return set
    }

    private func change(_ body: () -> Void) {
        guard let owner, depth == 0 else { return body() }
        depth += 1
        bringUpToDate(owner)
        body()
        InverseUpkeep.replace(array.compactMap { $0 as? NSManagedObject }, of: owner, number: number)
        bringUpToDate(owner)
        depth -= 1
    }

    private func read<Result>(_ body: () -> Result) -> Result {
        guard let owner, depth == 0 else { return body() }
        depth += 1
        defer { depth -= 1 }
        bringUpToDate(owner)
        return body()
    }

    private func bringUpToDate(_ owner: NSManagedObject) {
        let members = owner.toManyTargets(number)
        // Usually nothing has changed, and the array is the same instance.
        if members.isSame(as: known) { return }
        known = members
        guard !members.elementsEqual(array, by: { $0 === $1 as AnyObject }) else { return }
        super.removeAllObjects()
        for (index, member) in members.enumerated() { super.insert(member, at: index) }
    }

    override var count: Int { read { super.count } }
    override func object(at idx: Int) -> Any { read { super.object(at: idx) } }
    override func index(of object: Any) -> Int { read { super.index(of: object) } }
    override func contains(_ object: Any) -> Bool { read { super.contains(object) } }

    override func insert(_ object: Any, at idx: Int) { change { super.insert(object, at: idx) } }
    override func insert(_ objects: [Any], at indexes: IndexSet) { change { super.insert(objects, at: indexes) } }
    override func add(_ object: Any) { change { super.add(object) } }
    override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }
    override func setObject(_ obj: Any, at idx: Int) { change { super.setObject(obj, at: idx) } }
    override func replaceObject(at idx: Int, with obj: Any) { change { super.replaceObject(at: idx, with: obj) } }
    override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
        change { super.replaceObjects(at: indexes, with: objects) }
    }
    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        change { super.exchangeObject(at: idx1, withObjectAt: idx2) }
    }
    override func moveObjects(at indexes: IndexSet, to idx: Int) { change { super.moveObjects(at: indexes, to: idx) } }
    override func removeObject(at idx: Int) { change { super.removeObject(at: idx) } }
    override func remove(_ object: Any) { change { super.remove(object) } }
    override func removeObjects(in range: NSRange) { change { super.removeObjects(in: range) } }
    override func removeObjects(at indexes: IndexSet) { change { super.removeObjects(at: indexes) } }
    override func removeObjects(in array: [Any]) { change { super.removeObjects(in: array) } }
    override func removeAllObjects() { change { super.removeAllObjects() } }
    override func intersect(_ other: NSOrderedSet) { change { super.intersect(other) } }
    override func minus(_ other: NSOrderedSet) { change { super.minus(other) } }
    override func union(_ other: NSOrderedSet) { change { super.union(other) } }
    override func intersectSet(_ other: Set<AnyHashable>) { change { super.intersectSet(other) } }
    override func minusSet(_ other: Set<AnyHashable>) { change { super.minusSet(other) } }
    override func unionSet(_ other: Set<AnyHashable>) { change { super.unionSet(other) } }
    override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) { change { super.sort(comparator: cmptr) } }
    override func sortRange(
        _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
    ) {
        change { super.sortRange(range, options: opts, usingComparator: cmptr) }
    }
    override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult) {
        change { super.sort(options: opts, usingComparator: cmptr) }
    }
}
