/// Switches the controller to the list of another request.
extension ResultsTracker {
    /// Switches from the displayed list to another one, and reports the changes.
    ///
    /// - Parameters:
    ///   - batch: the changes, by the names and identities of the new list; `nil` to report only that the contents are
    ///     different.
    ///   - difference: the batch as a difference, if that was already made.
    func goOver(
        to loaded: LoadedResults, _ request: NSFetchRequest<NSFetchRequestResult>, telling batch: ChangeBatch?,
        _ difference: PreparedDifference? = nil
    ) {
        guard let old = state else {
            keep(loaded)
            return begin(with: loaded, request)
        }
        let made = madeState(loaded, request)
        let told = batch.flatMap { batch in
            listeners.isEmpty || batch.isEmpty
                ? nil : FetchedResultsBatch(batch, of: made, TouchedObjects(), isWhole: true)
        }
        take(made, loaded)
        keep(loaded)
        recent.removeAll()
        (missedChanges, isInvalidated) = (false, false)
        isWorking = true
        let kept = caller.controller
        defer { withExtendedLifetime(kept) {} }
        fetches += 1
        let number = fetches
        observation.withMutation(of: self, keyPath: \.state) { show(batch, difference, from: old, to: made) }
        // The delegate, which has just been called, may have fetched again.
        if fetches == number {
            old.titleOfSection = { _ in nil }
            if let told { listeners.hear(told) } else if !listeners.isEmpty, let snapshot { listeners.begin(snapshot) }
        }
        isWorking = false
        letGoLater(batch, difference, old)
        workOff()
    }

    /// Writes the saved list to disk.
    private func keep(_ loaded: LoadedResults) {
        guard !loaded.isOnDisk, let cacheName, let origin = loaded.origin, let saved = loaded.savedContents,
            let store = loaded.definition.identities.store
        else { return }
        ResultsCache(named: cacheName, of: loaded.definition, in: store)
            .write(saved, of: loaded.definition, origin: origin)
    }

    private func show(
        _ batch: ChangeBatch?, _ difference: PreparedDifference?, from old: ResultsState, to made: ResultsState
    ) {
        let showing = Showing(
            old: { [self] in (state, shownSections) = (old, ShownSections()) },
            new: { [self] in (state, shownSections) = (made, ShownSections()) })
        guard let batch else { return tellContents(of: made, showing) }
        if batch.isEmpty { return showing.new() }
        let isFlat = !made.isSectioned && !old.isSectioned
        _ = tell(batch, of: made, isFlat: isFlat, showing, difference?.value(of: made.identities))
    }

    /// Releases the reported changes and the old contents on another queue, after this one has released them: freeing a
    /// million changes, or the names of some ten thousand sections, takes milliseconds.
    // SAFETY: nothing reads the values there; only references to them are released.
    private func letGoLater(_ batch: ChangeBatch?, _ difference: PreparedDifference?, _ old: ResultsState) {
        let rows = batch?.rowChanges.count ?? old.published.rowCount
        guard rows > Self.quicklyFreed || old.names.count > Self.quicklyFreedSections else { return }
        let held = UncheckedSendable((batch, difference, old.published, old.aggregates, old.names))
        BackgroundReader.queue.asyncAfter(deadline: .now() + 0.1) { withExtendedLifetime(held) {} }
    }

    private static let quicklyFreed = 10_000
    private static let quicklyFreedSections = 500

    /// Reports that the contents are different, without the changes.
    private func tellContents(of made: ResultsState, _ showing: Showing) {
        if caller.mayHave(.snapshot) {
            let snapshot = NSDiffableDataSourceSnapshotReference(
                made.published, names: made.names, identities: made.identities, reloaded: [])
            showing.new()
            if caller.call(.snapshot, { $0.controller($1, didChangeContentWith: snapshot) }) { return }
            showing.old()
        }
        let number = fetches
        caller.call(.willChange) { $0.controllerWillChangeContent($1) }
        if fetches == number { showing.new() }
        caller.call(.didChange) { $0.controllerDidChangeContent($1) }
    }
}
