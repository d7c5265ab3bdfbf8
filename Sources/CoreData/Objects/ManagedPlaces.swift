import Synchronization

/// From a property of a class and an entity to the property's place: a few nanoseconds once it is known.
///
/// The key path of an `@Managed` property is one object for the whole life of the program, and the name that a generated
/// accessor gives is one literal in it, so their addresses are the keys. The table is read without a lock: it is never
/// changed, but replaced by a larger copy; the old copies, each half as large, stay allocated.
@usableFromInline
enum ManagedPlaces {
    private struct Entry {
        /// The address of a key path or of a name; 0 where the entry is free.
        var property: UInt = 0
        var layout: UInt = 0
        var place: EntityLayout.Place = .attribute(0)
    }

    private final class Table: @unchecked Sendable {
        let mask: Int
        let entries: UnsafeMutablePointer<Entry>
        var count = 0

        init(capacity: Int) {
            mask = capacity - 1
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: Entry(), count: capacity)
        }

        func index(of property: UInt, _ layout: UInt) -> Int {
            // Names lie close to each other, layouts do not: the product spreads both over the upper half.
            let mixed = (property &+ layout >> 4) &* 0x9E37_79B9_7F4A_7C15
            var index = Int(truncatingIfNeeded: mixed >> 32) & mask
            while entries[index].property != 0, entries[index].property != property || entries[index].layout != layout {
                index = (index + 1) & mask
            }
            return index
        }
    }

    /// The address of the table in use; 0 before there is one, so that it needs no look whether it was made.
    private static let current = Atomic<UInt>(0)
    /// Guards replacing the table; holds what has to stay alive for the addresses to stay unique.
    private static let known = Mutex<(keyPaths: [AnyKeyPath], layouts: [EntityLayout], count: Int)>(([], [], 0))

    /// The table in use. It is never released, so nobody has to retain it.
    private static var table: Unmanaged<Table>? {
        UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)).map(Unmanaged<Table>.fromOpaque)
    }

    private static func address(_ table: Table) -> UInt { UInt(bitPattern: Unmanaged.passRetained(table).toOpaque()) }

    /// The place of an `@Managed` property by the key path of its storage.
    @usableFromInline
    static func place(of keyPath: AnyKeyPath, in object: NSManagedObject) -> ManagedPlace {
        let property = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
        if let known = knownPlace(property, object.layout) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, keeping: keyPath, name: propertyName(of: keyPath)))
    }

    /// The place of a property by its name, which stands in the program's text.
    @usableFromInline
    static func place(of name: StaticString, in object: NSManagedObject) -> ManagedPlace {
        let property = UInt(bitPattern: name.utf8Start)
        if let known = knownPlace(property, object.layout) { return ManagedPlace(place: known) }
        return ManagedPlace(place: look(property, of: object, keeping: nil, name: "\(name)"))
    }

    @inline(__always)
    private static func knownPlace(_ property: UInt, _ layout: EntityLayout) -> EntityLayout.Place? {
        let entity = UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque())
        return table?._withUnsafeGuaranteedRef { table in
            let entry = table.entries + table.index(of: property, entity)
            return entry.pointee.property == property ? entry.pointee.place : nil
        }
    }

    /// Looks a property up by its name, and remembers where it is.
    ///
    /// While the use of queues is checked nothing is remembered: then every access comes here, and one that is not checked
    /// pays nothing for it.
    @inline(never)
    private static func look(
        _ property: UInt, of object: NSManagedObject, keeping keyPath: AnyKeyPath?, name: String
    ) -> EntityLayout.Place {
        guard let place = object.layout.place(of: name) else {
            preconditionFailure("The entity '\(object.layout.entity.name ?? "")' has no property named '\(name)'.")
        }
        if ConcurrencyChecking.isOn {
            object.managedObjectContext?.requireQueue("accessing '\(name)' of '\(object.objectID)'")
        } else {
            remember(property, object.layout, keeping: keyPath, place)
        }
        return place
    }

    private static func remember(
        _ property: UInt, _ layout: EntityLayout, keeping keyPath: AnyKeyPath?, _ place: EntityLayout.Place
    ) {
        let entity = UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque())
        known.withLock { known in
            let old = table?.takeUnretainedValue() ?? Table(capacity: 64)
            let larger = Table(capacity: old.count * 2 < old.mask ? old.mask + 1 : (old.mask + 1) * 2)
            for index in 0...old.mask where old.entries[index].property != 0 {
                let entry = old.entries[index]
                larger.entries[larger.index(of: entry.property, entry.layout)] = entry
            }
            let index = larger.index(of: property, entity)
            if larger.entries[index].property == 0 {
                if let keyPath { known.keyPaths.append(keyPath) }
                known.layouts.append(layout)
                known.count += 1
            }
            larger.entries[index] = Entry(property: property, layout: entity, place: place)
            larger.count = known.count
            current.store(address(larger), ordering: .releasing)
        }
    }

    /// The name of a wrapped property: the storage's key path prints as `\Team._teamName`.
    private static func propertyName(of keyPath: AnyKeyPath) -> String {
        let text = "\(keyPath)"
        let last = text.split(separator: ".").last.map(String.init) ?? text
        return last.hasPrefix("_") ? String(last.dropFirst()) : last
    }
}
