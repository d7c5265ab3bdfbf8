/// A store that can be read on another thread without the coordinator's lock, concurrently with its writer.
package protocol BackgroundReading: StoreOperations {
    /// A store with the rows that are committed now, read through a connection of its own; `nil` where the store has only one
    /// connection. Called under the coordinator's lock.
    ///
    /// Its IDs are those of this store. It may be used on one thread at a time, for reading only, without any lock.
    func makeReader() throws -> (any RowStore)?

    /// Runs `body`, in which reading fails with 3072 soon after `isCancelled` says so. It is asked on the calling thread, and
    /// told how many rows the store has gone through so far, where it goes through all of them; 0 where that is not known.
    func cancelling<Result>(
        when isCancelled: @escaping (_ scannedRows: Int) -> Bool, _ body: () throws -> Result
    ) throws -> Result
}
