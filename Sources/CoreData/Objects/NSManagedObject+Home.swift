import Glibc
import Synchronization

/// The home of an object, and moving between homes: see ``ObjectHome``.
// SAFETY: an object's home is retained by the object's share in it, or by the context until all objects have left. The
// object's queue replaces it, and so does any thread that requests the ID (`identifier`). A new home that other threads
// can see retains the old one, which they may be reading.
extension NSManagedObject {
    /// The home, without reference counting. Object's queue only: on any other, a home could be replaced by one that
    /// does not retain it.
    @inline(__always)
    final var home: Unretained<ObjectHome> { homeAsKept.home.unsafelyUnwrapped }

    @inline(__always)
    private final var homeAsKept: ObjectHome.Word { ObjectHome.Word(bits: homeWord.load(ordering: .acquiring)) }

    @inline(__always)
    package final var layout: EntityLayout { home.with { $0.layout } }

    /// Passes the layout without reference counting, for code that runs per object.
    @inline(__always)
    final func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
        try home.with { try $0.withLayout(body) }
    }

    /// Passes the traits of the layout without reference counting.
    @inline(__always)
    final func withTraits<Result>(_ body: (EntityTraits) throws -> Result) rethrows -> Result {
        try withLayout { try $0.withTraits(body) }
    }

    /// True if the object's entity is that of `layout`.
    @inline(__always)
    package final func has(_ layout: EntityLayout) -> Bool { withLayout { $0 === layout } }

    /// The handle of the context. Reading it retains nothing.
    @inline(__always)
    final var contextReference: Unretained<ContextHandle>? { home.with(\.context) }

    /// True if the object is registered in `context`.
    @inline(__always)
    final func isRegistered(in context: Unretained<ContextHandle>) -> Bool {
        contextReference == context
    }

    /// True if both objects are in the same context, or neither is in one.
    @inline(__always)
    final func isInSameContext(_ other: NSManagedObject) -> Bool {
        contextReference == other.contextReference
    }

    /// The ID that the object stores because it was requested.
    final var keptID: NSManagedObjectID? { home.with(\.id) }

    // MARK: Moving. Object's queue only.

    /// Enters a context. An object without an identity gets a temporary one.
    ///
    /// - Parameter homes: The homes of the context.
    final func enter(_ homes: ObjectHomes) {
        if home.with({ $0.id == nil }) {
            // An object from another context gets a home of its own. That home retains the old one, which other threads
            // may be reading.
            guard identifier != nil else {
                return begin(at: withLayout { homes.home(ofNew: $0) }, NSManagedObjectID.freshTemporaryNumber())
            }
        }
        home.with { $0.context = homes.context }
    }

    final func leave() {
        let old = homeAsKept
        let home = old.home.unsafelyUnwrapped
        if old.isOwned { return home.with { if $0.id != nil { $0.context = nil } } }
        let outside = ObjectHome.Word(owning: home.with(\.homeOutside))
        if move(from: old, to: outside) { return }
        outside.release()
        leave()
    }

    /// Leaves a deallocated context and drops the relationships read in it.
    final func abandonContext() {
        leave()
        flags.subtract(.lists)
        forgetRelations()
        baseline = nil
    }

    /// Gives a new object, which no other thread uses yet, its first identity in a context. Creates no ID.
    ///
    /// - Parameter home: A home that the context retains.
    @inline(__always)
    final func begin(at home: ObjectHome, _ reference: Int64) {
        let old = homeAsKept
        // An initialiser of the subclass may have requested an ID. Few numbers need more than 32 bits.
        guard let number = UInt32(exactly: reference), self.home.with({ $0.id == nil }) else {
            return beginNamed(at: home, reference)
        }
        rowNumber.store(number, ordering: .relaxed)
        homeWord.store(ObjectHome.Word(keptByContext: home).bits, ordering: .releasing)
        old.release()
    }

    @inline(never)
    private final func beginNamed(at home: ObjectHome, _ reference: Int64) {
        guard let family = home.family else { return }
        replaceIdentifier(by: NSManagedObjectID(family, reference: reference))
        self.home.with { $0.context = home.context }
    }

    /// Gives a new object the permanent identity under which it was saved.
    ///
    /// - Returns: The object's temporary ID, if it had been requested.
    final func settle(as id: NSManagedObjectID, in homes: ObjectHomes) -> NSManagedObjectID? {
        guard let key = id.rowKey, let number = UInt32(exactly: key.reference) else { return replaceIdentifier(by: id) }
        // Another thread may be creating an ID from the old number; it waits until home and number are both replaced.
        let old = ObjectHome.Word(
            bits: homeWord.exchange(ObjectHome.Word.changing.bits, ordering: .acquiringAndReleasing))
        defer { old.release() }
        return old.home.unsafelyUnwrapped.with { home in
            if let known = home.id {
                let new = ObjectHome.Word(owning: ObjectHome(for: id, from: home))
                homeWord.store(new.bits, ordering: .releasing)
                return known
            }
            rowNumber.store(number, ordering: .relaxed)
            homeWord.store(ObjectHome.Word(keptByContext: homes.home(of: id.family)).bits, ordering: .releasing)
            return nil
        }
    }

    /// Replaces the object's ID.
    ///
    /// - Returns: The previous ID, if it had been requested.
    @discardableResult
    final func replaceIdentifier(by id: NSManagedObjectID) -> NSManagedObjectID? {
        while true {
            let old = homeAsKept
            let known = old.home.unsafelyUnwrapped.with(\.id)
            if take(id, from: old) { return known }
        }
    }

    /// Moves the object to a home of its own, which has the ID.
    ///
    /// - Returns: `false` if another thread replaced the home first.
    private final func take(_ id: NSManagedObjectID, from old: ObjectHome.Word) -> Bool {
        let home = old.home.unsafelyUnwrapped.with { ObjectHome(for: id, from: $0) }
        let new = ObjectHome.Word(owning: home)
        if move(from: old, to: new) { return true }
        new.release()
        return false
    }

    /// - Returns: `false` if another thread requested the ID first.
    private final func move(from old: ObjectHome.Word, to new: ObjectHome.Word) -> Bool {
        let (isMoved, _) = homeWord.compareExchange(
            expected: old.bits, desired: new.bits, ordering: .acquiringAndReleasing)
        if isMoved { old.release() }
        return isMoved
    }

    // MARK: On any thread

    /// The home. Waits, a few nanoseconds, while the object's queue replaces it.
    final var homeForAnyThread: Unretained<ObjectHome> { wordForAnyThread.home.unsafelyUnwrapped }

    private final var wordForAnyThread: ObjectHome.Word {
        while true {
            let word = homeAsKept
            if word != .changing { return word }
            sched_yield()
        }
    }

    /// The ID, created and stored at the first request; `nil` if the object was never in a context.
    final var identifier: NSManagedObjectID? {
        while true {
            let old = wordForAnyThread
            // The home that replaces this one retains it.
            let home = old.home.unsafelyUnwrapped
            if let id = home.with(\.id) { return id }
            guard let family = home.with(\.family) else { return nil }
            let made = NSManagedObjectID(family, reference: Int64(rowNumber.load(ordering: .relaxed)))
            if take(made, from: old) { return made }
        }
    }
}
