import Foundation

/// Reads the values that aggregates are computed from.
extension ResultsLoader {
    /// The number of objects that are processed together.
    private static let portion = 1_000

    /// The aggregates of a list as the context sees it: by one query for the saved rows, and from the unsaved objects.
    ///
    /// - Returns: `nil` if no aggregates are wanted.
    func aggregates(of contents: ListContents, _ definition: ListDefinition) throws -> AggregateTable? {
        guard let plan = definition.aggregates else { return nil }
        var values = try savedValues(plan, contents, definition)
        let all = contents.rows.elements(in: 0..<contents.rowCount)
        let missing = all.filter { values[0][$0] == nil }
        for start in stride(from: 0, to: missing.count, by: Self.portion) {
            let rows = missing[start..<min(start + Self.portion, missing.count)]
            for (row, found) in try definition.values(plan, of: rows, in: context) {
                for place in values.indices { values[place][row] = found[place] }
            }
        }
        return AggregateTable(plan, contents, values: values)
    }

    private func savedValues(
        _ plan: AggregatePlan, _ contents: ListContents, _ definition: ListDefinition
    ) throws -> [[RowToken: SectionValue]] {
        let none = plan.keys.map { _ in [RowToken: SectionValue]() }
        let listPlan = definition.plan
        guard definition.identities.store != nil, listPlan.limit == 0, listPlan.offset == 0 else {
            return none
        }
        let unsorted = request.erasedCopy
        unsorted.sortDescriptors = []
        guard let found = try context.fetchPipeline.keys(unsorted, extraPaths: plan.paths),
            let columns = found.extraValues
        else { return none }
        let tokens = found.keys.map { key in
            RowIdentities.token(of: key) ?? definition.identities.token(of: found.store.operations.objectID(for: key))
        }
        var values = plan.values(of: tokens, in: columns)
        let unsaved = try unsaved(definition)
        let ids = unsaved.touches.map(\.object.objectID) + unsaved.changedIDs
        for token in ids.compactMap({ definition.identities.token(of: $0, in: contents) }) {
            for place in values.indices { values[place][token] = nil }
        }
        return values
    }
}

extension ListDefinition {
    /// The values of rows, for each of the plan's keys, from the context's objects. Objects that the context does not
    /// have are read together. A row that was deleted from the store has none.
    func values(
        _ plan: AggregatePlan, of rows: some Collection<RowToken>, in context: NSManagedObjectContext
    ) throws -> [RowToken: [SectionValue]] {
        let objects = try context.fetchPipeline.objects(for: identities.objectIDs(of: Array(rows)))
        return Dictionary(
            zip(rows, objects).map { row, object in
                (row, plan.keys.map { object.waitsForRow ? .missing : $0.value(of: object) })
            },
            uniquingKeysWith: { first, _ in first })
    }
}

extension ResultsTracker {
    /// Updates the aggregates to the state after a step.
    ///
    /// - Parameter isWhole: true if the changes of the step are unknown.
    /// - Throws: the store's errors; the state is unchanged then.
    func followAggregates(_ change: inout TrackedChange, of state: ResultsState, isWhole: Bool) throws {
        guard let plan = state.aggregates?.plan else { return }
        if isWhole || state.aggregates?.hasValues == false {
            state.aggregates = try reloader(of: state).aggregates(of: change.contents, state.definition)
        } else {
            let rows = change.touched.union(change.replaced)
            // Rows that only got a new place keep their values.
            let values = try state.definition.values(
                plan, of: change.touched.filter(change.contents.contains), in: context)
            state.aggregates?.follow(from: state.tracked, to: change.contents, rows: rows, newValues: values)
        }
        change.contents.aggregates = state.aggregates?.results
    }
}

extension NSFetchedResultsController {
    /// The aggregates to compute for each section and for the whole list. Empty by default. An addition to Apple's
    /// interface.
    ///
    /// A fetch reads them with one more query: for a long list by one GROUP BY if SQL computes them exactly (all but
    /// sums of decimals and of real numbers, and least and greatest decimals), otherwise from the values of its rows.
    /// Each batch of changes updates them: O(k log n) for k changed objects, plus the rows of a section that lost its
    /// least or greatest value. The values of a long list's rows are read in the background after the fetch, or by the
    /// first change if it is earlier. Takes effect at the next `performFetch()` or ``refetch(telling:reporting:)``.
    public final var aggregates: [SectionAggregate] {
        get { tracker.aggregates }
        set { tracker.aggregates = newValue }
    }

    /// An aggregate of the whole list; `nil` before the fetch, and for one that is not among ``aggregates``.
    public final func aggregate(_ aggregate: SectionAggregate) -> SectionValue? { tracker.aggregate(aggregate) }
}

extension NSFetchedResultsSectionInfo {
    /// An aggregate of the section's objects; `nil` for one that is not among the controller's
    /// ``NSFetchedResultsController/aggregates``. An addition to Apple's interface.
    public func aggregate(_ aggregate: SectionAggregate) -> SectionValue? {
        (self as? ResultsSection)?.aggregate(aggregate)
    }
}

extension ResultsSection {
    fileprivate func aggregate(_ aggregate: SectionAggregate) -> SectionValue? {
        state.published.aggregates.flatMap { $0.plan.result(aggregate, of: $0[number]) }
    }
}

extension ResultsTracker {
    fileprivate func aggregate(_ aggregate: SectionAggregate) -> SectionValue? {
        observation.access(self, keyPath: \.state)
        return state?.published.aggregates.flatMap { $0.plan.result(aggregate, of: $0.total) }
    }
}

extension FetchedResultsSnapshot {
    /// An aggregate of all objects; `nil` for one that the controller does not have.
    public func aggregate(_ aggregate: SectionAggregate) -> SectionValue? {
        contents.aggregates.flatMap { $0.plan.result(aggregate, of: $0.total) }
    }

    /// An aggregate of a section's objects; `nil` for one that the controller does not have. O(log sections).
    ///
    /// - Precondition: The list has that section.
    public func aggregate(_ aggregate: SectionAggregate, ofSectionAt index: Int) -> SectionValue? {
        let number = contents.section(at: index).number
        return contents.aggregates.flatMap { $0.plan.result(aggregate, of: $0[number]) }
    }
}

extension FetchedResultsBatch {
    /// An aggregate whose value changed. A value, safe on any thread.
    public struct AggregateChange: Sendable, Hashable {
        /// The aggregate whose value changed.
        public let aggregate: SectionAggregate
        /// The name of the section; `nil` for the whole list.
        public let section: String?
        /// The value before; ``SectionValue/missing`` for an inserted section.
        public let oldValue: SectionValue
        /// The value after; ``SectionValue/missing`` for a deleted section.
        public let newValue: SectionValue
    }

    /// The aggregates that changed: of the whole list, then of the sections in their new order, then of deleted
    /// sections. O(changes); O(sections) if the changes are unknown, as after
    /// ``NSFetchedResultsController/refetch(telling:reporting:)``.
    public var aggregateChanges: [AggregateChange] {
        guard let plan = (after.contents.aggregates ?? before.contents.aggregates)?.plan else { return [] }
        func value(_ snapshot: FetchedResultsSnapshot, _ aggregate: SectionAggregate, _ number: UInt32?) -> SectionValue
        {
            guard let results = snapshot.contents.aggregates else { return .missing }
            guard let number else { return results.plan.result(aggregate, of: results.total) ?? .missing }
            guard snapshot.index(ofSectionNumbered: number) != nil else { return .missing }
            return results.plan.result(aggregate, of: results[number]) ?? .missing
        }
        return ([nil] + numbersOfChangedSections).flatMap { number in
            plan.aggregates.compactMap { aggregate -> AggregateChange? in
                let (old, new) = (value(before, aggregate, number), value(after, aggregate, number))
                guard !old.isSame(as: new) else { return nil }
                return AggregateChange(
                    aggregate: aggregate, section: number.map(after.name(ofSectionNumbered:)), oldValue: old,
                    newValue: new)
            }
        }
    }

    /// The sections whose aggregates may have changed: in their new order, then the deleted ones in their old order.
    private var numbersOfChangedSections: [UInt32?] {
        let (old, new) = (before.contents, after.contents)
        func went(_ number: UInt32) -> Bool { after.index(ofSectionNumbered: number) == nil }
        if comparesAllSections {
            return new.allSections.map(\.number) + old.allSections.map(\.number).filter(went)
        }
        let oldSections = Set(changes.compactMap { $0.indexPath?.section })
        let newSections = Set(changes.compactMap { $0.newIndexPath?.section }).union(
            oldSections.compactMap { after.index(ofSectionNumbered: old.section(at: $0).number) })
        return newSections.sorted().map { new.section(at: $0).number }
            + oldSections.sorted().map { old.section(at: $0).number }.filter(went)
    }
}
