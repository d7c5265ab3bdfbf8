import Synchronization

/// A record of reads from the objects on which key paths are evaluated.
///
/// These objects are flagged as observed although they have no observer, so that their accessors report reads here.
enum SampleReads {
    struct Read: Sendable {
        let place: EntityLayout.Place
        /// The type of the accessor; `nil` for a read by key, or of members.
        let type: (any Any.Type)?
    }

    private static let noted = Mutex<[ObjectIdentifier: [Read]]>([:])

    /// Begins to record reads of objects without a context.
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
