import Foundation

extension NSManagedObjectContext {
    /// Saves as ``save()`` does, with the same errors, and tells meanwhile how far it is: so a program that saves very many
    /// objects on the main queue can go on showing something, and let its user stop the save.
    ///
    /// While an SQLite store with a file in WAL mode writes, what `report` reads is in the state before the save. Other stores tell
    /// nothing while they write, and neither do several stores that are saved together.
    ///
    /// - Parameter report: called on the context's queue, every few hundredths of a second, from within the save: it may read
    ///   objects of the context, and must neither change, fetch for change, save nor reset anything of it. An error that it throws
    ///   while ``SaveProgress/canStop`` is true stops the save.
    /// - Throws: what ``save()`` throws, and what `report` throws. Then nothing was written, and the changes are all still there.
    public func save(reporting report: @escaping (SaveProgress) throws -> Void) throws {
        requireQueue("save(reporting:)")
        let reporter = SaveReporter { [unowned self] progress in
            try events.withoutProcessing { try report(progress) }
        }
        try savePipeline.reporting(to: reporter) { try save() }
    }
}
