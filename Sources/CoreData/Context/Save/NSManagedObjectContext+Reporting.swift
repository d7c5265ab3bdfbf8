import Foundation

extension NSManagedObjectContext {
    /// Saves as ``save()`` does, with the same errors, and tells meanwhile how far it is: so a program that saves very many
    /// objects on the main queue can go on showing something, and let its user stop the save.
    ///
    /// While an SQLite store with a file in WAL mode writes, `report` reads objects of this context in the state before the save,
    /// through a connection of its own. Other stores tell nothing while they write; neither do several stores that are saved
    /// together, nor one of a coordinator that has others which cannot show a state from before. A child context tells of its checks
    /// only. After a conflict that the merge policy settles the save begins anew, and so does the fraction.
    ///
    /// Where another process keeps the only store of the coordinator locked, that is found before anything is checked: to try again
    /// takes no more than the time that the store waits for locks.
    ///
    /// Cost: that of ``save()``, a connection, and what `report` takes. Until the commit other programs cannot write, and other
    /// contexts of the coordinator wait; so `report` must not wait for them, nor for anything that may take long. The log that the
    /// commit leaves is copied into the file with a later commit or with the closing of the store.
    ///
    /// - Parameter report: called on the context's queue, every few hundredths of a second, from within the save: it may read
    ///   objects of the context, and must neither change, save nor reset anything of it. All else that it reads of a store
    ///   which writes (by another context, or the history) is an error (134070). An error that it throws while
    ///   ``SaveProgress/canStop`` is true stops the save.
    /// - Throws: what ``save()`` throws, and what `report` throws. Then nothing was written, and the changes are all still there.
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
