/// One step of the state that follows the context.
struct TrackedChange {
    var contents: ListContents
    /// The rows that were inserted, deleted or changed.
    var touched: Set<RowToken>
    /// Unchanged rows that were placed again.
    var replaced: Set<RowToken> = []
    /// The window that the contents are a part of.
    var window: ResultsWindow?
    /// True if changes were missed, so that values may have changed that are not in ``touched``.
    var isWhole = false
}

/// Computes the next tracked state.
extension ResultsTracker {
    /// Computes the next contents of the list from the objects that may have changed.
    ///
    /// - Parameter merge: the merge that touched them, if one did.
    /// - Throws: the store's errors; the state is unchanged then.
    func edit(_ state: ResultsState, _ work: TouchedObjects, of merge: MergeAnnouncement?) throws -> TrackedChange {
        var work = work
        if let related { try related.addObjects(thatLookAt: work, to: &work, context: context) }
        let isBehind = context.merger.hasUnmerged
        let replaced =
            merge.map {
                recent.takeForMerge(
                    of: changedRows(work, state), completeSince: $0.completeSince, isBehind: isBehind)
            } ?? []
        if let window = state.window { return try edit(window, of: state, work, replacing: replaced) }
        let follower = ListFollower(definition: state.definition, context: context)
        let result = try follower.edit(state.tracked, work, replacing: replaced)
        recent.note(result.comparisons)
        return TrackedChange(contents: result.contents, touched: result.touched, replaced: Set(replaced))
    }

    private func edit(
        _ old: ResultsWindow, of state: ResultsState, _ work: TouchedObjects, replacing: [RowToken]
    ) throws -> TrackedChange {
        var window = old
        let follower = ListFollower(definition: window.flat, context: context)
        guard let result = try window.edit(work, replacing: replacing, with: follower) else {
            return try refill(window, of: state, known: known(work, state))
        }
        recent.note(result.comparisons)
        let contents = try window.visible(state.definition, in: context)
        let touched = ListComparison.touchedRows(from: state.tracked, to: contents, known: result.touched)
        return TrackedChange(contents: contents, touched: touched, replaced: Set(replacing), window: window)
    }

    private func refill(
        _ old: ResultsWindow, of state: ResultsState, known: Set<RowToken>
    ) throws -> TrackedChange {
        var window = old
        try reloader(of: state).refill(&window, shown: state.definition)
        let contents = try window.visible(state.definition, in: context)
        let touched = ListComparison.touchedRows(from: state.tracked, to: contents, known: known)
        return TrackedChange(contents: contents, touched: touched, window: window)
    }

    /// Fetches the list again, and returns its new contents and the touched rows. Called when changes were missed.
    ///
    /// - Throws: the store's errors; the state is unchanged then.
    func fetchAgain(_ state: ResultsState, _ work: TouchedObjects) throws -> TrackedChange {
        let known = known(work, state)
        if let window = state.window {
            var change = try refill(window, of: state, known: known)
            recent.removeAll()
            change.touched = ListComparison.touchedRows(from: state.published, to: change.contents, known: known)
            change.isWhole = true
            return change
        }
        let contents = try reloader(of: state).reload(state.definition)
        recent.removeAll()
        let touched = ListComparison.touchedRows(from: state.published, to: contents, known: known)
        return TrackedChange(contents: contents, touched: touched, isWhole: true)
    }

    func reloader(of state: ResultsState) -> ResultsLoader {
        ResultsLoader(
            context: context, request: state.request, sectionNameKeyPath: nil, cacheName: nil,
            followsRelatedObjects: related != nil)
    }

    /// The rows of ``known(_:_:)``, and the deleted rows.
    private func changedRows(_ work: TouchedObjects, _ state: ResultsState) -> Set<RowToken> {
        var rows = known(work, state)
        for id in work.deletedIDs where state.definition.plan.includes(id.entity) {
            rows.insert(state.identities.token(of: id))
        }
        return rows
    }

    /// The rows of the list's entity that are known to have changed.
    private func known(_ work: TouchedObjects, _ state: ResultsState) -> Set<RowToken> {
        var known: Set<RowToken> = []
        let plan = state.definition.plan
        for touch in work.touches where plan.includes(touch.object.entity) && touch.keys?.isEmpty != true {
            known.insert(state.identities.token(of: touch.object))
        }
        for id in work.changedIDs where plan.includes(id.entity) { known.insert(state.identities.token(of: id)) }
        return known
    }
}
