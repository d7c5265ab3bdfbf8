import Foundation

/// How classes that are generated from a model reach their properties. The name is a literal, whose place in an object is
/// looked up once for each entity. What `@Managed` expands to is the same.
extension NSManagedObject {
    /// The property of that name. A scalar reads as 0, `false` or an empty text while the value is unset.
    ///
    /// - Precondition: The object's entity has a property of that name, whose type fits.
    public final subscript<Value: ManagedPropertyValue>(managed name: StaticString) -> Value {
        @inlinable get {
            if let value = Value.readyValue(of: self, ManagedProperty(name)) { return value }
            return Value.managedValue(of: self, at: ManagedPlaces.place(of: name, in: self))
        }
        @inlinable set { Value.setManagedValue(newValue, of: self, at: ManagedPlaces.place(of: name, in: self)) }
    }

    /// The property of that name as any type that its values can be cast to: values of transformers, composites, and the
    /// objects that a fetched property finds. `nil` where the value is unset or of another type.
    ///
    /// - Precondition: The object's entity has a property of that name.
    public final subscript<Value>(casting name: StaticString) -> Value? {
        get { value(forKey: "\(name)") as? Value }
        set { setValue(newValue, forKey: "\(name)") }
    }

    /// The members of the to-many relationship of that name, for changing them.
    ///
    /// - Precondition: The object's entity has a to-many relationship of that name.
    public final subscript(members name: StaticString) -> ManagedMembers {
        guard case .toMany(let number) = ManagedPlaces.place(of: name, in: self).place else {
            preconditionFailure("The property '\(name)' of '\(entity.name ?? "")' is not a to-many relationship.")
        }
        return ManagedMembers(owner: self, number: number)
    }
}

/// The members of a to-many relationship of one object, as the accessors of generated classes change them. The inverse
/// relationship of each member changes along.
///
/// Adding to a relationship whose inverse is a to-one relationship does not read its contents from the store.
public struct ManagedMembers {
    let owner: NSManagedObject
    let number: Int

    private var name: String { owner.layout.toManyRelationships[number].name }
    private var contents: [NSManagedObject] { owner.toManyTargets(number) }

    /// Adds a member, at the end of an ordered relationship; nothing happens if it is one already.
    public func add(_ member: NSManagedObject) { InverseUpkeep.add(member, to: owner, number: number) }

    /// Takes a member out; nothing happens if it is none.
    public func remove(_ member: NSManagedObject) { InverseUpkeep.remove(member, from: owner, number: number) }

    /// Adds members.
    public func add(_ members: NSSet) { for member in objects(members) { add(member) } }

    /// Adds members in their order.
    public func add(_ members: NSOrderedSet) { for member in objects(members) { add(member) } }

    /// Takes members out.
    public func remove(_ members: NSSet) { for member in objects(members) { remove(member) } }

    /// Takes members out.
    public func remove(_ members: NSOrderedSet) { for member in objects(members) { remove(member) } }

    /// Adds members, of an array in its order.
    public func add<Members: Sequence>(_ members: Members) where Members.Element: NSManagedObject {
        for member in members { add(member) }
    }

    /// Takes members out.
    public func remove<Members: Sequence>(_ members: Members) where Members.Element: NSManagedObject {
        for member in members { remove(member) }
    }

    private func objects(_ members: Any) -> [NSManagedObject] { KeyValueAccess.destinations(members, of: owner, name) }

    // MARK: By index

    /// Puts a member in at an index of an ordered relationship; nothing happens if it is a member already.
    ///
    /// - Precondition: `index` is at most the number of members.
    public func insert(_ member: NSManagedObject, at index: Int) {
        require(index, below: contents.count + 1)
        InverseUpkeep.add(member, to: owner, number: number, at: index)
    }

    /// Takes out the member at an index of an ordered relationship.
    public func remove(at index: Int) {
        require(index, below: contents.count)
        remove(contents[index])
    }

    /// Puts members in, so that each is at its index afterwards.
    ///
    /// - Precondition: There are as many indexes as members, and they leave no gap.
    public func insert(_ members: [NSManagedObject], at indexes: NSIndexSet) {
        let positions = positions(indexes, for: members)
        for (member, index) in zip(members, positions) { insert(member, at: index) }
    }

    /// Takes out the members at the indexes.
    public func remove(at indexes: NSIndexSet) {
        let contents = contents
        let gone = indexes.map { index in
            require(index, below: contents.count)
            return contents[index]
        }
        for member in gone { remove(member) }
    }

    /// Puts members in, so that each is at its index afterwards.
    ///
    /// - Precondition: There are as many indexes as members, and they leave no gap.
    public func insert(_ members: [NSManagedObject], at indexes: IndexSet) {
        insert(members, at: NSIndexSet(indexSet: indexes))
    }

    /// Takes out the members at the indexes.
    public func remove(at indexes: IndexSet) { remove(at: NSIndexSet(indexSet: indexes)) }

    /// Puts other members in the places of those at the indexes.
    ///
    /// - Precondition: There are as many indexes as members.
    public func replace(at indexes: IndexSet, with members: [NSManagedObject]) {
        replace(at: NSIndexSet(indexSet: indexes), with: members)
    }

    /// Puts another member in the place of the one at an index.
    public func replace(at index: Int, with member: NSManagedObject) {
        replace(at: NSIndexSet(index: index), with: [member])
    }

    /// Puts other members in the places of those at the indexes.
    ///
    /// - Precondition: There are as many indexes as members.
    public func replace(at indexes: NSIndexSet, with members: [NSManagedObject]) {
        var wanted = contents
        for (member, index) in zip(members, positions(indexes, for: members)) {
            require(index, below: wanted.count)
            wanted[index] = member
        }
        InverseUpkeep.replace(wanted, of: owner, number: number)
    }

    private func positions(_ indexes: NSIndexSet, for members: [NSManagedObject]) -> [Int] {
        precondition(
            indexes.count == members.count,
            "Count of objects (\(members.count)) does not match count of indexes (\(indexes.count)) of '\(name)'.")
        return indexes.map { $0 }
    }

    private func require(_ index: Int, below limit: Int) {
        precondition(
            owner.layout.toManyRelationships[number].isOrdered,
            "The relationship '\(name)' has no order, and no indexes.")
        precondition(
            (0..<limit).contains(index),
            "Index \(index) is beyond the bounds of '\(name)' of '\(owner.objectID)', which has \(contents.count) members."
        )
    }
}
