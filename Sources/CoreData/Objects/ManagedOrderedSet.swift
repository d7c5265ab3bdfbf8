import Foundation

/// An ordered to-many relationship as an `NSOrderedSet`: it reads the destinations when they are wanted, and follows
/// changes.
final class ManagedOrderedSet: NSOrderedSet {
    private let owner: NSManagedObject
    private let number: Int

    private init(_ owner: NSManagedObject, _ number: Int) {
        self.owner = owner
        self.number = number
        super.init(objects: nil, count: 0)
    }

    required init?(coder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) { preconditionFailure("A relationship's set has an owner.") }

    static func make(_ owner: NSManagedObject, _ number: Int) -> ManagedOrderedSet { ManagedOrderedSet(owner, number) }

    private var members: [NSManagedObject] { owner.toManyTargets(number) }

    override var count: Int { owner.loadedToManyState(number).count }

    override func object(at idx: Int) -> Any { members[idx] }

    override func index(of object: Any) -> Int { members.index(of: object) }

    override func contains(_ object: Any) -> Bool {
        guard let object = object as? NSManagedObject else { return false }
        return owner.loadedToManyState(number).contains(object)
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
}

/// The same for `mutableOrderedSetValue(forKey:)`: changes are changes of the relationship and its inverse.
final class ManagedMutableOrderedSet: NSMutableOrderedSet {
    private var owner: NSManagedObject?
    private var number = 0

    required override init(capacity numItems: Int) { super.init(capacity: 0) }

    required init?(coder: NSCoder) { nil }

    required init(arrayLiteral elements: Any...) { preconditionFailure("A relationship's set has an owner.") }

    static func make(_ owner: NSManagedObject, _ number: Int) -> ManagedMutableOrderedSet {
        let set = ManagedMutableOrderedSet(capacity: 0)
        set.owner = owner
        set.number = number
        return set
    }

    private var members: [NSManagedObject] { owner?.toManyTargets(number) ?? [] }

    override var count: Int { owner?.loadedToManyState(number).count ?? 0 }

    override func object(at idx: Int) -> Any { members[idx] }

    override func index(of object: Any) -> Int { members.index(of: object) }

    override func contains(_ object: Any) -> Bool {
        guard let object = object as? NSManagedObject, let owner else { return false }
        return owner.loadedToManyState(number).contains(object)
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }

    override func insert(_ object: Any, at idx: Int) {
        guard let owner, let object = object as? NSManagedObject else { return }
        InverseUpkeep.add(object, to: owner, number: number, at: idx)
    }

    override func removeObject(at idx: Int) {
        guard let owner else { return }
        InverseUpkeep.remove(members[idx], from: owner, number: number)
    }

    override func replaceObject(at idx: Int, with obj: Any) {
        guard let owner, let object = obj as? NSManagedObject else { return }
        var wanted = members
        wanted[idx] = object
        InverseUpkeep.replace(wanted, of: owner, number: number)
    }

    override func add(_ object: Any) {
        guard let owner, let object = object as? NSManagedObject else { return }
        InverseUpkeep.add(object, to: owner, number: number)
    }

    override func remove(_ object: Any) {
        guard let owner, let object = object as? NSManagedObject else { return }
        InverseUpkeep.remove(object, from: owner, number: number)
    }

    override func removeAllObjects() {
        guard let owner else { return }
        InverseUpkeep.replace([], of: owner, number: number)
    }

    override func addObjects(from array: [Any]) { for object in array { add(object) } }

    override func moveObjects(at indexes: IndexSet, to idx: Int) {
        guard let owner else { return }
        let current = members
        let moved = indexes.map { current[$0] }
        var rest = current.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
        rest.insert(contentsOf: moved, at: Swift.min(idx, rest.count))
        InverseUpkeep.replace(rest, of: owner, number: number)
    }

    override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
        guard let owner else { return }
        var wanted = members
        wanted.swapAt(idx1, idx2)
        InverseUpkeep.replace(wanted, of: owner, number: number)
    }
}

extension [NSManagedObject] {
    /// The position of an object, or `NSNotFound`.
    fileprivate func index(of object: Any) -> Int {
        guard let object = object as? NSManagedObject else { return NSNotFound }
        return firstIndex { $0 === object } ?? NSNotFound
    }
}
