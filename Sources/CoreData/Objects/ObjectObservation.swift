import Observation
import Synchronization

// How managed objects take part in Swift's Observation. Code that reads a property inside `withObservationTracking` is
// told before the property changes: by a setter, an undo, a merge, a refresh or a rollback.
//
// A registrar for each object would cost every object memory, and there is no public way to ask whether any code tracks
// what the thread reads. So each context has one probe: a registrar that every read shows one and the same key path.
// Without tracking, that is a look at a variable of the thread, nothing more. With it, the key path is put into a set,
// and is therefore hashed, which the probe notices. The object that was read takes the probe as its registrar, and the
// context makes itself a new one.

/// Reads of modelled properties are tracked through accessors, `@Managed`, `value(forKey:)` and `willAccessValue(forKey:)`.
extension NSManagedObject: Observable {
    /// To be called when a property is read: a reader that tracks its reads depends on it from now on.
    ///
    /// - Parameter type: that of the accessor, if there is one.
    // SAFETY: the object's home stays while its queue, where this runs, is busy here.
    @inline(__always)
    final func noteRead(_ place: EntityLayout.Place, as type: @autoclosure () -> Any.Type? = nil) {
        if flags.contains(.observed) { return ObservedObjects.noteRead(self, place, as: type()) }
        if home.with({ $0.isReadRecorded }) { ObservedObjects.begin(self, place) }
    }

    /// Runs `change`, which changes the property at `place`, and tells its observers.
    @inline(__always) @discardableResult
    final func changing<Result>(_ place: EntityLayout.Place, _ change: () throws -> Result) rethrows -> Result {
        guard flags.contains(.observed) else { return try change() }
        let announced = ObservedObjects.willChange(self, [layout.name(of: place)])
        defer { announced.end() }
        return try change()
    }

    /// Tells the observers of properties that they are about to change. Call `end()` of the result when they did.
    ///
    /// - Parameter places: The properties, asked for only if the object is observed.
    final func announcing(_ places: @autoclosure () -> [EntityLayout.Place]) -> AnnouncedChange? {
        guard flags.contains(.observed) else { return nil }
        return ObservedObjects.willChange(self, places().map(layout.name))
    }

    /// Tells the observers of any property of the object that it is about to change.
    final func announcingEverything() -> AnnouncedChange? { announcing(layout.allPlaces) }
}

extension ObjectHome {
    /// Whether the thread records its reads of the objects that are here. Lets go of nothing that others see: it is
    /// part of functions that promise so (`ReadyValues`).
    // SAFETY: a home with a context has a handle that is there, and holds the probe; both on the context's queue.
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

/// A change of an observed object that has begun.
struct AnnouncedChange {
    fileprivate let object: NSManagedObject
    fileprivate let probe: ObservationProbe?
    fileprivate let keys: [String]

    /// The properties have their new values.
    func end() {
        for key in keys { probe?.registrar.didSet(object, keyPath: \NSManagedObject[key]) }
    }
}

/// The registrars of objects that were observed, until the objects go away.
enum ObservedObjects {
    private static let probes = Mutex<[ObjectIdentifier: ObservationProbe]>([:])

    /// The first tracked read of an object.
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

    /// Ends a change that began with a call of `willChange`, whose result was not kept.
    static func didChange(_ object: NSManagedObject, _ key: String) {
        AnnouncedChange(object: object, probe: probe(of: object), keys: [key]).end()
    }

    /// The object goes away: no thread can read it any more.
    static func forget(_ object: NSManagedObject) {
        // Whatever this releases is released outside of the lock.
        _ = probes.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) }
    }

    private static func probe(of object: NSManagedObject) -> ObservationProbe? {
        probes.withLock { $0[ObjectIdentifier(object)] }
    }
}

/// A registrar that tells whether the thread records what it reads.
// SAFETY: immutable pointers to an atomic mark and to a registrar that is safe on any thread.
// SAFETY: `init` makes what the three point to, `deinit` gives it up, and nothing else does.
final class ObservationProbe: @unchecked Sendable {
    /// What the probe's own key path starts from.
    private struct Root: Observable {
        subscript(notice: HashNotice) -> Bool { false }
    }

    /// Hashing it leaves a mark. It outlives the probe: the list of what was read may hold the key path for longer.
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

    // Nothing of this is retained by a look: it is part of every read of a property.
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

    /// Whether whatever is read now is recorded. Cost: a few nanoseconds while it is not.
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
