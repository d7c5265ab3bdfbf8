import Foundation

/// Which state of the stores a context reads. Belongs to the context's queue.
///
/// Only reading looks at it. A save writes to what is newest, and meets conflicts with what others have written since.
final class ContextGeneration {
    // SAFETY: the context owns the generation, and is not used by it once it goes away.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private var pin: Pin = .none

    private enum Pin {
        case none
        /// To what is newest at the next reading.
        case next
        case kept(NSQueryGenerationToken, QueryGeneration)
    }

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    /// `nil` while the context reads what is newest.
    var token: NSQueryGenerationToken? {
        switch pin {
        case .none: nil
        case .next: .current
        case .kept(let token, _): token
        }
    }

    /// - Throws: 134060 for a token whose state is not kept any more, or has other stores.
    func set(_ token: NSQueryGenerationToken?) throws {
        context.requireQueue("setQueryGenerationFrom(_:)")
        context.faults.ahead.forgetLists()
        switch token?.meaning {
        case nil: pin = .none
        case .current: pin = .next
        case .kept(let generation):
            if let coordinator = context.persistentStoreCoordinator {
                try coordinator.withLock { try generation.check(with: coordinator) }
            }
            pin = .kept(token ?? NSQueryGenerationToken(.kept(generation)), generation)
        case .lost:
            throw CoreDataError.make(134060, "The query generation is not kept any more: take a new one.")
        }
    }

    /// A pinned context goes on to what is newest at its next reading: after a save, a merge and a reset.
    func advance() {
        context.faults.ahead.forgetLists()
        if case .kept = pin { pin = .next }
    }

    /// The token of a pinned context, with its state fixed now.
    func resolvedToken() throws -> NSQueryGenerationToken? {
        if case .next = pin, let coordinator = context.persistentStoreCoordinator {
            _ = try generation(of: coordinator)
        }
        return token
    }

    /// Runs `body`, which reads, under the lock of `coordinator` with the stores in the state that the context sees.
    func reading<Result>(_ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> Result) throws -> Result {
        guard let generation = try generation(of: coordinator) else { return try body() }
        return try generation.reading(body)
    }

    /// Runs `body`, within which a store is written, and lets all that is read meanwhile be read in the state before.
    ///
    /// - Parameter body: is told whether that is so: not where a store cannot keep a state.
    func keepingState<Result>(_ body: (_ isKept: Bool) throws -> Result) rethrows -> Result {
        let before = pin
        if case .none = before { pin = .next }
        context.faults.ahead.forgetLists()
        defer {
            if case .none = before { pin = .none }
            context.faults.ahead.forgetLists()
        }
        var kept: QueryGeneration?
        // Without a state of its own the store just tells nothing while it writes.
        if let coordinator = context.persistentStoreCoordinator { kept = try? generation(of: coordinator) }
        if kept == nil, case .none = before { pin = .none }
        return try body(kept?.isWhole ?? false)
    }

    /// Those of `stores` that the context sees: not those that were added after the state it is pinned to. To be asked within
    /// ``reading(_:_:)``.
    func visible(_ stores: [any RowStore]) -> [any RowStore] {
        guard case .kept(_, let generation) = pin, !generation.hasEnded else { return stores }
        return stores.filter(generation.includes)
    }

    private func generation(of coordinator: NSPersistentStoreCoordinator) throws -> QueryGeneration? {
        switch pin {
        case .none: return nil
        case .kept(_, let generation) where !generation.hasEnded: return generation
        case .next, .kept:
            let made = try QueryGeneration(of: coordinator)
            pin = .kept(NSQueryGenerationToken(.kept(made)), made)
            return made
        }
    }
}

extension NSManagedObjectContext {
    /// The state of the stores that the context is pinned to; `nil` while it reads what is newest, and always in a context
    /// that has a parent.
    public var queryGenerationToken: NSQueryGenerationToken? { generation.token }

    /// Pins the context to a state of the stores: fetches and faults read it, whatever others save, until the context saves,
    /// merges changes, is reset, or a store of the state is removed, which takes it to the newest state. Objects that were read
    /// already stay as they are: call `refreshAllObjects()` to see them in the new state.
    ///
    /// Stores other than SQLite ones in WAL mode always show what is newest; those that are added later show nothing. While
    /// a state is kept, a store's write-ahead log cannot be emptied and grows with each save of any process: pin for as
    /// short a time as possible.
    ///
    /// - Parameter generation: `NSQueryGenerationToken.current` for the state at the next reading, another context's
    ///   `queryGenerationToken` for the same state, or `nil` to read what is newest again.
    /// - Throws: 134060 where the state is not kept any more, or a store of it was removed.
    /// - Precondition: The context has no parent.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        precondition(!isNested, "A context that has a parent reads the parent's state: it cannot be pinned.")
        try self.generation.set(generation)
    }
}
