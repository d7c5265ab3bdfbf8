/// A property of a hand-written subclass of `NSManagedObject` that stands for the property of the model with its name, as
/// `@NSManaged` does at Apple's: in the class or in extensions of it, with any access.
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
/// It expands to the accessors of generated classes, which go straight to the object's slots: no look-up by name, no boxes
/// for numbers, no storage. A scalar that is not optional reads as 0, `false`, an empty text or collection while the value is
/// unset; an enumeration as the case of that raw value. A type that the framework does not know reads and writes what
/// `value(forKey:)` gives and `setValue(_:forKey:)` takes: values of transformers, protocols, `Any`.
///
/// A variable `primitive<Key>` stands for the primitive value of the property, without hooks: no fault is fired, and no
/// change is announced. The key is found with a small first letter, or with a capital.
///
/// - Precondition: The object's entity has a property of that name, whose type fits. A property that is not optional and
///   neither a number, text, date nor collection has a value when it is read.
/// - Note: Methods that change a to-many relationship take ``ManagedMethod()``.
@attached(accessor)
public macro Managed() = #externalMacro(module: "ManagedMacros", type: "Managed")

/// A method of a hand-written subclass of `NSManagedObject` that changes a to-many relationship, whose body is made from its
/// name, as `@NSManaged` does at Apple's.
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
/// The names that Objective-C has for the same (`addPlayersObject(_:)`, `addPlayers(_:)`, `removePlayersObject(_:)`,
/// `insertObject(_:inRankingAtIndex:)`, `removeObjectFromRankingAtIndex(_:)`, …) are known too. The inverse relationship of
/// each member changes along; indexes are those of ``ManagedMembers``.
///
/// - Precondition: The object's entity has a to-many relationship of the name that the method's name holds, with a small
///   first letter or as it stands there; methods with an index need an ordered one.
@attached(body)
public macro ManagedMethod() = #externalMacro(module: "ManagedMacros", type: "ManagedMethod")

/// Where a property lives in an object.
public struct ManagedPlace {
    let place: EntityLayout.Place
}
