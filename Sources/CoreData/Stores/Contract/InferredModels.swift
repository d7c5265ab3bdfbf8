extension NSManagedObjectModel {
    /// Refuses a model that was inferred from a store's tables: it lacks the rules that a save has to apply.
    ///
    /// - Parameter store: the location of the store to be written or copied, for the error.
    package func checkThatItMayWrite(_ store: String) throws {
        guard isInferred else { return }
        throw CoreDataError.make(
            134080,
            "Cannot open the store \(store) for writing or copy it: its model was inferred from its tables, which is "
                + "incomplete. Open it read-only or with its model.")
    }
}
