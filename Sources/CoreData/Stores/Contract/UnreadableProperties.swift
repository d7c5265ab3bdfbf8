import Foundation

/// A property with values that cannot be decoded and are read as nil.
package struct ReadingNote {
    let property: NSPropertyDescription
    private let reason: String

    init(_ property: NSPropertyDescription, _ reason: String) {
        self.property = property
        self.reason = reason
    }

    var text: String { "\(Self.name(of: property)): \(reason)" }

    /// The name of a property for messages: `Entity.property`.
    static func name(of property: NSPropertyDescription) -> String {
        "\(property.owningEntity?.name ?? "").\(property.name)"
    }
}

/// The properties of the model that a store's file lacks: a column, or the join table of a relationship.
///
/// They are read as nil or as no objects. Searching by them, writing them, or losing them is an error, so that no
/// result is based on unknown values and the file's contents stay.
package struct UnreadableProperties {
    private struct Entry {
        let property: NSPropertyDescription
        /// The missing part of the file, as a clause.
        let reason: String
    }

    /// The store's name in messages.
    private let store: String
    private var entries: [ObjectIdentifier: Entry] = [:]

    init(store: String = "") { self.store = store }

    var isEmpty: Bool { entries.isEmpty }

    func contains(_ property: NSPropertyDescription) -> Bool { entries[ObjectIdentifier(property)] != nil }

    /// Adds a property, and for a relationship its inverse, which reads the same data.
    mutating func add(_ property: NSPropertyDescription, because reason: String) {
        let inverse = (property as? NSRelationshipDescription)?.inverseRelationship
        for known in [property, inverse].compactMap(\.self) where !contains(known) {
            entries[ObjectIdentifier(known)] = Entry(property: known, reason: reason)
        }
    }

    /// One line for each property, sorted by name.
    var notes: [ReadingNote] {
        sorted.map { entry in
            ReadingNote(entry.property, "\(entry.reason); it reads as nil and cannot be searched or saved")
        }
    }

    /// The missing part of each property, sorted by name.
    var findings: [String] { sorted.map { "\(Self.name(of: $0)) cannot be read: \($0.reason)" } }

    private var sorted: [Entry] { entries.values.sorted { Self.name(of: $0) < Self.name(of: $1) } }

    private static func name(of entry: Entry) -> String { ReadingNote.name(of: entry.property) }

    // MARK: Errors

    /// Called for a store without evidence that it was written with its model.
    ///
    /// - Throws: 134020 if any property is unreadable.
    func refuseStore() throws {
        guard let first = sorted.first else { return }
        throw error(
            134020, "The store \(store) does not fit the model: \(Self.name(of: first)): \(first.reason)\(others).",
            first)
    }

    /// Checks that no data would be lost because a property is unreadable.
    ///
    /// - Throws: 134110 if any property is unreadable, since its data would be lost.
    ///
    /// - Parameter action: the verb in the message: `migrate`, `copy the rows of`.
    func refuseLoss(_ action: String) throws {
        guard let first = sorted.first else { return }
        throw error(
            134110,
            "Cannot \(action) the store \(store): \(Self.name(of: first)) cannot be read (\(first.reason)\(others)), and would be "
                + "lost. The store is unchanged.", first)
    }

    private var others: String { entries.count > 1 ? "; and \(entries.count - 1) more" : "" }

    /// Checks that a property is readable.
    ///
    /// - Throws: 134020 for an unreadable property.
    ///
    /// - Parameter action: the verb in the message: `fetch by`, `save`.
    func refuse(_ action: String, _ property: NSPropertyDescription, _ consequence: String) throws {
        guard let entry = entries[ObjectIdentifier(property)] else { return }
        throw error(
            134020, "Cannot \(action) \(Self.name(of: entry)) of the store \(store): \(entry.reason); \(consequence).",
            entry)
    }

    /// Checks that no entity has an unreadable property with one of the names.
    ///
    /// - Throws: 134020 for the first unreadable property with one of the names, of any entity.
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
