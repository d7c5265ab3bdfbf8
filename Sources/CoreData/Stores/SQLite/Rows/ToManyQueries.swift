import SQLiteAccess

/// Reads the destinations of to-many relationships for many owners with one statement.
struct ToManyQueries {
    let connection: Connection
    let context: DecodingContext
    let ids: ObjectIDCache
    let plans: ToManyPlans

    private var layout: TableLayout { context.layout }

    /// Returns the destinations of each of `owners` in the same order. They are in the relationship's order, or sorted
    /// by key if it has none.
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

    /// Thrown for a destination with an entity that is in the same table but not a destination of the relationship.
    struct ForeignEntity: Error {}

    /// Returns the destinations with the first `limit` rows (`Int.max` for all); `nil` if there are more than `most`.
    ///
    /// - Throws: errors of SQLite, and ``ForeignEntity``.
    func rows(
        of relationship: NSRelationshipDescription, inOrderOf owners: [NSManagedObjectID], limit: Int, most: Int
    ) throws -> DestinationRows? {
        var found = DestinationRows(ranges: Array(repeating: 0..<0, count: owners.count))
        guard let plan = plans.rows(of: relationship), let decoder = plan.decoder else { return found }
        if limit == .max, most == .max, let scan = try scan(plan, decoder, relationship, owners.count) {
            return try scan.rows(of: owners)
        }
        // Usually there are several, for which the arrays would grow repeatedly.
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

    /// Returns a scan that reads the lists of this many owners, if that is faster.
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

    /// Returns the range of each owner's destinations among all accepted ones.
    ///
    /// - Parameters:
    ///   - member: returns the member in a result row; `nil` for an unknown entity.
    ///   - takeUp: called with each member and its row, except for duplicate pairs in a join table of another program;
    ///     returns false to stop.
    /// - Returns: `nil` if `takeUp` returned false.
    private func ranges<Member: Equatable>(
        _ plan: ToManyPlan, _ owners: [NSManagedObjectID], _ member: (Statement) throws -> Member?,
        takeUp: (Member, Statement) throws -> Bool
    ) throws -> [Range<Int>]? {
        var result = Array(repeating: 0..<0, count: owners.count)
        var wanted = WantedKeys(owners)
        // The statement returns the rows of an owner one after the other: `start..<end`.
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
    /// Selects the destinations of all owners in the order of the table; `nil` if the lists have another order.
    let scanText: String?
    private let head: String
    private let owner: String
    private let order: String
    private var texts: [Int: String] = [:]

    /// - Parameter columns: returns the select list for a table alias.
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
            // An index with only the owner would look up each row.
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

    /// Returns the cached statement for this number of owners. It is ordered by owner first, because an index on the
    /// foreign key gives that order without sorting.
    func text(places: Int) -> String {
        if let text = texts[places] { return text }
        let made =
            "\(head) WHERE \(owner) IN (\(RowLookup.placeholders(places))) ORDER BY \(owner), \(order)d.Z_PK"
        texts[places] = made
        return made
    }
}

/// The plans of each relationship read so far.
final class ToManyPlans {
    private let context: DecodingContext
    private var keyPlans: [ObjectIdentifier: ToManyPlan] = [:]
    private var rowPlans: [ObjectIdentifier: ToManyPlan] = [:]

    init(context: DecodingContext) { self.context = context }

    private func destination(of relationship: NSRelationshipDescription) -> NSEntityDescription? {
        guard !context.layout.unreadable.contains(relationship) else { return nil }
        return relationship.destinationEntity.flatMap { context.layout.contains($0) ? $0 : nil }
    }

    /// Returns the plan that selects the key and entity of each destination; `nil` if the store lacks the table or
    /// column for it.
    func keys(of relationship: NSRelationshipDescription) -> ToManyPlan? {
        if let known = keyPlans[ObjectIdentifier(relationship)] { return known }
        guard let destination = destination(of: relationship) else { return nil }
        let made = ToManyPlan(
            relationship, destination, layout: context.layout, columns: { "\($0).Z_PK, \($0).Z_ENT" }, count: 2)
        keyPlans[ObjectIdentifier(relationship)] = made
        return made
    }

    /// Returns the plan that selects the whole row of each destination; `nil` in the same cases.
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
