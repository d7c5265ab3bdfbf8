/// Accessors for a property of a hand-written subclass of `NSManagedObject`, like Apple's `@NSManaged`. It has the
/// name of a property of the model, and may be in the class or an extension of it, with any access level.
///
/// ```swift
/// extension Team {
///     @Managed public var name: String?
///     @Managed public var wins: Int32
///     @Managed public var kind: Kind               // an enumeration whose raw values are attributes' values
///     @Managed public var coach: Coach?
///     @Managed public var players: NSSet?          // or Set<Player>, NSOrderedSet?, [Player]
///     @Managed private var primitiveName: String?  // reads and writes the primitive value of `name`
/// }
/// ```
///
/// Expands to the accessors of generated classes, which access the object's slots directly: no look-up by name, no
/// boxed numbers, no storage. While the value is unset, a non-optional scalar reads as 0, `false`, an empty text or an
/// empty collection, and an enumeration as the case of that raw value. A property of a type unknown to the framework
/// uses `value(forKey:)` and `setValue(_:forKey:)`: values of transformers, protocols, `Any`.
///
/// A variable `primitive<Key>` accesses the primitive value of the property without hooks: no fault is fired, and no
/// notification sent. The key may begin with a lower-case or an upper-case letter.
///
/// - Precondition: The object's entity has a property of that name and a matching type. A property that is not
///   optional, and not a number, text, date or collection, has a value when it is read.
/// - Note: Methods that change a to-many relationship take ``ManagedMethod()``.
@attached(accessor)
public macro Managed() = #externalMacro(module: "ManagedMacros", type: "Managed")

/// The body of a method that changes a to-many relationship of a hand-written subclass of `NSManagedObject`, derived
/// from the method's name, like Apple's `@NSManaged`.
///
/// ```swift
/// extension Team {
///     @ManagedMethod public func addToPlayers(_ value: Player)
///     @ManagedMethod public func removeFromPlayers(_ values: NSSet)          // or Set<Player>, [Player], NSOrderedSet
///     @ManagedMethod public func insertIntoRanking(_ value: Player, at idx: Int)
///     @ManagedMethod public func insertIntoRanking(_ values: [Player], at indexes: NSIndexSet)
///     @ManagedMethod public func removeFromRanking(at idx: Int)
///     @ManagedMethod public func replaceRanking(at idx: Int, with value: Player)
/// }
/// ```
///
/// The Objective-C names of these methods (`addPlayersObject(_:)`, `addPlayers(_:)`, `removePlayersObject(_:)`,
/// `insertObject(_:inRankingAtIndex:)`, `removeObjectFromRankingAtIndex(_:)`, …) work too. The method also sets the
/// inverse relationship of each member; it uses indexes as ``ManagedMembers`` does.
///
/// - Precondition: The object's entity has the to-many relationship that the method's name contains, beginning with a
///   lower-case letter or exactly as in the name. Methods with an index need an ordered relationship.
@attached(body)
public macro ManagedMethod() = #externalMacro(module: "ManagedMacros", type: "ManagedMethod")

/// The slot or relationship number of a property.
public struct ManagedPlace {
    let place: EntityLayout.Place
}
