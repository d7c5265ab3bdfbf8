import Foundation

/// The state of the stores that a context reads. Belongs to the context's queue.
///
/// Affects reads only. A save writes to the newest state, and detects conflicts with what others have written since.
final class ContextGeneration {
    // SAFETY: the context owns the generation and outlives every use of the reference.
    private let unretained: Unretained<NSManagedObjectContext>
    private var context: NSManagedObjectContext { @inline(__always) get { unretained.object } }
    private var pin: Pin = .none

    private enum Pin {
        case none
        /// Pinned to the newest state at the next read.
        case next
        case kept(NSQueryGenerationToken, QueryGeneration)
    }

    init(context: NSManagedObjectContext) { unretained = Unretained(context) }

    /// The token of the pinned state; `nil` while the context reads the newest one.
    var token: NSQueryGenerationToken? {
        switch pin {
        case .none: nil
        case .next: .current
        case .kept(let token, _): token
        }
    }

    /// Pins the context to the state of a token; `nil` unpins it.
    ///
    /// - Throws: 134060 if the token's state is no longer kept, or has other stores.
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
            throw CoreDataError.make(134060, "The query generation has expired. Take a new one.")
        }
    }

    /// Moves a pinned context to the newest state at its next read: after a save, a merge or a reset.
    func advance() {
        context.faults.ahead.forgetLists()
        if case .kept = pin { pin = .next }
    }

    /// The token of the state that the context is pinned to. If the state is not chosen yet, it is the current one from
    /// now on.
    func resolvedToken() throws -> NSQueryGenerationToken? {
        if case .next = pin, let coordinator = context.persistentStoreCoordinator {
            _ = try generation(of: coordinator)
        }
        return token
    }

    /// Runs `body`, which reads, under the lock of `coordinator`, with the stores in the state that the context reads.
    func reading<Result>(_ coordinator: NSPersistentStoreCoordinator, _ body: () throws -> Result) throws -> Result {
        guard let generation = try generation(of: coordinator) else { return try body() }
        return try generation.reading(body)
    }

    /// Runs `body`, which writes to a store; all reads during it see the state before.
    ///
    /// - Parameter body: its argument is false if a store cannot keep a state, and reads therefore see the newest one.
    func keepingState<Result>(_ body: (_ isKept: Bool) throws -> Result) rethrows -> Result {
        let before = pin
        if case .none = before { pin = .next }
        context.faults.ahead.forgetLists()
        defer {
            if case .none = before { pin = .none }
            context.faults.ahead.forgetLists()
        }
        var kept: QueryGeneration?
        // If no state can be kept, `body` gets false; a save then writes without reporting progress.
        if let coordinator = context.persistentStoreCoordinator { kept = try? generation(of: coordinator) }
        if kept == nil, case .none = before { pin = .none }
        return try body(kept?.isWhole ?? false)
    }

    /// The `stores` that the context reads, without those added after the state that it is pinned to. Call it within
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
    /// The state of the stores that the context is pinned to; `nil` while it reads the newest state, and always `nil`
    /// in a context with a parent.
    public var queryGenerationToken: NSQueryGenerationToken? { generation.token }

    /// Pins the context to a state of the stores. Fetches and faults read that state, whatever others save, until the
    /// context saves, merges changes or is reset, or a store of the state is removed; it then reads the newest state.
    /// Objects that were already read stay as they are: call `refreshAllObjects()` to read them in the new state.
    ///
    /// Only SQLite stores in WAL mode keep a state; others always show the newest one. Stores added later appear to be
    /// empty. While a state is kept, a store's write-ahead log cannot be emptied and grows with each save of any
    /// process, so pin for as short a time as possible.
    ///
    /// - Parameter generation: `NSQueryGenerationToken.current` for the state at the next read, another context's
    ///   `queryGenerationToken` for the same state, or `nil` to read the newest state again.
    /// - Throws: 134060 if the state is no longer kept, or one of its stores was removed.
    /// - Precondition: The context has no parent.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        precondition(!isNested, "Cannot pin a context that has a parent, because it reads the state of the parent.")
        try self.generation.set(generation)
    }
}
