/// A store that can be read on another thread without the coordinator's lock, beside its writer.
protocol BesideReading: StoreOperations {
    /// A store with the rows that are committed now, read through a connection of its own; `nil` where the store has only one
    /// connection. Called under the coordinator's lock.
    ///
    /// Its IDs are those of this store. It may be used on one thread at a time, for reading only, without any lock.
    func makeReader() throws -> NSPersistentStore?

    /// Stops the reading that runs now, on whatever thread: it fails with 3072. Does nothing while none runs, but must not be
    /// called while the store does other work.
    func interruptReading()
}
