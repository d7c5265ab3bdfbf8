import Synchronization

/// From the key path of an `@Managed` property and an entity to the property's place: a few nanoseconds once it is known.
///
/// The key path of a stored property is one object for the whole life of the program, so its address is the key. The table
/// is read without a lock: it is never changed, but replaced by a larger copy; the old copies, each half as large, stay
/// allocated.
@usableFromInline
enum ManagedPlaces {
    private struct Entry {
        var keyPath: UInt = 0
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

        func index(of keyPath: UInt, _ layout: UInt) -> Int {
            var index = Int(truncatingIfNeeded: (keyPath >> 4) &* 31 &+ (layout >> 4) &* 17) & mask
            while entries[index].keyPath != 0, entries[index].keyPath != keyPath || entries[index].layout != layout {
                index = (index + 1) & mask
            }
            return index
        }
    }

    /// The address of the table in use.
    private static let current = Atomic<UInt>(address(Table(capacity: 64)))
    /// Guards replacing the table; holds what has to stay alive for the addresses to stay unique.
    private static let known = Mutex<(keyPaths: [AnyKeyPath], layouts: [EntityLayout])>(([], []))

    /// The table in use. It is never released, so nobody has to retain it.
    private static var table: Unmanaged<Table> {
        // The address is never 0.
        Unmanaged<Table>.fromOpaque(UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring))!)
    }

    private static func address(_ table: Table) -> UInt { UInt(bitPattern: Unmanaged.passRetained(table).toOpaque()) }

    @usableFromInline
    static func place(of keyPath: AnyKeyPath, in object: NSManagedObject) -> ManagedPlace {
        let key = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
        let entity = UInt(bitPattern: Unmanaged.passUnretained(object.layout).toOpaque())
        let known: EntityLayout.Place? = table._withUnsafeGuaranteedRef { table in
            let entry = table.entries + table.index(of: key, entity)
            return entry.pointee.keyPath == key ? entry.pointee.place : nil
        }
        return ManagedPlace(place: known ?? find(keyPath, object.layout, key, entity))
    }

    @inline(never)
    private static func find(
        _ keyPath: AnyKeyPath, _ layout: EntityLayout, _ key: UInt, _ entity: UInt
    ) -> EntityLayout.Place {
        let name = propertyName(of: keyPath)
        guard let place = layout.place(of: name) else {
            preconditionFailure("The entity '\(layout.entity.name ?? "")' has no property named '\(name)'.")
        }
        known.withLock { known in
            let old = table.takeUnretainedValue()
            let larger = Table(capacity: old.count * 2 < old.mask ? old.mask + 1 : (old.mask + 1) * 2)
            for index in 0...old.mask where old.entries[index].keyPath != 0 {
                let entry = old.entries[index]
                larger.entries[larger.index(of: entry.keyPath, entry.layout)] = entry
            }
            let index = larger.index(of: key, entity)
            if larger.entries[index].keyPath == 0 {
                known.keyPaths.append(keyPath)
                known.layouts.append(layout)
            }
            larger.entries[index] = Entry(keyPath: key, layout: entity, place: place)
            larger.count = known.keyPaths.count
            current.store(address(larger), ordering: .releasing)
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
