import Observation
import Synchronization

// Support for Swift's Observation. Code that reads a property inside `withObservationTracking` is notified before the
// property changes, be it by a setter, an undo, a merge, a refresh or a rollback.
//
// One registrar per object would cost memory, and no public API reports if the thread tracks its reads. So each context
// has one probe: a registrar on which every read accesses the same key path. Without tracking, that only reads a
// variable of the thread. With tracking, the key path is inserted into a set and therefore hashed, which the probe
// detects. The object that was read keeps the probe as its registrar, and the context creates a new probe.

/// Tracks reads of model properties by accessors, `@Managed`, `value(forKey:)` and `willAccessValue(forKey:)`.
extension NSManagedObject: Observable {
    /// Call this when a property is read: a reader that tracks its reads depends on the property from now on.
    ///
    /// - Parameter type: The type that the accessor reads, if there is one.
    // SAFETY: the object's home is not released while its queue runs this.
    @inline(__always)
    final func noteRead(_ place: EntityLayout.Place, as type: @autoclosure () -> Any.Type? = nil) {
        if flags.contains(.observed) { return ObservedObjects.noteRead(self, place, as: type()) }
        if home.with({ $0.isReadRecorded }) { ObservedObjects.begin(self, place) }
    }

    /// Runs `change`, which changes the property at `place`, and notifies its observers.
    @inline(__always) @discardableResult
    final func changing<Result>(_ place: EntityLayout.Place, _ change: () throws -> Result) rethrows -> Result {
        guard flags.contains(.observed) else { return try change() }
        let announced = ObservedObjects.willChange(self, [layout.name(of: place)])
        defer { announced.end() }
        return try change()
    }

    /// Notifies the observers of properties that are about to change. Call `end()` of the result after the change.
    ///
    /// - Parameter places: The properties, evaluated only if the object is observed.
    final func announcing(_ places: @autoclosure () -> [EntityLayout.Place]) -> AnnouncedChange? {
        guard flags.contains(.observed) else { return nil }
        return ObservedObjects.willChange(self, places().map(layout.name))
    }

    /// Notifies the observers of all properties of the object that they are about to change.
    final func announcingEverything() -> AnnouncedChange? { announcing(layout.allPlaces) }
}

extension ObjectHome {
    /// True if the thread tracks its reads of objects with this home. Releases nothing that other code sees, because
    /// functions that promise this call it (`ReadyValues`).
    // SAFETY: a home with a context has a live handle, which retains the probe; both are used on the context's queue.
    @inline(__always)
    var isReadRecorded: Bool {
        guard let context else { return false }
        return context.with { context in
            Unretained(context.readProbe).with { $0.isTracking }
        }
    }
}

extension EntityLayout {
    fileprivate var allPlaces: [Place] {
        slots.indices.map(place(ofSlot:)) + toManyRelationships.indices.map { .toMany($0) }
            + fetchedProperties.indices.map { .fetched($0) }
    }
}

/// A change of an observed object, between the notifications before and after it.
struct AnnouncedChange {
    fileprivate let object: NSManagedObject
    fileprivate let probe: ObservationProbe?
    fileprivate let keys: [String]

    /// Notifies the observers that the properties have their new values.
    func end() {
        for key in keys { probe?.registrar.didSet(object, keyPath: \NSManagedObject[key]) }
    }
}

/// The registrars of observed objects, kept until the objects are deallocated.
enum ObservedObjects {
    private static let probes = Mutex<[ObjectIdentifier: ObservationProbe]>([:])

    /// Begins observing an object at its first tracked read.
    @inline(never)
    static func begin(_ object: NSManagedObject, _ place: EntityLayout.Place) {
        guard let handle = object.contextReference else { return }
        let probe = handle.with(\.readProbe)
        handle.with { $0.readProbe = ObservationProbe() }
        object.flags.insert(.observed)
        probes.withLock { $0[ObjectIdentifier(object)] = probe }
        probe.registrar.access(object, keyPath: \NSManagedObject[object.layout.name(of: place)])
    }

    @inline(never)
    static func noteRead(_ object: NSManagedObject, _ place: EntityLayout.Place, as type: Any.Type?) {
        guard let probe = probe(of: object) else { return SampleReads.note(object, place, as: type) }
        guard probe.isTracking else { return }
        probe.registrar.access(object, keyPath: \NSManagedObject[object.layout.name(of: place)])
    }

    static func willChange(_ object: NSManagedObject, _ keys: [String]) -> AnnouncedChange {
        let probe = probe(of: object)
        for key in keys { probe?.registrar.willSet(object, keyPath: \NSManagedObject[key]) }
        return AnnouncedChange(object: object, probe: probe, keys: keys)
    }

    /// Ends a change that began with a call of `willChange` whose result was not kept.
    static func didChange(_ object: NSManagedObject, _ key: String) {
        AnnouncedChange(object: object, probe: probe(of: object), keys: [key]).end()
    }

    /// Removes the registrar of an object in its `deinit`, when no thread can read it any more.
    static func forget(_ object: NSManagedObject) {
        // Returned by the closure so that it is released outside of the lock.
        _ = probes.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) }
    }

    private static func probe(of object: NSManagedObject) -> ObservationProbe? {
        probes.withLock { $0[ObjectIdentifier(object)] }
    }
}

/// A registrar that reports if the thread tracks its reads.
// SAFETY: immutable pointers to an atomic mark and to a registrar that is safe on any thread.
// SAFETY: `init` creates the three objects pointed to, and only `deinit` releases them.
final class ObservationProbe: @unchecked Sendable {
    /// The root of the probe's key path.
    private struct Root: Observable {
        subscript(notice: HashNotice) -> Bool { false }
    }

    /// Hashing it sets the mark. It may outlive the probe, in the list of tracked reads.
    private struct HashNotice: Hashable {
        let mark: Mark

        static func == (left: HashNotice, right: HashNotice) -> Bool { left.mark === right.mark }
        func hash(into hasher: inout Hasher) { mark.isSet.store(true, ordering: .relaxed) }
    }

    private final class Mark: Sendable {
        let isSet = Atomic(false)
    }

    private struct Holder: ~Copyable {
        let registrar = ObservationRegistrar()

        @inline(__always)
        borrowing func show(_ keyPath: KeyPath<Root, Bool>) { registrar.access(Root(), keyPath: keyPath) }
    }

    // Each read of a property uses these, so they are references that are read without being retained.
    private let holder: UnsafeMutablePointer<Holder>
    private let mark: Unretained<Mark>
    private let keyPath: Unretained<KeyPath<Root, Bool>>

    init() {
        holder = .allocate(capacity: 1)
        holder.initialize(to: Holder())
        let mark = Mark()
        self.mark = Unretained(retaining: mark)
        keyPath = Unretained(retaining: \Root.[HashNotice(mark: mark)])
    }

    deinit {
        holder.deinitialize(count: 1)
        holder.deallocate()
        keyPath.release()
        mark.release()
    }

    var registrar: ObservationRegistrar { holder.pointee.registrar }

    /// True if reads are tracked at present. Costs a few nanoseconds if not.
    @inline(__always)
    var isTracking: Bool {
        keyPath.with { holder.pointee.show($0) }
        return mark.with { mark in
            guard mark.isSet.load(ordering: .relaxed) else { return false }
            mark.isSet.store(false, ordering: .relaxed)
            return true
        }
    }
}
