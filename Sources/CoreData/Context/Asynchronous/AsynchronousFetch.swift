import Foundation
import Synchronization

/// A fetch that reads in the background and ends on its context's queue.
///
/// Everything that depends on the context is computed on its queue: the plan before reading, the unsaved changes and
/// the objects after it. In between only stores are read.
final class AsynchronousFetch {
    private let context: NSManagedObjectContext
    private let request: NSFetchRequest<NSFetchRequestResult>
    private let interruption: Interruption
    private let completion: (Result<FetchResults, any Error>) -> Void
    private let work: Work

    /// The part that is read in the background.
    private enum Work {
        case rows(FetchPlan, wantsRows: Bool)
        case count(FetchPlan)
        case dictionaries(DictionaryFetch, stores: [any RowStore])
        /// No background read: the context itself must be queried.
        case none
    }

    /// The result of the background read.
    private enum Found {
        case rows(FetchPlan, FoundRows)
        case count(FetchPlan, Int)
        case dictionaries([NSDictionary])
        case none
    }

    /// Creates a fetch that runs in the background.
    ///
    /// - Parameter completion: called on the context's queue.
    /// - Throws: 134060 for a request that cannot be resolved.
    init(
        _ request: NSFetchRequest<NSFetchRequestResult>, stores: [NSPersistentStore]?,
        in context: NSManagedObjectContext,
        interruption: Interruption, completion: @escaping (Result<FetchResults, any Error>) -> Void
    ) throws {
        guard let copy = request.copy() as? any ErasableFetchRequest else {
            preconditionFailure("copy() of a fetch request must return a fetch request.")
        }
        self.request = copy.erased
        self.request.affectedStores = stores ?? request.affectedStores
        self.context = context
        self.interruption = interruption
        self.completion = completion
        work = try Self.work(self.request, context)
    }

    private static func work(
        _ request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext
    ) throws -> Work {
        let pipeline = context.fetchPipeline
        let plan = try pipeline.plan(request)
        guard context.source?.parent == nil, context.generation.token == nil else { return .none }
        switch request.resultType {
        case .dictionaryResultType:
            return .dictionaries(try DictionaryFetch(request, in: pipeline), stores: plan.stores)
        case .countResultType: return .count(plan)
        default:
            return .rows(plan, wantsRows: request.resultType == .managedObjectResultType && request.readsRows)
        }
    }

    /// Starts reading and returns at once.
    func start() {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        if case .none = work { return end(.success(.none)) }
        let fetch = QueueBound(self, on: context.queue)
        let reading = UncheckedSendable((Reading(work: work, interruption: interruption), coordinator))
        BackgroundReader.queue.async {
            let found = UncheckedSendable(Result { try reading.value.0.read(reading.value.1) })
            fetch.async { $0.finish(found.value) }
        }
    }

    // MARK: On the queue

    private func end(_ found: Result<Found, any Error>) { context.queue.async { [self] in finish(found) } }

    private func finish(_ found: Result<Found, any Error>) {
        completion(
            Result {
                try interruption.check()
                return try results(found.get())
            })
    }

    private func results(_ found: Found) throws -> FetchResults {
        let pipeline = context.fetchPipeline
        switch found {
        case .none: return try pipeline.results(request)
        case .dictionaries(let dictionaries): return .dictionaries(dictionaries)
        case .count(let plan, let count):
            let isExact = try !request.includesPendingChanges || PendingOverlay(plan, in: context) == nil
            return isExact ? .count(count) : try pipeline.results(request)
        case .rows(let plan, let found):
            context.processPendingChanges()
            guard let answer = try answer(plan, found) else { return try pipeline.results(request) }
            switch request.resultType {
            case .managedObjectIDResultType: return .objectIDs(answer.ids)
            default: return .objects(try pipeline.objects(for: answer, of: request, plan))
            }
        }
    }

    /// The result of the read with the unsaved changes applied; `nil` if these may need rows beyond the limit.
    private func answer(_ plan: FetchPlan, _ found: FoundRows) throws -> FetchAnswer? {
        guard request.includesPendingChanges, let overlay = try PendingOverlay(plan, in: context) else {
            return FetchAnswer(found: found, items: nil)
        }
        guard plan.limit == 0 && plan.offset == 0 else { return nil }
        return try pipelineReading { FetchAnswer(found: found, items: try overlay.apply(to: found, plan)) }
    }

    private func pipelineReading<Result>(_ body: () throws -> Result) throws -> Result {
        try context.fetchPipeline.reading(body)
    }
}

extension AsynchronousFetch {
    /// The background part: it uses stores, and no context.
    private struct Reading {
        let work: Work
        let interruption: Interruption

        private var reader: BackgroundReader { BackgroundReader(interruption: interruption) }

        func read(_ coordinator: NSPersistentStoreCoordinator) throws -> Found {
            switch work {
            case .none: return .none
            case .dictionaries(let fetch, let stores):
                return .dictionaries(
                    try reader.reading(stores, coordinator) { readers in
                        try fetch.run(in: readers, check: interruption.check)
                    })
            case .rows(let plan, let wantsRows):
                var rows = try reader.reading(plan.stores, coordinator) { readers in
                    try found(plan.limited(to: readers), wantsRows)
                }
                rows.stores = plan.stores
                return .rows(plan, rows)
            case .count(let plan):
                let count = try reader.reading(plan.stores, coordinator) { readers in
                    let plan = plan.limited(to: readers).unsorted
                    if readers.count == 1, let count = try readers[0].operations.count(plan.query) { return count }
                    return try found(plan, false).count
                }
                return .count(plan, count)
            }
        }

        private func found(_ plan: FetchPlan, _ wantsRows: Bool) throws -> FoundRows {
            var query = plan.query
            query.wantsRows = wantsRows
            return try StoreFetch(plan: plan, check: interruption.check).run(query)
        }
    }
}

extension NSManagedObjectContext {
    /// Returns the objects, IDs, dictionaries or number that `request` asks for, read in the background. An addition to
    /// Apple's framework, with the behaviour of ``NSAsynchronousFetchRequest``. Call it on the context's queue: for a
    /// context of the main queue on the main actor, for others in the block of an asynchronous `perform`.
    ///
    /// Cancelling the task cancels the fetch.
    ///
    /// - Throws: 3072 (`CocoaError.userCancelled`) if the task was cancelled; errors of `fetch(_:)`.
    nonisolated(nonsending) public func fetchAsynchronously<T: NSFetchRequestResult>(
        _ request: NSFetchRequest<T>
    ) async throws -> [T] {
        let interruption = Interruption()
        let answer = LaterAnswer()
        // Started here, on the context's queue: the closures below run on no actor's executor.
        try AsynchronousFetch(request.erased, stores: nil, in: self, interruption: interruption) {
            answer.give(UncheckedSendable($0))
        }.start()
        let outcome = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            interruption.interrupt()
        }
        let results = try outcome.value.get()
        if let typed = results.typed(as: T.self) { return typed }
        preconditionFailure(
            "A fetch request for \(T.self) found other results. Its resultType or entity must fit this type.")
    }
}

/// The result of a fetch, for the task that awaits it. The result may be set before or after the task waits.
private final class LaterAnswer: Sendable {
    typealias Value = UncheckedSendable<Result<FetchResults, any Error>>

    private enum State {
        case none
        case waiting(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Mutex(State.none)

    /// Sets the result. Called once.
    func give(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            defer { state = .given(value) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: value)
    }

    /// Awaited by one task.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state -> Value? in
                    if case .given(let value) = state { return value }
                    state = .waiting(continuation)
                    return nil
                }
                if let given { continuation.resume(returning: given) }
            }
        }
    }
}
