import Synchronization

/// What is read of objects while key paths are tried out on them.
///
/// Such an object counts as observed, by no observer: its accessors tell what they read then, as those of other objects do not.
enum SampleReads {
    struct Read: Sendable {
        let place: EntityLayout.Place
        /// That of the accessor; `nil` for a read by a key, or of members.
        let type: (any Any.Type)?
    }

    private static let noted = Mutex<[ObjectIdentifier: [Read]]>([:])

    /// Notes the reads of objects, which are in no context, from now on.
    static func record(of objects: [NSManagedObject]) {
        noted.withLock { noted in for object in objects { noted[ObjectIdentifier(object)] = [] } }
        for object in objects { object.flags.insert(.observed) }
    }

    static func forget(_ objects: [NSManagedObject]) {
        noted.withLock { noted in for object in objects { noted[ObjectIdentifier(object)] = nil } }
    }

    static func reads(of object: NSManagedObject) -> [Read] { noted.withLock { $0[ObjectIdentifier(object)] ?? [] } }

    static func note(_ object: NSManagedObject, _ place: EntityLayout.Place, as type: Any.Type?) {
        noted.withLock { $0[ObjectIdentifier(object)]?.append(Read(place: place, type: type)) }
    }
}
