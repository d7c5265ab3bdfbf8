import Foundation

/// Accessors of generated classes, and of `@Managed` properties. The name is a literal, whose place in an object is
/// looked up once per entity.
extension NSManagedObject {
    /// The property of that name. An unset scalar reads as 0, `false` or an empty text.
    ///
    /// - Precondition: The object's entity has a property of that name and a matching type.
    public final subscript<Value: ManagedPropertyValue>(managed name: StaticString) -> Value {
        @inlinable get {
            if let value = Value.readyValue(of: self, ManagedProperty(name)) { return value }
            return Value.managedValue(of: self, at: ManagedPlaces.place(of: name, in: self))
        }
        @inlinable set { Value.setManagedValue(newValue, of: self, at: ManagedPlaces.place(of: name, in: self)) }
    }

    /// The property of that name as any type to which its value can be cast: values of transformers, composites, and
    /// the results of a fetched property. `nil` if the value is unset or of another type.
    ///
    /// - Precondition: The object's entity has a property of that name.
    public final subscript<Value>(casting name: StaticString) -> Value? {
        get { value(forKey: "\(name)") as? Value }
        set { setValue(newValue, forKey: "\(name)") }
    }

    /// The members of the to-many relationship of that name, to be changed.
    ///
    /// - Precondition: The object's entity has a to-many relationship of that name.
    public final subscript(members name: StaticString) -> ManagedMembers {
        guard case .toMany(let number) = ManagedPlaces.place(of: name, in: self).place else {
            preconditionFailure("The property '\(name)' of '\(entity.name ?? "")' is not a to-many relationship.")
        }
        return ManagedMembers(owner: self, number: number)
    }
}

/// The members of an object's to-many relationship, as changed by the accessors of generated classes. Each change also
/// sets the inverse relationship of the members.
///
/// Adding to a relationship whose inverse is to-one does not read its members from the store.
public struct ManagedMembers {
    let owner: NSManagedObject
    let number: Int

    private var name: String { owner.layout.toManyRelationships[number].name }
    private var contents: [NSManagedObject] { owner.toManyTargets(number) }

    /// Adds a member, at the end of an ordered relationship. Does nothing if it already is a member.
    public func add(_ member: NSManagedObject) { InverseUpkeep.add(member, to: owner, number: number) }

    /// Removes a member. Does nothing if it is not a member.
    public func remove(_ member: NSManagedObject) { InverseUpkeep.remove(member, from: owner, number: number) }

    /// Adds members.
    public func add(_ members: NSSet) { for member in objects(members) { add(member) } }

    /// Adds members in their order.
    public func add(_ members: NSOrderedSet) { for member in objects(members) { add(member) } }

    /// Removes members.
    public func remove(_ members: NSSet) { for member in objects(members) { remove(member) } }

    /// Removes members.
    public func remove(_ members: NSOrderedSet) { for member in objects(members) { remove(member) } }

    /// Adds members in the order of the sequence.
    public func add<Members: Sequence>(_ members: Members) where Members.Element: NSManagedObject {
        for member in members { add(member) }
    }

    /// Removes members.
    public func remove<Members: Sequence>(_ members: Members) where Members.Element: NSManagedObject {
        for member in members { remove(member) }
    }

    private func objects(_ members: Any) -> [NSManagedObject] { KeyValueAccess.destinations(members, of: owner, name) }

    // MARK: By index

    /// Inserts a member at an index of an ordered relationship. Does nothing if it already is a member.
    ///
    /// - Precondition: `index` is at most the number of members.
    public func insert(_ member: NSManagedObject, at index: Int) {
        require(index, below: contents.count + 1)
        InverseUpkeep.add(member, to: owner, number: number, at: index)
    }

    /// Removes the member at an index of an ordered relationship.
    public func remove(at index: Int) {
        require(index, below: contents.count)
        remove(contents[index])
    }

    /// Inserts members so that each has its index afterwards.
    ///
    /// - Precondition: There are as many indexes as members, and they leave no gap.
    public func insert(_ members: [NSManagedObject], at indexes: NSIndexSet) {
        let positions = positions(indexes, for: members)
        for (member, index) in zip(members, positions) { insert(member, at: index) }
    }

    /// Removes the members at the indexes.
    public func remove(at indexes: NSIndexSet) {
        let contents = contents
        let gone = indexes.map { index in
            require(index, below: contents.count)
            return contents[index]
        }
        for member in gone { remove(member) }
    }

    /// Inserts members so that each has its index afterwards.
    ///
    /// - Precondition: There are as many indexes as members, and they leave no gap.
    public func insert(_ members: [NSManagedObject], at indexes: IndexSet) {
        insert(members, at: NSIndexSet(indexSet: indexes))
    }

    /// Removes the members at the indexes.
    public func remove(at indexes: IndexSet) { remove(at: NSIndexSet(indexSet: indexes)) }

    /// Replaces the members at the indexes.
    ///
    /// - Precondition: There are as many indexes as members.
    public func replace(at indexes: IndexSet, with members: [NSManagedObject]) {
        replace(at: NSIndexSet(indexSet: indexes), with: members)
    }

    /// Replaces the member at an index.
    public func replace(at index: Int, with member: NSManagedObject) {
        replace(at: NSIndexSet(index: index), with: [member])
    }

    /// Replaces the members at the indexes.
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
            "The relationship '\(name)' is not ordered, so it has no indexes.")
        precondition(
            (0..<limit).contains(index),
            "Index \(index) is beyond the bounds of '\(name)' of '\(owner.objectID)', which has \(contents.count) members."
        )
    }
}
