extension NSManagedObjectModel {
    /// Refuses a model that was inferred from the tables of a store: it does not know what a save has to keep up.
    ///
    /// - Parameter store: the place of the store that would be written, or copied with it.
    package func checkThatItMayWrite(_ store: String) throws {
        guard isInferred else { return }
        throw CoreDataError.make(
            134080,
            "Cannot open the store \(store) for writing or copy it: its model was inferred from its tables, which do not "
                + "say everything; open it read-only, or with its model.")
    }
}
