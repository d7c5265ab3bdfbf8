import Dispatch

/// Reads stores off the context's queue, until it is interrupted.
struct BackgroundReader {
    let interruption: Interruption

    /// The queue of background reads.
    static let queue = DispatchQueue(label: "CoreData.BackgroundReader", attributes: .concurrent)

    /// Runs `body` with readers of `stores`; if one of them has none, with the stores themselves under the lock.
    ///
    /// - Parameter note: called under the coordinator's lock before and after the readers are created.
    func reading<Result>(
        _ stores: [any RowStore], _ coordinator: NSPersistentStoreCoordinator, note: () throws -> Void = {},
        _ body: ([any RowStore]) throws -> Result
    ) throws -> Result {
        try interruption.check()
        let readers = try coordinator.withLock {
            try note()
            let readers = try stores.map { try ($0.operations as? any BackgroundReading)?.makeReader() }
            try note()
            return readers
        }.compactMap { $0 }
        if readers.count == stores.count { return try run(readers, body) }
        return try coordinator.withLock {
            let result = try run(stores, body)
            try note()
            return result
        }
    }

    /// Runs `body` so that it ends soon after an interruption. Its result is then ignored.
    private func run<Result>(
        _ stores: [any RowStore], _ body: ([any RowStore]) throws -> Result
    ) throws -> Result {
        let outcome = Swift.Result { try cancellable(stores[...]) { try body(stores) } }
        try interruption.check()
        return try outcome.get()
    }

    private func cancellable<Result>(_ stores: ArraySlice<any RowStore>, _ body: () throws -> Result) throws
        -> Result
    {
        guard let store = stores.first else { return try body() }
        guard let operations = store.operations as? any BackgroundReading else {
            return try cancellable(stores.dropFirst(), body)
        }
        let asked = { [interruption] (scannedRows: Int) in
            interruption.onScan?(scannedRows)
            return interruption.isInterrupted
        }
        return try operations.cancelling(when: asked) { try cancellable(stores.dropFirst(), body) }
    }
}
