import Foundation

/// A fetch of dictionaries: named values of each row, straight from the stores. Unsaved changes do not count.
struct DictionaryFetch {
    private let pipeline: FetchPipeline
    private let plan: FetchPlan
    private let columns: [Column]
    private let isDistinct: Bool

    /// One entry of the dictionaries.
    private struct Column {
        let name: String
        /// To-one relationships and then the property; empty for the object's ID.
        let keyPath: [String]
    }

    /// - Throws: 134060 for a property that does not exist, is to-many, or is not supported here.
    init(_ request: NSFetchRequest<NSFetchRequestResult>, in pipeline: FetchPipeline) throws {
        self.pipeline = pipeline
        plan = try pipeline.plan(request)
        let entity = plan.entity
        columns =
            try request.propertiesToFetch?.map { try Self.column($0, of: entity) }
            ?? entity.layout.slots.filter { !$0.isTransient }.map { Column(name: $0.name, keyPath: [$0.name]) }
        isDistinct = request.returnsDistinctResults && request.propertiesToFetch != nil
    }

    /// The dictionaries, in order; a value that is not set has no entry. One query per store and relationship.
    func run() throws -> [NSDictionary] {
        var query = plan.query
        if isDistinct {
            query.limit = 0
            query.offset = 0
        }
        let made = try pipeline.reading {
            let found = try StoreFetch(plan: plan).run(query)
            return try dictionaries(for: found)
        }
        guard isDistinct else { return made }
        var seen: Set<NSDictionary> = []
        return plan.cut(made.filter { seen.insert($0).inserted })
    }

    private func dictionaries(for found: FoundRows) throws -> [NSDictionary] {
        var result = [NSDictionary?](repeating: nil, count: found.count)
        for place in found.stores.indices {
            let members = found.keys.indices.filter { found.owners.isEmpty || Int(found.owners[$0]) == place }
            let set = RowSet(members.map { (found.id(at: $0), found.rows[$0]) }, in: found.stores[place])
            for (index, row) in zip(members, set.rows) { result[index] = dictionary(of: row) }
            if let failure = set.failure { throw failure }
        }
        return result.compactMap { $0 }
    }

    private func dictionary(of row: FetchedRow) -> NSDictionary {
        let dictionary = NSMutableDictionary(capacity: columns.count)
        for column in columns {
            guard let value = value(at: column.keyPath, of: row) else { continue }
            dictionary[column.name as NSString] = value
        }
        return dictionary
    }

    private func value(at keyPath: [String], of row: FetchedRow) -> Any? {
        var current = row
        for (index, key) in keyPath.enumerated() {
            switch current.rowLayout.place(of: key) {
            case .attribute:
                return KeyPathReader.value(of: current.value(forKey: key), at: keyPath[(index + 1)...])
            case .toOne(let slot):
                guard index < keyPath.count - 1 else {
                    guard case .reference(let id) = current.slotValue(slot) else { return nil }
                    return id
                }
                guard let next = current.toOneDestination(slot) as? FetchedRow else { return nil }
                current = next
            default: return nil
            }
        }
        return current.objectID
    }

    // MARK: Columns

    private static func column(_ property: Any, of entity: NSEntityDescription) throws -> Column {
        switch property {
        case let name as String: return try column(named: name, keyPath: name, of: entity)
        case let description as NSExpressionDescription: return try column(description, of: entity)
        case let description as NSPropertyDescription:
            return try column(named: description.name, keyPath: description.name, of: entity)
        default:
            throw CoreDataError.make(
                134060, "Cannot fetch \(property) into dictionaries: it is neither a name nor a property description.")
        }
    }

    private static func column(
        named name: String, keyPath: String, of entity: NSEntityDescription
    ) throws -> Column {
        let keys = keyPath.split(separator: ".").map(String.init)
        let path = try ModelKeyPath(keys, from: entity)
        switch path.end {
        case .attribute(let attribute) where !attribute.isTransient: return Column(name: name, keyPath: keys)
        case .element(let composite, _, _) where !composite.isTransient: return Column(name: name, keyPath: keys)
        case .toOne: return Column(name: name, keyPath: keys)
        case .object: return Column(name: name, keyPath: path.toOnes.map(\.name))
        case .toMany:
            throw CoreDataError.make(134060, "Invalid to-many relationship in setPropertiesToFetch: (\(keyPath))")
        default:
            throw CoreDataError.make(134060, "Cannot fetch \(keyPath) into dictionaries: the store does not keep it.")
        }
    }

    private static func column(_ description: NSExpressionDescription, of entity: NSEntityDescription) throws -> Column
    {
        switch description.expression?.tree {
        case .evaluatedObject?: return Column(name: description.name, keyPath: [])
        case .keyPath(let keys)?:
            return try column(named: description.name, keyPath: keys.joined(separator: "."), of: entity)
        default:
            throw CoreDataError.make(
                134060,
                "Cannot fetch \(description.name) into dictionaries: only key paths and the evaluated object can be "
                    + "fetched yet; fetch the values and reckon with them.")
        }
    }
}
