/// From a property of a class and an object to the property's place: a few nanoseconds once it is known.
///
/// The key path of an `@Managed` property is one object for the whole life of the program, and the name that a generated
/// accessor gives is one literal in it, so their addresses are the keys.
@usableFromInline
enum ManagedPlaces {
    /// The place of an `@Managed` property by the key path of its storage.
    @usableFromInline
    static func place(of keyPath: AnyKeyPath, in object: NSManagedObject) -> ManagedPlace {
        let property = ManagedProperty(keyPath)
        if let known = knownPlace(property, object) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, keeping: keyPath, name: propertyName(of: keyPath)))
    }

    /// The place of a property by its name, which stands in the program's text.
    @usableFromInline
    static func place(of name: StaticString, in object: NSManagedObject) -> ManagedPlace {
        let property = ManagedProperty(name)
        if let known = knownPlace(property, object) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, keeping: nil, name: "\(name)"))
    }

    @inline(__always)
    private static func knownPlace(_ property: ManagedProperty, _ object: NSManagedObject) -> EntityLayout.Place? {
        object.home._withUnsafeGuaranteedRef { $0.places[property.address] }
    }

    /// Looks a property up by its name, and remembers where it is.
    ///
    /// While the use of queues is checked nothing is remembered: then every access comes here, and one that is not checked
    /// pays nothing for it.
    @inline(never)
    private static func look(
        _ property: ManagedProperty, of object: NSManagedObject, keeping keyPath: AnyKeyPath?, name: String
    ) -> EntityLayout.Place {
        guard let place = object.layout.place(of: name) else {
            preconditionFailure("The entity '\(object.layout.entity.name ?? "")' has no property named '\(name)'.")
        }
        if ConcurrencyChecking.isOn {
            object.managedObjectContext?.requireQueue("accessing '\(name)' of '\(object.objectID)'")
        } else {
            object.withTraits { $0.knownPlaces.remember(property.address, place, keeping: keyPath) }
        }
        return place
    }

    /// The name of a wrapped property: the storage's key path prints as `\Team._teamName`.
    private static func propertyName(of keyPath: AnyKeyPath) -> String {
        let text = "\(keyPath)"
        let last = text.split(separator: ".").last.map(String.init) ?? text
        return last.hasPrefix("_") ? String(last.dropFirst()) : last
    }
}
