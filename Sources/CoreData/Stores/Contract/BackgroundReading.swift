/// A store that can be read on another thread without the coordinator's lock, concurrently with its writer.
package protocol BackgroundReading: StoreOperations {
    /// Returns a reader of the rows that are committed now, with a connection of its own; `nil` if the store has only
    /// one connection. Called under the coordinator's lock.
    ///
    /// The reader's IDs are those of this store. It reads without any lock, on one thread at a time, and never writes.
    func makeReader() throws -> (any RowStore)?

    /// Runs `body`; its reads fail with 3072 soon after `isCancelled` returns true. That is called on the calling
    /// thread with the number of rows scanned so far, 0 if unknown.
    func cancelling<Result>(
        when isCancelled: @escaping (_ scannedRows: Int) -> Bool, _ body: () throws -> Result
    ) throws -> Result
}
