import Foundation

extension NSManagedObjectContext {
    /// Saves like ``save()``, with the same errors, and reports its progress. A program that saves many objects on the
    /// main queue can update its screen in `report`, and let the user stop the save.
    ///
    /// While an SQLite store with a file in WAL mode writes, reads in `report` see the state before the save, through a
    /// separate connection. There are no reports while other stores write, while several stores are saved together, or
    /// if another store of the coordinator cannot show an earlier state. A child context reports only its validation.
    /// After a conflict that the merge policy resolves, the save and the fraction start again.
    ///
    /// If another process has locked the only store of the coordinator, the save fails before it validates anything, so
    /// a retry takes no longer than the store's timeout for locks.
    ///
    /// Cost: that of ``save()``, a connection, and the time of `report`. Until the commit other programs cannot write,
    /// and other contexts of the coordinator wait. Therefore `report` must not wait for them or for anything slow. The
    /// commit's write-ahead log is copied into the file by a later commit or when the store is closed.
    ///
    /// - Parameter report: called on the context's queue, every few hundredths of a second during the save. It may
    ///   read objects of the context, but must not change, save or reset the context. Any other read of a store that is
    ///   being written (by another context, or of the history) is error 134070. If it throws while
    ///   ``SaveProgress/canStop`` is true, the save stops.
    /// - Throws: errors of ``save()`` and of `report`. After an error nothing is written, and all changes are kept.
    public func save(reporting report: @escaping (SaveProgress) throws -> Void) throws {
        requireQueue("save(reporting:)")
        let reporter = SaveReporter { [unowned self] progress in
            try events.withoutProcessing { try report(progress) }
        }
        do {
            try savePipeline.reporting(to: reporter) { try save() }
        } catch let stop as SaveReporter.Stop { throw stop.error }
    }
}
