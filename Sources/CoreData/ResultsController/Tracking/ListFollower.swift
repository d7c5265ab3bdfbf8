import Foundation

/// Determines the effect of touched objects on a list: the rows that leave, arrive and move.
///
/// Reads the values of touched objects and of the few rows that they are compared with. O(k log n) comparisons.
struct ListFollower {
    let definition: ListDefinition
    let context: NSManagedObjectContext

    private var plan: FetchPlan { definition.plan }
    private var identities: RowIdentities { definition.identities }

    struct Result {
        var contents: ListContents
        /// The rows that were inserted, deleted or changed.
        var touched: Set<RowToken> = []
        /// The rows that were placed.
        var placed: [RowToken] = []
        /// The adjacent rows with which the placed rows were compared.
        var comparisons: [RecentPlacements.Comparison] = []
    }

    /// Returns the list with the changes of `touched`.
    ///
    /// - Parameter replacing: rows to be placed again, because their place may be wrong.
    /// - Throws: the store's errors; the list then stays unchanged.
    func edit(_ old: ListContents, _ touched: TouchedObjects, replacing: [RowToken] = []) throws -> Result {
        var result = Result(contents: old)
        var placement = RowPlacement()
        var arriving: [RowReader.Arrival] = []
        for touch in try loaded(touched) {
            classify(touch, old, &placement, &arriving, &result)
        }
        for id in touched.deletedIDs {
            guard let token = identities.token(of: id, in: old), result.touched.insert(token).inserted else { continue }
            placement.removed.append(token)
        }
        try replace(replacing, old, &placement, &arriving, result)
        guard !placement.removed.isEmpty || !arriving.isEmpty else { return result }
        let reader = RowReader(definition: definition, context: context, arriving: arriving)
        placement.arrivals = reader.arrivals.map { arrival in
            RowPlacement.Arrival(row: arrival.row, section: definition.section(of: arrival.object))
        }
        placement.sectionOrder = definition.sectionOrder
        if context.merger.hasUnmerged {
            let merger = context.merger
            placement.isDoubtful = { row in RowIdentities.key(of: row).map(merger.isPending) ?? false }
        }
        if let store = identities.store {
            placement.fanout = Self.fanout(
                forArrivals: placement.arrivals.count, rowsOfQuestion: store.operations.rowsOfQuestion)
        }
        if placement.arrivals.count <= PlaceHints.mostArrivals, let hints = PlaceHints(definition, context) {
            // Errors are ignored here; reading the rows reports them.
            placement.hint = { try? hints.row(notBefore: reader.values(ofArrival: $0), $1) }
            placement.isAtHand = reader.isAtHand
        }
        var comparisons: [RecentPlacements.Comparison] = []
        placement.noteNeighbour = { [arrivals = placement.arrivals] probe in
            comparisons.append(.init(row: probe.row, placed: arrivals[probe.arrival].row))
        }
        result.placed = placement.arrivals.map(\.row)
        result.contents = try placement.applied(to: old, areBefore: reader.areBefore)
        result.comparisons = comparisons
        return result
    }

    /// The number of rows that are read by one query, to need few queries: a query takes as long as about ten of its
    /// rows.
    private static let rowsOfQuestion = 64
    private static let mostParts = 9
    /// The maximum for a server with a high latency.
    private static let mostPartsOfSlow = 16

    /// The number of parts into which a search step divides the possible range.
    ///
    /// - Parameter rowsOfQuestion: the number of rows that take a slow store as long as one query.
    static func fanout(forArrivals count: Int, rowsOfQuestion: Int) -> Int {
        let isSlow = rowsOfQuestion > Self.rowsOfQuestion
        let parts = max(rowsOfQuestion, Self.rowsOfQuestion) / max(count, 1) + 1
        return max(2, min(isSlow ? mostPartsOfSlow : mostParts, parts))
    }

    // MARK: Classification

    /// The touched objects of the list's entity, including those whose object does not exist yet; their rows are read
    /// by one query.
    private func loaded(_ touched: TouchedObjects) throws -> [TouchedObjects.Touch] {
        var touches = touched.touches.filter { plan.includes($0.object.entity) }
        let faults = touches.filter { touch in
            let object = touch.object
            return object.waitsForRow && !object.isDeleted && !touch.isGone
        }
        let ids = touched.changedIDs.filter { plan.includes($0.entity) }
        guard !faults.isEmpty || !ids.isEmpty else { return touches }
        let objects = try context.fetchPipeline.objects(for: faults.map(\.object.objectID) + ids)
        let known = Set(touches.map { ObjectIdentifier($0.object) })
        for object in objects.suffix(ids.count) where !known.contains(ObjectIdentifier(object)) {
            touches.append(.init(object: object))
        }
        return touches
    }

    /// Determines the effect of a touched object on the list.
    private func classify(
        _ touch: TouchedObjects.Touch, _ old: ListContents, _ placement: inout RowPlacement,
        _ arriving: inout [RowReader.Arrival], _ result: inout Result
    ) {
        let object = touch.object
        let known = identities.token(of: object.objectID, in: old)
        guard belongs(touch) else {
            if let known, result.touched.insert(known).inserted { placement.removed.append(known) }
            return
        }
        guard let known else {
            let new = identities.token(of: object)
            if result.touched.insert(new).inserted { arriving.append(.init(row: new, object: object)) }
            return
        }
        if let keys = touch.keys, keys.isEmpty { return }
        guard result.touched.insert(known).inserted, mayMove(touch) else { return }
        placement.removed.append(known)
        arriving.append(.init(row: known, object: object))
    }

    private func belongs(_ touch: TouchedObjects.Touch) -> Bool {
        let object = touch.object
        if object.isDeleted || touch.isGone { return false }
        // The row was deleted without a notification.
        if object.waitsForRow { return false }
        if let store = object.objectID.persistentStore, !plan.stores.contains(where: { $0 === store }) { return false }
        return definition.membership?.evaluate(with: object) ?? true
    }

    /// True if the change can move the object.
    private func mayMove(_ touch: TouchedObjects.Touch) -> Bool {
        guard let keys = touch.keys, let placeKeys = definition.placeKeys else { return true }
        return !keys.isDisjoint(with: placeKeys)
    }

    /// Places rows again if they were not touched and still belong to the list.
    private func replace(
        _ tokens: [RowToken], _ old: ListContents, _ placement: inout RowPlacement,
        _ arriving: inout [RowReader.Arrival],
        _ result: Result
    ) throws {
        let tokens = tokens.filter { !result.touched.contains($0) && old.contains($0) }
        guard !tokens.isEmpty else { return }
        let objects = try context.fetchPipeline.objects(for: identities.objectIDs(of: tokens))
        for (token, object) in zip(tokens, objects) where belongs(.init(object: object)) {
            placement.removed.append(token)
            arriving.append(.init(row: token, object: object))
        }
    }
}
