import Glibc
import Synchronization

/// Where an object is, and how it moves: see ``ObjectHome``.
// SAFETY: an object's home is kept by the object's share in it, or with the context's handle, until all objects left.
// Only the object's queue replaces it; a home that takes its place keeps the old one, for threads that are reading it.
extension NSManagedObject {
    /// The home, without a count of references. For the object's queue alone: only there an object is given another one
    /// that does not keep the old one.
    @inline(__always)
    final var home: Unretained<ObjectHome> { homeAsKept.home.unsafelyUnwrapped }

    @inline(__always)
    private final var homeAsKept: ObjectHome.Word { ObjectHome.Word(bits: homeWord.load(ordering: .acquiring)) }

    @inline(__always)
    final var layout: EntityLayout { home.with { $0.layout } }

    /// The layout for what is asked of every object, without a count of references.
    @inline(__always)
    final func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
        try home.with { try $0.withLayout(body) }
    }

    /// The same for what is worked out from the layout.
    @inline(__always)
    final func withTraits<Result>(_ body: (EntityTraits) throws -> Result) rethrows -> Result {
        try withLayout { try $0.withTraits(body) }
    }

    /// Whether the object has that layout: is of that entity.
    @inline(__always)
    final func has(_ layout: EntityLayout) -> Bool { withLayout { $0 === layout } }

    /// The handle of the context: a look at it retains nothing.
    @inline(__always)
    final var contextReference: Unretained<ContextHandle>? { home.with(\.context) }

    /// Whether the object is registered in `context`.
    @inline(__always)
    final func isRegistered(in context: Unretained<ContextHandle>) -> Bool {
        contextReference == context
    }

    /// Whether both objects are in the same context, or in none.
    @inline(__always)
    final func isInSameContext(_ other: NSManagedObject) -> Bool {
        contextReference == other.contextReference
    }

    /// The ID that the object keeps, because it was asked for.
    final var keptID: NSManagedObjectID? { home.with(\.id) }

    // MARK: Moving. For the object's queue alone.

    /// Comes into a context: an object that never had an identity gets a temporary one.
    ///
    /// - Parameter homes: Those of the context.
    final func enter(_ homes: ObjectHomes) {
        if home.with({ $0.id == nil }) {
            // An object from elsewhere gets a home of its own, which keeps the old one, as other threads may be reading
            // it.
            guard identifier != nil else {
                return begin(at: withLayout { homes.home(ofNew: $0) }, NSManagedObjectID.freshTemporaryNumber())
            }
        }
        home.with { $0.context = homes.context }
    }

    /// Leaves its context.
    final func leave() {
        let old = homeAsKept
        let home = old.home.unsafelyUnwrapped
        if old.isOwned { return home.with { if $0.id != nil { $0.context = nil } } }
        let outside = ObjectHome.Word(owning: home.with(\.homeOutside))
        if move(from: old, to: outside) { return }
        outside.release()
        leave()
    }

    /// Leaves a context that is gone, and what is known of its neighbours with it.
    final func abandonContext() {
        leave()
        flags.subtract(.lists)
        forgetRelations()
        baseline = nil
    }

    /// Gives an object that no other thread knows its first identity, in a context, without making an ID.
    ///
    /// - Parameter home: A home that the context keeps.
    @inline(__always)
    final func begin(at home: ObjectHome, _ reference: Int64) {
        let old = homeAsKept
        // An initialiser of the object's class may have asked for an ID. Few numbers need more room.
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

    /// Gives a new object the identity that it was saved under.
    ///
    /// - Returns: the temporary ID that it had, if it was asked for.
    final func settle(as id: NSManagedObjectID, in homes: ObjectHomes) -> NSManagedObjectID? {
        guard let key = id.rowKey, let number = UInt32(exactly: key.reference) else { return replaceIdentifier(by: id) }
        // Another thread may be making the old ID of the old number: it waits until both are new.
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

    /// Gives the object another ID.
    ///
    /// - Returns: the one that it had, if it was asked for.
    @discardableResult
    final func replaceIdentifier(by id: NSManagedObjectID) -> NSManagedObjectID? {
        while true {
            let old = homeAsKept
            let known = old.home.unsafelyUnwrapped.with(\.id)
            if take(id, from: old) { return known }
        }
    }

    /// Gives the object a home of its own.
    ///
    /// - Returns: `false` where another thread did so meanwhile.
    private final func take(_ id: NSManagedObjectID, from old: ObjectHome.Word) -> Bool {
        let home = old.home.unsafelyUnwrapped.with { ObjectHome(for: id, from: $0) }
        let new = ObjectHome.Word(owning: home)
        if move(from: old, to: new) { return true }
        new.release()
        return false
    }

    /// - Returns: `false` where another thread asked for the ID meanwhile.
    private final func move(from old: ObjectHome.Word, to new: ObjectHome.Word) -> Bool {
        let (isMoved, _) = homeWord.compareExchange(
            expected: old.bits, desired: new.bits, ordering: .acquiringAndReleasing)
        if isMoved { old.release() }
        return isMoved
    }

    // MARK: On any thread

    /// The home while the object's queue may be giving it another one, which takes a few nanoseconds.
    final var homeForAnyThread: Unretained<ObjectHome> { wordForAnyThread.home.unsafelyUnwrapped }

    private final var wordForAnyThread: ObjectHome.Word {
        while true {
            let word = homeAsKept
            if word != .changing { return word }
            sched_yield()
        }
    }

    /// The ID, made and kept if it was not asked for before; `nil` while an object outside of contexts has none.
    final var identifier: NSManagedObjectID? {
        while true {
            let old = wordForAnyThread
            // What takes its place keeps it.
            let home = old.home.unsafelyUnwrapped
            if let id = home.with(\.id) { return id }
            guard let family = home.with(\.family) else { return nil }
            let made = NSManagedObjectID(family, reference: Int64(rowNumber.load(ordering: .relaxed)))
            if take(made, from: old) { return made }
        }
    }
}
