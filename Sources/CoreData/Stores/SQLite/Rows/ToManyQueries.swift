import SQLiteAccess

/// Reads the destinations of to-many relationships, for many owners with one statement.
struct ToManyQueries {
    let connection: Connection
    let context: DecodingContext
    let ids: ObjectIDCache
    let plans: ToManyPlans

    private var layout: TableLayout { context.layout }

    /// For each of `owners`, in the same order, its destinations: in the relationship's order if it has one, else by their
    /// keys.
    func destinations(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        guard let plan = plans.keys(of: relationship) else { return owners.map { _ in [] } }
        var found: [NSManagedObjectID] = []
        let ranges = try ranges(plan, owners) { statement in
            ids.newID(
                ofEntityNumbered: statement.integer(at: RowColumns.entityColumn), in: layout,
                reference: statement.integer(at: RowColumns.primaryKeyColumn))
        } takeUp: { id, _ in
            found.append(id)
            return true
        }
        return ranges?.map { Array(found[$0]) } ?? []
    }

    private static let usualCount = 16

    /// A destination is of an entity that the relationship does not lead to, but shares a table with.
    struct ForeignEntity: Error {}

    /// The same, with the first `limit` rows (`Int.max` means all); `nil` as soon as there are more than `most`.
    ///
    /// - Throws: SQLite's errors; also where a destination is of an entity that the relationship does not lead to.
    func rows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows? {
        var found = DestinationRows(ranges: Array(repeating: 0..<0, count: owners.count))
        guard let plan = plans.rows(of: relationship), let decoder = plan.decoder else { return found }
        if limit == .max, most == .max, let scan = try scan(plan, decoder, relationship, owners.count) {
            return try scan.rows(of: owners)
        }
        // Usually more than a few, and then room would be made several times.
        found.keys.reserveCapacity(Self.usualCount)
        found.rows.reserveCapacity(min(limit, Self.usualCount))
        let ranges = try ranges(plan, owners) { statement in
            guard decoder.isPrepared(for: statement) else { throw ForeignEntity() }
            return decoder.key(of: statement)
        } takeUp: { key, statement in
            if found.rows.count < limit {
                guard let row = decoder.snapshot(of: statement) else { throw ForeignEntity() }
                found.rows.append(row)
            }
            found.keys.append(key)
            return found.keys.count <= most
        }
        guard let ranges else { return nil }
        found.ranges = ranges
        return found
    }

    /// What reads the lists of so many owners with one scan, where that is quicker.
    private func scan(
        _ plan: ToManyPlan, _ decoder: RowDecoder, _ relationship: NSRelationshipDescription, _ ownerCount: Int
    ) throws -> ToManyScan? {
        guard let text = plan.scanText, let destination = relationship.destinationEntity else { return nil }
        let tables = [relationship.entity, destination].map { SQLName.quoted(layout.table(of: $0)) }
        guard try RowLookup.isScanBetter(for: ownerCount, table: tables[0], connection),
            try ToManyScan.isWorthwhile(for: ownerCount, destinations: tables[1], connection)
        else { return nil }
        return ToManyScan(connection: connection, text: text, decoder: decoder, ownerColumn: plan.ownerColumn)
    }

    /// Where the destinations of each owner stand among all that are taken up.
    ///
    /// - Parameters:
    ///   - member: The member in a result row; `nil` for an entity that is not known.
    ///   - takeUp: Called with each of them and its row, but not with a pair that a foreign join table names once more;
    ///     returns whether to go on.
    /// - Returns: `nil` where `takeUp` did not go on.
    private func ranges<Member: Equatable>(
        _ plan: ToManyPlan, _ owners: [NSManagedObjectID], _ member: (Statement) throws -> Member?,
        takeUp: (Member, Statement) throws -> Bool
    ) throws -> [Range<Int>]? {
        var result = Array(repeating: 0..<0, count: owners.count)
        var wanted = WantedKeys(owners)
        // The rows of an owner follow each other.
        var (start, end) = (0, 0)
        var isWhole = true
        try RowLookup.forEachBatch(of: wanted.keys) { batch, places in
            guard isWhole else { return }
            try connection.withStatement(plan.text(places: places)) { statement in
                for place in 0..<places { try statement.bind(batch[min(place, batch.count - 1)], at: place + 1) }
                var owner: Int64?
                var last: Member?
                func finish() {
                    if let owner { wanted.forEachPlace(of: owner) { result[$0] = start..<end } }
                    start = end
                    last = nil
                }
                while try statement.step() {
                    guard let member = try member(statement) else { continue }
                    let key = statement.integer(at: plan.ownerColumn)
                    if owner != key {
                        finish()
                        owner = key
                    }
                    if member == last { continue }
                    guard try takeUp(member, statement) else { return isWhole = false }
                    last = member
                    end += 1
                }
                finish()
            }
        }
        return isWhole ? result : nil
    }
}

/// The selection of the destinations of one relationship: their columns, then the owner's key.
final class ToManyPlan {
    let ownerColumn: Int
    /// The decoder, if whole rows are selected.
    let decoder: RowDecoder?
    /// Selects the destinations of all owners in the order of the table; `nil` where that is not the order of a list.
    let scanText: String?
    private let head: String
    private let owner: String
    private let order: String
    private var texts: [Int: String] = [:]

    /// - Parameter columns: The columns as a select list over the table with an alias.
    init(
        _ relationship: NSRelationshipDescription, _ destination: NSEntityDescription, layout: TableLayout,
        columns: (_ alias: String) -> String, count: Int, decoder: RowDecoder? = nil
    ) {
        let table = "\(SQLName.quoted(layout.table(of: destination))) AS d"
        self.decoder = decoder
        ownerColumn = count
        switch layout.storage(of: relationship) {
        case .foreignKey(let column, let orderColumn):
            owner = "d." + SQLName.quoted(column)
            order = orderColumn.map { "d.\(SQLName.quoted($0)), " } ?? ""
            head = "SELECT \(columns("d")), \(owner) FROM \(table)"
            // Of an index that has the owner alone, one row after the other would be looked up.
            scanText = orderColumn == nil ? "\(head) NOT INDEXED" : nil
        case .joinTable(let join, let ownerColumn, let destinationColumn, let orderColumn):
            owner = "j." + SQLName.quoted(ownerColumn)
            order = orderColumn.map { "j.\(SQLName.quoted($0)), " } ?? ""
            head =
                "SELECT \(columns("d")), \(owner) FROM \(SQLName.quoted(join)) AS j JOIN \(table) "
                + "ON d.Z_PK = j.\(SQLName.quoted(destinationColumn))"
            scanText = nil
        }
    }

    /// The statement for so many owners, written once. In the order of owners first: an index on the foreign key gives the
    /// rows so, and none is sorted.
    func text(places: Int) -> String {
        if let text = texts[places] { return text }
        let made =
            "\(head) WHERE \(owner) IN (\(RowLookup.placeholders(places))) ORDER BY \(owner), \(order)d.Z_PK"
        texts[places] = made
        return made
    }
}

/// The plans of every relationship that was read so far.
final class ToManyPlans {
    private let context: DecodingContext
    private var keyPlans: [ObjectIdentifier: ToManyPlan] = [:]
    private var rowPlans: [ObjectIdentifier: ToManyPlan] = [:]

    init(context: DecodingContext) { self.context = context }

    private func destination(of relationship: NSRelationshipDescription) -> NSEntityDescription? {
        guard !context.layout.unreadable.contains(relationship) else { return nil }
        return relationship.destinationEntity.flatMap { context.layout.contains($0) ? $0 : nil }
    }

    /// What selects the key and the entity of each destination; `nil` where the store has no table for them, or not what says
    /// which they are.
    func keys(of relationship: NSRelationshipDescription) -> ToManyPlan? {
        if let known = keyPlans[ObjectIdentifier(relationship)] { return known }
        guard let destination = destination(of: relationship) else { return nil }
        let made = ToManyPlan(
            relationship, destination, layout: context.layout, columns: { "\($0).Z_PK, \($0).Z_ENT" }, count: 2)
        keyPlans[ObjectIdentifier(relationship)] = made
        return made
    }

    /// Returns the plan that selects the whole row of each destination; `nil` as above.
    func rows(of relationship: NSRelationshipDescription) -> ToManyPlan? {
        if let known = rowPlans[ObjectIdentifier(relationship)] { return known }
        guard let destination = destination(of: relationship) else { return nil }
        let columns = RowColumns(entity: destination, includingSubentities: true, schema: context.layout)
        let made = ToManyPlan(
            relationship, destination, layout: context.layout, columns: columns.selectList(alias:),
            count: columns.names.count, decoder: RowDecoder(columns: columns, context: context))
        rowPlans[ObjectIdentifier(relationship)] = made
        return made
    }
}
