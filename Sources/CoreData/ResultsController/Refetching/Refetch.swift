import Foundation

/// The change from a displayed list to that of another request, mostly in the background.
///
/// Design. The new list is read through a reader of the store, and compared with the old one, while the old one stays
/// visible and follows changes. Changes of objects during that time are noted, and applied to the new list when it is
/// ready; then both are compared again, until there were no more changes. Code that uses the context runs on its queue.
/// It passes only values to the background, and names that are not used elsewhere.
///
/// A window, several stores, a parent context, and sections that only objects can compute are read on the queue.
final class Refetch {
    private let tracker: ResultsTracker
    private let context: NSManagedObjectContext
    private let loader: ResultsLoader
    private let request: NSFetchRequest<NSFetchRequestResult>
    private let tellsChanges: Bool
    private let interruption: Interruption
    private var completion: ((Result<Void, any Error>) -> Void)?

    private var definition: ListDefinition
    /// True if the controller has no list yet.
    private let isFirst: Bool
    private var related: RelatedObjects?
    /// The changes since the reading began.
    private var touched = TouchedObjects()
    /// True if there was a change whose objects are unknown.
    var isBroken = false
    /// The number of attempts to read, and to compare.
    private var readings = 0
    private var comparisons = 0

    /// Maximum number of transactions whose changes are read while the user waits; that is hardly noticed.
    private static let mostTransactions: Int64 = 100
    private static let mostReadings = 3
    private static let mostComparisons = 4

    /// - Parameter completion: called once, on the context's queue.
    /// - Throws: 134060 for a request that cannot be resolved.
    init(
        _ tracker: ResultsTracker, tellsChanges: Bool, interruption: Interruption,
        completion: @escaping (Result<Void, any Error>) -> Void
    ) throws {
        self.tracker = tracker
        context = tracker.context
        request = tracker.request.erasedCopy
        loader = tracker.loader(for: request)
        self.tellsChanges = tellsChanges
        self.interruption = interruption
        self.completion = completion
        isFirst = tracker.state == nil
        definition = try loader.definition(keeping: Self.keptIdentities(of: tracker))
    }

    private static func keptIdentities(of tracker: ResultsTracker) -> RowIdentities? {
        tracker.state.flatMap { $0.fixedResults == nil ? $0.identities : nil }
    }

    // MARK: On the queue

    /// Starts, and ends an earlier refetch. Called on the queue.
    func start() {
        tracker.refetch?.end()
        tracker.refetch = self
        read()
    }

    /// Cancels the refetch, since another fetch was requested; the list stays unchanged.
    func end() {
        interruption.interrupt()
        finish(.failure(CoreDataError.make(3072, "The fetch was cancelled.")))
    }

    private func finish(_ result: Result<Void, any Error>) {
        if tracker.refetch === self { tracker.refetch = nil }
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    /// Runs `body` on the context's queue, unless the refetch has finished.
    private func onQueue(_ body: @escaping () throws -> Void) {
        context.queue.async { [self] in
            guard completion != nil else { return }
            // A delegate is being called and has let the queue run other work, such as this: try again afterwards.
            if tracker.isWorking { return onQueue(body) }
            do {
                try interruption.check()
                try body()
            } catch {
                finish(.failure(error))
            }
        }
    }

    /// Runs `work` in the background, and then `body` with its result.
    ///
    /// - Parameters:
    ///   - work: runs in the background, and uses no objects of the context.
    ///   - body: runs on the queue.
    private func inBackground<Value>(
        _ work: @escaping () throws -> Value, then body: @escaping (Value) throws -> Void
    ) {
        let work = UncheckedSendable(work)
        let later = QueueBound(
            { [self] (result: Result<Value, any Error>) in onQueue { try body(result.get()) } }, on: context.queue)
        BackgroundReader.queue.async {
            let result = UncheckedSendable(Result { try work.value() })
            later.async { $0(result.value) }
        }
    }

    private var canReadInBackground: Bool {
        let plan = definition.plan
        return definition.identities.store != nil && context.generation.token == nil
            && request.resultType != .dictionaryResultType
            && plan.limit == 0 && plan.offset == 0 && definition.hasStoredSections
    }

    private func read() {
        readings += 1
        (isBroken, touched, comparisons) = (false, TouchedObjects(), 0)
        related = tracker.followsRelatedObjects ? RelatedObjects(definition) : nil
        guard let store = definition.identities.store, let coordinator = context.persistentStoreCoordinator,
            canReadInBackground, readings <= Self.mostReadings
        else { return onQueue { [self] in try readHere() } }
        if request.includesPendingChanges { noteUnsaved() }
        let reading = Reading(
            definition: definition, interruption: interruption, cacheName: isFirst ? tracker.cacheName : nil)
        inBackground {
            try reading.kept(store) ?? reading.read(store, coordinator)
        } then: { [self] found in
            guard let found else { return try readHere() }
            compareLater(found)
        }
    }

    /// Reads on the queue.
    private func readHere() throws {
        context.processPendingChanges()
        let loaded = try loader.load(definition)
        let batch = Self.batch(to: loaded.contents, of: loaded.definition, from: shown())
        goOver(to: loaded, batch)
    }

    /// The difference, found in the background, between the displayed and the new list.
    private struct Compared {
        let batch: ChangeBatch?
        /// The batch as a difference, if the delegate may want one.
        let difference: PreparedDifference?
        /// The version of the displayed list.
        let version: Int?
    }

    /// Applies the changes noted so far, and shows the new list if there were none.
    private func compareLater(_ found: LoadedResults, with compared: Compared? = nil) {
        do {
            context.processPendingChanges()
            tracker.workOff()
            if isBroken {
                definition = try loader.definition(keeping: Self.keptIdentities(of: tracker))
                return read()
            }
            var loaded = found
            if compared?.batch == nil { loaded.adoptIdentities() }
            let isSame = touched.isEmpty
            if !isSame { try edit(&loaded) }
            let shown = shown()
            if !tellsChanges && !needsDifference || shown == nil { return goOver(to: loaded, nil) }
            if isSame, let compared, let batch = compared.batch, compared.version == shown?.version {
                return goOver(to: loaded, batch, compared.difference)
            }
            comparisons += 1
            let definition = loaded.definition
            if comparisons > Self.mostComparisons {
                return goOver(to: loaded, Self.batch(to: loaded.contents, of: definition, from: shown))
            }
            let contents = loaded.contents
            let identities = mayTellDifference ? definition.identities.frozen() : nil
            inBackground { [interruption] in
                let batch = Self.batch(to: contents, of: definition, from: shown)
                return Compared(
                    batch: batch,
                    difference: try batch.flatMap { try PreparedDifference($0, identities, interruption.check) },
                    version: shown?.version)
            } then: { [self] compared in
                loaded.contents = compared.batch?.new ?? contents
                compareLater(loaded, with: compared)
            }
        } catch {
            finish(.failure(error))
        }
    }

    /// True if the delegate may get a difference: its methods are usually unknown until they were called.
    private var mayTellDifference: Bool {
        !definition.isSectioned && tracker.state?.isSectioned == false && tracker.caller.mayHave(.difference)
            && !tracker.caller.isKnownToHearSnapshots
    }

    /// True if the delegate gets a form that contains only changes.
    private var needsDifference: Bool {
        !definition.isSectioned && tracker.caller.isKnownToHearDifferences
    }

    private func edit(_ loaded: inout LoadedResults) throws {
        var work = touched
        touched = TouchedObjects()
        if let related { try related.addObjects(thatLookAt: work, to: &work, context: context) }
        let old = loaded.contents
        let result = try ListFollower(definition: loaded.definition, context: context).edit(old, work)
        loaded.contents = result.contents
        guard var table = loaded.aggregates else { return }
        let rows = result.touched.union(result.placed)
        let values = try loaded.definition.values(
            table.plan, of: rows.filter(result.contents.contains), in: context)
        loaded.take(nil)
        table.follow(from: old, to: result.contents, rows: rows, newValues: values)
        loaded.take(table)
    }

    private func goOver(to loaded: LoadedResults, _ batch: ChangeBatch?, _ difference: PreparedDifference? = nil) {
        let completion = completion
        self.completion = nil
        tracker.refetch = nil
        tracker.goOver(to: loaded, request, telling: batch, difference)
        completion?(.success(()))
    }

    // MARK: Changes during the refetch

    private func isOfInterest(_ entity: NSEntityDescription) -> Bool {
        definition.plan.includes(entity) || related?.looks(at: entity) ?? false
    }

    private func noteUnsaved() {
        let changes = context.changes
        for object in changes.inserted.all + changes.updated.all where isOfInterest(object.entity) {
            touched.note(object)
        }
        for object in changes.deleted.all where isOfInterest(object.entity) { touched.note(object, isGone: true) }
    }

    func objectsDidChange(_ info: [AnyHashable: Any]) {
        if info[NSInvalidatedAllObjectsKey] != nil { isBroken = true }
        touched.note(info, where: isOfInterest)
    }

    func didMerge(_ info: [AnyHashable: Any]) {
        func ids(_ key: String) -> [NSManagedObjectID] {
            (info[key] as? Set<NSManagedObjectID> ?? []).filter { isOfInterest($0.entity) }
        }
        touched.noteChanged(ids(NSInsertedObjectIDsKey))
        touched.noteChanged(ids(NSUpdatedObjectIDsKey))
        touched.noteDeleted(ids(NSDeletedObjectIDsKey))
    }

    // MARK: Comparison

    /// The contents that the controller shows, as a value.
    private struct Shown {
        let contents: ListContents
        let table: SectionTable
        /// True if sections are identified by the same kind of text as in the new list.
        let hasSameKeys: Bool
        let version: Int
    }

    /// - Returns: `nil` if it has nothing in common with the new list.
    private func shown() -> Shown? {
        guard let state = tracker.state, state.fixedResults == nil, state.identities === definition.identities else {
            return nil
        }
        return Self.shown(state, definition)
    }

    /// The changes from the displayed list to a new one with the same identities.
    static func batch(to loaded: LoadedResults, from state: ResultsState) -> ChangeBatch? {
        batch(to: loaded.contents, of: loaded.definition, from: shown(state, loaded.definition))
    }

    private static func shown(_ state: ResultsState, _ definition: ListDefinition) -> Shown {
        Shown(
            contents: state.published.detached(), table: state.names.table,
            hasSameKeys: (state.definition.rule == nil) == (definition.rule == nil), version: state.version)
    }

    /// The changes from the displayed list to a new one, with the new list's section numbers.
    private static func batch(
        to new: ListContents, of definition: ListDefinition, from shown: Shown?
    ) -> ChangeBatch? {
        guard let shown else { return nil }
        let names = definition.names
        if !new.isSectioned { _ = names.number(of: "") }
        func key(of number: UInt32, named name: String) -> String {
            if shown.hasSameKeys { return shown.table.key(of: number) }
            guard names.rule != nil else { return name }
            return (name.isEmpty ? SectionValue.missing : .text(name)).code
        }
        var numbers: [UInt32: UInt32] = [:]
        var taken: Set<UInt32> = []
        for section in shown.contents.allSections {
            let name = shown.table.name(of: section.number)
            let key = key(of: section.number, named: name)
            var number = names.number(of: key, foreignName: name)
            if !taken.insert(number).inserted {
                // An earlier section has the same name.
                number = names.number(of: "\(key)\0\(section.number)", foreignName: name)
                taken.insert(number)
            }
            numbers[section.number] = number
        }
        let old = shown.contents.renumbered { numbers[$0] ?? $0 }
        return ChangeBatch(comparing: old, with: new)
    }
}

extension Refetch {
    /// The part that runs in the background: it uses the list and the store, not the context.
    private struct Reading {
        let definition: ListDefinition
        let interruption: Interruption
        /// The name of the list on disk; `nil` if it cannot be used.
        let cacheName: String?

        /// The list on disk from an earlier launch, updated to the current state of the store. Only for a list that is
        /// not displayed yet: then the queue does not use the numbers of its rows concurrently.
        func kept(_ store: any RowStore) throws -> LoadedResults? {
            guard definition.aggregates == nil, let name = cacheName else { return nil }
            try interruption.check()
            let empty = LoadedResults(definition: definition, contents: definition.noContents)
            guard
                var loaded = ResultsCache(named: name, of: definition, in: store)
                    .read(into: empty, mostTransactions: Refetch.mostTransactions)
            else { return nil }
            loaded.savedContents = loaded.contents
            return loaded
        }

        /// The saved rows; `nil` if they must be read on the queue.
        func read(_ store: any RowStore, _ coordinator: NSPersistentStoreCoordinator) throws -> LoadedResults? {
            var origins: [ListOrigin] = []
            let found = try BackgroundReader(interruption: interruption).reading(
                [store], coordinator, note: { origins.append(try ListOrigin(of: store)) }
            ) { [definition, interruption] readers in
                try ResultsLoader.contents(of: definition, from: readers[0], check: interruption.check)
            }
            guard var loaded = found else { return nil }
            if let origin = origins.first, origins.allSatisfy({ $0 == origin }) {
                (loaded.savedContents, loaded.origin) = (loaded.contents, origin)
            }
            return loaded
        }
    }
}
