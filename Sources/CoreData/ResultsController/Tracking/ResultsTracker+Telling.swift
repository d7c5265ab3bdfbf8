/// Reports batches.
extension ResultsTracker {
    func publish(_ change: TrackedChange, of state: ResultsState, _ work: TouchedObjects) {
        state.tracked = change.contents
        state.window = change.window
        let touched = state.heldBack.isEmpty ? change.touched : state.heldBack.union(change.touched)
        let batch = ChangeBatch(from: state.published, to: state.tracked, touched: touched, replaced: change.replaced)
        guard !batch.isEmpty else {
            if change.isWhole { showAggregates(of: state) } else { state.published = state.tracked }
            state.heldBack = []
            return
        }
        let old = state.published
        let told = listeners.isEmpty ? nil : FetchedResultsBatch(batch, of: state, work, isWhole: change.isWhole)
        if announce(batch, of: state) || hasFollowers {
            state.heldBack = []
            cacheWriter?.storeChanged()
            guard self.state === state else { return }
            if let told { if isSilent { listeners.begin(told.after) } else { listeners.hear(told) } }
        } else if self.state === state {
            // No listener was notified, so the changes are held back. A listener that is added later gets all of them
            // together.
            show(old, of: state, sameSections: batch.keepsSections)
            state.heldBack = touched
        }
    }

    /// Publishes the tracked contents if only aggregates may have changed. Notifies observers and snapshots if an
    /// aggregate did.
    private func showAggregates(of state: ResultsState) {
        let old = state.published.aggregates
        guard let new = state.tracked.aggregates, old?.isSame(as: new, in: state.tracked) != true else {
            state.published = state.tracked
            return
        }
        observation.withMutation(of: self, keyPath: \.state) { state.published = state.tracked }
        if !listeners.isEmpty, let snapshot { listeners.begin(snapshot) }
    }

    /// Publishes a batch, and notifies observers and the delegate.
    ///
    /// - Returns: True if the delegate was notified, or need not be.
    private func announce(_ batch: ChangeBatch, of state: ResultsState) -> Bool {
        observation.withMutation(of: self, keyPath: \.state) {
            guard isSilent else { return tell(batch, of: state) }
            show(batch.new, of: state, sameSections: batch.keepsSections)
            return true
        }
    }

    private func show(_ contents: ListContents, of state: ResultsState, sameSections: Bool) {
        state.published = contents
        guard !sameSections else { return }
        shownSections = ShownSections()
    }

    /// Closures that make the controller show the contents before a batch, and those after it.
    struct Showing {
        let old: () -> Void
        let new: () -> Void
    }

    private func tell(_ batch: ChangeBatch, of state: ResultsState) -> Bool {
        let showing = Showing(
            old: { [self] in show(batch.old, of: state, sameSections: batch.keepsSections) },
            new: { [self] in show(batch.new, of: state, sameSections: batch.keepsSections) })
        return tell(batch, of: state, isFlat: !state.isSectioned, showing)
    }

    /// Notifies the delegate in the one form that it implements.
    ///
    /// - Parameter prepared: the batch as a difference, if that was already made.
    /// - Returns: True if a method was called.
    func tell(
        _ batch: ChangeBatch, of state: ResultsState, isFlat: Bool, _ showing: Showing,
        _ prepared: CollectionDifference<NSManagedObjectID>? = nil
    ) -> Bool {
        if caller.mayHave(.snapshot) {
            let snapshot = BatchProjections.snapshot(of: batch, names: state.names, identities: state.identities)
            showing.new()
            if caller.call(.snapshot, { $0.controller($1, didChangeContentWith: snapshot) }) { return true }
            showing.old()
        }
        if isFlat, caller.mayHave(.difference),
            let difference = prepared ?? BatchProjections.difference(of: batch, identities: state.identities)
        {
            showing.new()
            if caller.call(.difference, { $0.controller($1, didChangeContentWith: difference) }) { return true }
            showing.old()
        }
        let wasHeard = caller.isKnownToHearRows
        return tellRows(batch, of: state, showing) || wasHeard
    }

    /// Calls the delegate's willChange, section, object and didChange methods, in this order. If the delegate fetches
    /// meanwhile, only didChange is still called.
    ///
    /// - Returns: True if the delegate implements one of these methods.
    private func tellRows(_ batch: ChangeBatch, of state: ResultsState, _ showing: Showing) -> Bool {
        let number = fetches
        var isHeard = caller.call(.willChange) { $0.controllerWillChangeContent($1) }
        if fetches == number {
            showing.new()
            for event in BatchProjections.sectionEvents(of: batch) where fetches == number {
                let info = ResultsSection(state: state, number: event.number, index: event.index)
                let isCalled = caller.call(.section) {
                    $0.controller($1, didChange: info, atSectionIndex: event.index, for: event.type)
                }
                isHeard = isHeard || isCalled
            }
            for event in BatchProjections.objectEvents(of: batch) {
                guard fetches == number, caller.mayHave(.object) else { break }
                let result = state.result(for: event.row)
                let isCalled = caller.call(.object) {
                    $0.controller(
                        $1, didChange: result, at: event.indexPath, for: event.type,
                        newIndexPath: event.newIndexPath)
                }
                isHeard = isHeard || isCalled
            }
        }
        let isDidCalled = caller.call(.didChange) { $0.controllerDidChangeContent($1) }
        return isHeard || isDidCalled
    }
}
