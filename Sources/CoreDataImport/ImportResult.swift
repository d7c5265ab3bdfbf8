import CoreData

/// The objects and outcomes of an import. An addition to Apple's interface.
public struct ImportResult {
    /// The outcome for one record.
    public enum Outcome: Sendable {
        /// A new object was created: none in the context and its stores has the record's key, or the record has none.
        case inserted
        /// The values of an object, or of a part of it, were changed.
        case updated
        /// The object already had all values of the record.
        case unchanged
        /// ``RecordImporter/shouldImport`` rejected the record.
        case skipped
    }

    /// The object of each record; `nil` for a skipped record.
    public internal(set) var objects: [NSManagedObject?] = []
    /// The outcome of each record.
    public internal(set) var outcomes: [Outcome] = []

    /// The number of records with this outcome.
    public func count(_ outcome: Outcome) -> Int { outcomes.count { $0 == outcome } }
}
