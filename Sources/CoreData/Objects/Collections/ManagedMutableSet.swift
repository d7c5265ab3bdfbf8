import Foundation

/// The result of `mutableSetValue(forKey:)`: a set whose changes change the relationship and its inverse, and whose
/// contents are always those of the relationship.
///
/// An enumeration returns the members as they were when it began. Foundation's cast of an `NSSet` to a Swift `Set`
/// ignores subclasses and returns an empty set: cast `value(forKey:)` or a copy instead.
final class ManagedMutableSet: NSMutableSet {
    private var owner: NSManagedObject?
    private var number = 0

    required init(capacity numItems: Int) { super.init(capacity: 0) }

    required init?(coder: NSCoder) { nil }

    static func make(_ owner: NSManagedObject, _ number: Int) -> ManagedMutableSet {
        let set = ManagedMutableSet(capacity: 0)
        set.owner = owner
        set.number = number
        return set
    }

    private var members: [NSManagedObject] { owner?.toManyTargets(number) ?? [] }

    override var count: Int { owner?.loadedToManyState(number).count ?? 0 }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, let owner else { return nil }
        return owner.loadedToManyState(number).contains(object) ? object : nil
    }

    override func objectEnumerator() -> NSEnumerator { ArrayEnumerator(members) }

    override var allObjects: [Any] { members }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members) }

    override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members) }

    override func add(_ object: Any) {
        guard let owner, let object = object as? NSManagedObject else { return }
        InverseUpkeep.add(object, to: owner, number: number)
    }

    override func remove(_ object: Any) {
        guard let owner, let object = object as? NSManagedObject else { return }
        InverseUpkeep.remove(object, from: owner, number: number)
    }

    override func addObjects(from array: [Any]) { for object in array { add(object) } }

    override func removeAllObjects() { for object in members { remove(object) } }

    override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }

    override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }

    override func intersect(_ otherSet: Set<AnyHashable>) {
        for object in members where !otherSet.contains(object) { remove(object) }
    }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        intersect(otherSet)
        union(otherSet)
    }
}

/// Enumerates the objects that were in a collection when the enumeration began.
final class ArrayEnumerator: NSEnumerator {
    private var iterator: IndexingIterator<[NSManagedObject]>

    init(_ objects: [NSManagedObject]) { iterator = objects.makeIterator() }

    override func nextObject() -> Any? { iterator.next() }
}
