/// From a property of a class and an object to the property's place: a few nanoseconds once it is known.
///
/// The name that an accessor gives is one literal for the whole life of the program, so its address is the key.
@usableFromInline
enum ManagedPlaces {
    /// The place of a property by its name, which stands in the program's text.
    @usableFromInline
    static func place(of name: StaticString, in object: NSManagedObject) -> ManagedPlace {
        let property = ManagedProperty(name)
        if let known = knownPlace(property, object) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, name: "\(name)"))
    }

    // SAFETY: the object's home stays while its queue, where this runs, is busy here.
    @inline(__always)
    private static func knownPlace(_ property: ManagedProperty, _ object: NSManagedObject) -> EntityLayout.Place? {
        object.home.with { $0.places[property.address] }
    }

    /// Looks a property up by its name, and remembers where it is.
    ///
    /// While uses off a queue stop the program nothing is remembered: then every access comes here, and one that is not checked
    /// pays nothing for it.
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

    /// `URLs` of `uRLs`: what a method's name holds may stand for either.
    private static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
