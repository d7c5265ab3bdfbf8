/// The place of a property of a class in an object. Costs a few nanoseconds once it is known.
///
/// An accessor passes its name as the same literal for the life of the program, so the literal's address is the key.
@usableFromInline
enum ManagedPlaces {
    /// The place of a property by its name, which is a literal of the program.
    @usableFromInline
    static func place(of name: StaticString, in object: NSManagedObject) -> ManagedPlace {
        let property = ManagedProperty(name)
        if let known = knownPlace(property, object) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, name: "\(name)"))
    }

    // SAFETY: the object's home is not released while its queue runs this.
    @inline(__always)
    private static func knownPlace(_ property: ManagedProperty, _ object: NSManagedObject) -> EntityLayout.Place? {
        object.home.with { $0.places[property.address] }
    }

    /// Looks a property up by its name, and caches its place.
    ///
    /// Caches nothing if accesses off the queue have to stop the program: then each access is checked here, so that an
    /// access without checks has no extra cost.
    @inline(never)
    private static func look(
        _ property: ManagedProperty, of object: NSManagedObject, name: String
    ) -> EntityLayout.Place {
        guard let place = object.layout.place(of: name) ?? object.layout.place(of: capitalized(name)) else {
            preconditionFailure("The entity '\(object.layout.entity.name ?? "")' has no property named '\(name)'.")
        }
        if ConcurrencyChecking.isOn {
            object.managedObjectContext?.requireQueue("accessing '\(name)' of '\(object.objectID)'")
        }
        if !ConcurrencyChecking.stops {
            object.withTraits { $0.knownPlaces.remember(property.address, place) }
        }
        return place
    }

    /// Returns `URLs` for `uRLs`: a method's name may mean either.
    private static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
