import Foundation

/// A property of which values are read as nil because they cannot be understood.
package struct ReadingNote {
    let property: NSPropertyDescription
    private let reason: String

    init(_ property: NSPropertyDescription, _ reason: String) {
        self.property = property
        self.reason = reason
    }

    var text: String { "\(Self.name(of: property)): \(reason)" }

    /// `Entity.property`.
    static func name(of property: NSPropertyDescription) -> String {
        "\(property.owningEntity?.name ?? "").\(property.name)"
    }
}

/// The properties of which a store's file does not have what its model says: a column, or the table of a relationship's pairs.
///
/// They read as nil, or as no objects. What looks for them, writes them or would lose them is an error, so that nothing is found by
/// values that are not known, and what the file holds in their place stays.
package struct UnreadableProperties {
    private struct Entry {
        let property: NSPropertyDescription
        /// The part that the file lacks, as a clause.
        let reason: String
    }

    /// The store in messages.
    private let store: String
    private var entries: [ObjectIdentifier: Entry] = [:]

    init(store: String = "") { self.store = store }

    var isEmpty: Bool { entries.isEmpty }

    func contains(_ property: NSPropertyDescription) -> Bool { entries[ObjectIdentifier(property)] != nil }

    /// Notes a property; of a relationship both ends, since either is the other one seen from its destination.
    mutating func add(_ property: NSPropertyDescription, because reason: String) {
        let inverse = (property as? NSRelationshipDescription)?.inverseRelationship
        for known in [property, inverse].compactMap(\.self) where !contains(known) {
            entries[ObjectIdentifier(known)] = Entry(property: known, reason: reason)
        }
    }

    /// One line for each property, in the order of their names.
    var notes: [ReadingNote] {
        sorted.map { entry in
            ReadingNote(entry.property, "\(entry.reason); it reads as nil, and cannot be searched by or saved")
        }
    }

    /// The fault of each property, sorted by name.
    var findings: [String] { sorted.map { "\(Self.name(of: $0)) cannot be read: \($0.reason)" } }

    private var sorted: [Entry] { entries.values.sorted { Self.name(of: $0) < Self.name(of: $1) } }

    private static func name(of entry: Entry) -> String { ReadingNote.name(of: entry.property) }

    // MARK: Errors

    /// - Throws: 134020 where there is any: for a store of which nothing says that it was written with its model.
    func refuseStore() throws {
        guard let first = sorted.first else { return }
        throw error(
            134020, "The store \(store) does not fit the model: \(Self.name(of: first)): \(first.reason)\(others).",
            first)
    }

    /// - Throws: 134110 where there is any: what is not read would not be there afterwards.
    ///
    /// - Parameter action: `migrate`, `copy the rows of`.
    func refuseLoss(_ action: String) throws {
        guard let first = sorted.first else { return }
        throw error(
            134110,
            "Cannot \(action) the store \(store): \(Self.name(of: first)) cannot be read (\(first.reason)\(others)), and would be "
                + "lost; the store stays as it was.", first)
    }

    private var others: String { entries.count > 1 ? "; and \(entries.count - 1) more" : "" }

    /// - Throws: 134020 for a property of the list.
    ///
    /// - Parameter action: `fetch by`, `save`.
    func refuse(_ action: String, _ property: NSPropertyDescription, _ consequence: String) throws {
        guard let entry = entries[ObjectIdentifier(property)] else { return }
        throw error(
            134020, "Cannot \(action) \(Self.name(of: entry)) of the store \(store): \(entry.reason); \(consequence).",
            entry)
    }

    /// - Throws: the same for the first property with one of the names, of whatever entity.
    func refuse(_ action: String, named names: [String], _ consequence: String) throws {
        let entry = sorted.first { names.contains($0.property.name) }
        if let entry { try refuse(action, entry.property, consequence) }
    }

    private func error(_ code: Int, _ message: String, _ entry: Entry) -> NSError {
        CoreDataError.make(
            code, message,
            userInfo: [
                NSFilePathErrorKey: store, "entity": entry.property.owningEntity?.name ?? "",
                "property": entry.property.name,
            ])
    }
}
