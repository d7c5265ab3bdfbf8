/// What became of records that were imported. An addition to Apple's interface.
public struct ImportResult {
    /// What became of one record.
    public enum Outcome: Sendable {
        /// Nothing in the context and its stores had its key, or it has none: there is a new object.
        case inserted
        /// An object has other values now, or a part of it has.
        case updated
        /// The object had all that the record says.
        case unchanged
        /// ``RecordImporter/shouldImport`` refused it.
        case skipped
    }

    /// For each record its object; `nil` for those that were skipped.
    public internal(set) var objects: [NSManagedObject?] = []
    /// For each record what became of it.
    public internal(set) var outcomes: [Outcome] = []

    /// How many records had this outcome.
    public func count(_ outcome: Outcome) -> Int { outcomes.count { $0 == outcome } }
}
