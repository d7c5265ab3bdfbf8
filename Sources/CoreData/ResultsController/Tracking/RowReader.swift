/// The values of rows that are compared during one edit, each read once.
///
/// A row's values are those of the context's object, so unsaved values count and so does what it looks at over
/// relationships. Rows that the context does not hold are read, together where that is possible.
final class RowReader {
    private let ordering: ObjectOrdering
    private let identities: RowIdentities
    private let context: NSManagedObjectContext
    private var keys: [RowToken: Entry] = [:]
    private typealias Entry = (values: [SlotValue], id: NSManagedObjectID)

    init(definition: ListDefinition, context: NSManagedObjectContext) {
        ordering = definition.ordering
        identities = definition.identities
        self.context = context
    }

    /// `objects` in the order of the list.
    func inOrder(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        for object in objects { note(object, for: identities.token(of: object)) }
        return ordering.sorted(objects)
    }

    /// Reads the rows that are not at hand, with one query.
    func prepare(_ rows: [RowToken]) throws {
        var missing: [RowToken] = []
        for row in rows where keys[row] == nil { missing.append(row) }
        guard !missing.isEmpty else { return }
        let objects = try context.fetchPipeline.objects(for: identities.objectIDs(of: missing))
        for (row, object) in zip(missing, objects) { note(object, for: row) }
    }

    /// Whether a row comes before another one in the list.
    func isBefore(_ left: RowToken, _ right: RowToken) throws -> Bool {
        if let left = keys[left], let right = keys[right] { return isBefore(left, right) }
        try prepare([left, right])
        guard let left = keys[left], let right = keys[right] else {
            preconditionFailure("a row was read and has no values")
        }
        return isBefore(left, right)
    }

    private func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        let result = ordering.compare(left.values, right.values)
        return (result == .orderedSame ? ObjectOrdering.compare(left.id, right.id) : result) == .orderedAscending
    }

    private func note(_ object: NSManagedObject, for row: RowToken) {
        keys[row] = (ordering.values(of: object), object.objectID)
    }
}
