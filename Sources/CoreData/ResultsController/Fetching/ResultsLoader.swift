import Foundation

/// The result of a results controller's fetch.
struct LoadedResults {
    var definition: ListDefinition
    var contents: ListContents
    var fixedResults: [AnyObject]?
    /// The contents without the context's unsaved changes, and the state of the store that they show; `nil` if unknown.
    var savedContents: ListContents?
    var origin: ListOrigin?
    /// True if the list is on disk in its saved state.
    var isOnDisk = false
    /// The window of a list with a limit or an offset, which follows changes instead of the contents.
    var window: ResultsWindow?
    /// Updates the aggregates of the contents.
    private(set) var aggregates: AggregateTable?

    mutating func take(_ table: AggregateTable?) {
        aggregates = table
        contents.aggregates = table?.results
    }

    /// Replaces rows of the store by the numbers that they already have.
    mutating func adoptIdentities() {
        let known = definition.identities.known(in: contents)
        guard !known.isEmpty else { return }
        contents = RowIdentities.adopting(contents, known)
        take(aggregates?.renamed(known))
    }
}

/// Finds the contents of a list by the cheapest exact way: from the cache, by keys and counts, or by objects.
///
/// Design. A list of one store needs one query, whatever its length: it returns the sorted keys and the values that the
/// rows of a section have in common. If only the class can compute the section, each object is asked for it, in
/// portions. Sections whose rows are not adjacent are an error. Unsaved changes of the context are then applied like
/// any other batch of changes.
struct ResultsLoader {
    let context: NSManagedObjectContext
    let request: NSFetchRequest<NSFetchRequestResult>
    let sectionNameKeyPath: String?
    /// The rule for sections, independent of the sort order; it takes precedence over the key path.
    var sectionBy: SectionBy?
    /// The aggregates to compute for each section.
    var aggregates: [SectionAggregate] = []
    let cacheName: String?
    /// True if unsaved changes of related objects that the list depends on count.
    let followsRelatedObjects: Bool

    /// The number of rows whose sections are read together.
    private static let portion = 1_000

    private var pipeline: FetchPipeline { context.fetchPipeline }

    /// Fetches the list.
    ///
    /// - Throws: 134060 for a request that cannot be resolved or sections whose rows are not adjacent; the store's
    ///   errors.
    func load() throws -> LoadedResults { try load(try definition()) }

    /// The definition of the list, without reading rows.
    ///
    /// - Parameter known: the identities of another list's rows, which are reused if they are of the same store.
    func definition(keeping known: RowIdentities? = nil) throws -> ListDefinition {
        let plan = try pipeline.plan(request)
        let rule = try sectionBy.map { try SectionRule($0, of: plan.entity) }
        let sectionKey = rule == nil ? sectionNameKeyPath.map { SectionKey($0, of: plan.entity) } : nil
        let single = pipeline.storeOfKeys(plan)
        let kept = known.flatMap { $0.store === single ? $0 : nil }
        var definition = ListDefinition(
            plan, sectionKey: sectionKey, ordering: try ObjectOrdering(plan.sortDescriptors, entity: plan.entity),
            identities: kept ?? RowIdentities(store: single), names: SectionNames(rule: rule))
        if !aggregates.isEmpty { definition.aggregates = try AggregatePlan(aggregates, of: plan.entity) }
        return definition
    }

    /// Fetches the list of `definition`.
    func load(_ definition: ListDefinition) throws -> LoadedResults {
        let plan = definition.plan
        var loaded = LoadedResults(definition: definition, contents: definition.noContents)
        if request.resultType == .dictionaryResultType {
            try loadDictionaries(into: &loaded)
        } else if plan.limit > 0 || plan.offset > 0 {
            try loadWindow(plan, into: &loaded)
        } else if let single = definition.identities.store {
            try load(from: single, into: &loaded)
        } else {
            try loadObjects(into: &loaded)
        }
        if loaded.fixedResults == nil {
            loaded.take(try groupedAggregates(of: loaded) ?? aggregates(of: loaded.contents, loaded.definition))
        }
        return loaded
    }

    /// Loads the rows between offset and limit, and those before them and a few after.
    private func loadWindow(_ plan: FetchPlan, into loaded: inout LoadedResults) throws {
        let shown = loaded.definition
        let (loader, flat) = try beginning(plan, shown)
        var window = ResultsWindow(
            try loader.contents(of: flat), of: flat, offset: plan.offset, limit: plan.limit)
        loaded.contents = try window.visible(shown, in: context, isStrict: true)
        loaded.window = window
    }

    /// The list without sections, from its first row to a few after the limit, and its loader. If unsaved objects
    /// affect which rows are first, the list has all rows.
    private func beginning(
        _ plan: FetchPlan, _ shown: ListDefinition
    ) throws -> (loader: ResultsLoader, list: ListDefinition) {
        let request = request.erasedCopy
        request.fetchOffset = 0
        let isKnownToStore = !looksAtUnsavedObjects(shown)
        request.fetchLimit = isKnownToStore ? ResultsWindow.capacity(offset: plan.offset, limit: plan.limit) : 0
        let flat = ListDefinition(
            try pipeline.plan(request), sectionKey: nil, ordering: shown.ordering, identities: shown.identities)
        let loader = ResultsLoader(
            context: context, request: request, sectionNameKeyPath: nil, cacheName: nil,
            followsRelatedObjects: followsRelatedObjects)
        return (loader, flat)
    }

    /// Fetches the first rows of a window's list again.
    func refill(_ window: inout ResultsWindow, shown: ListDefinition) throws {
        context.processPendingChanges()
        let (loader, _) = try beginning(shown.plan, shown)
        window.refill(try loader.contents(of: window.flat))
    }

    /// Fetches again; rows and sections keep the numbers that they have in `definition`.
    func reload(_ definition: ListDefinition) throws -> ListContents {
        context.processPendingChanges()
        return try contents(of: definition)
    }

    private func contents(of definition: ListDefinition) throws -> ListContents {
        var loaded = LoadedResults(definition: definition, contents: definition.noContents)
        if let store = definition.identities.store {
            try load(from: store, into: &loaded)
        } else {
            try loadObjects(into: &loaded)
        }
        return loaded.contents
    }

    private func load(from store: any RowStore, into loaded: inout LoadedResults) throws {
        let plan = loaded.definition.plan
        if try plan.limit > 0 && hasPendingChanges(plan) { return try loadObjects(into: &loaded) }
        // A context pinned to a generation may read an older state than the store's change token names.
        let isPinned = context.generation.token != nil
        let cache = isPinned ? nil : cacheName.map { ResultsCache(named: $0, of: loaded.definition, in: store) }
        if let cache, let cached = cache.read(into: loaded) {
            loaded = cached
        } else {
            let origin = try consistently(with: store) { try loadSaved(into: &loaded) }
            loaded.origin = isPinned ? nil : origin
            if let cache, let origin = loaded.origin {
                cache.write(loaded.contents, of: loaded.definition, origin: origin)
            }
        }
        loaded.contents = loaded.definition.identities.adopting(loaded.contents)
        loaded.savedContents = loaded.contents
        try addPendingChanges(to: &loaded)
    }

    /// True if the request includes the context's unsaved changes, and there are any.
    private func hasPendingChanges(_ plan: FetchPlan) throws -> Bool {
        try request.includesPendingChanges && PendingOverlay(plan, in: context) != nil
    }

    // MARK: Keys

    /// Repeats `body`, three times at most, until no other context or process commits to `store` during it. `body` may
    /// call the program's code, so the coordinator's lock is not held.
    ///
    /// - Returns: the state that `body` read, or `nil` if others committed during each attempt.
    private func consistently(with store: any RowStore, _ body: () throws -> Void) throws -> ListOrigin? {
        let coordinator = try pipeline.coordinator
        func origin() throws -> ListOrigin { try coordinator.withLock { try ListOrigin(of: store) } }
        for _ in 0..<3 {
            let before = try origin()
            try body()
            if try origin() == before { return before }
        }
        return nil
    }

    private func loadSaved(into loaded: inout LoadedResults) throws {
        let definition = loaded.definition
        guard let found = try pipeline.keys(request, groupedBy: definition.groupedBy, extraPaths: definition.extraPaths)
        else {
            return try loadObjects(into: &loaded)
        }
        let rows = SharedElements(count: found.keys.count) { place in
            let key = found.keys[place]
            return RowIdentities.token(of: key)
                ?? definition.identities.token(of: found.store.operations.objectID(for: key))
        }
        if definition.rule != nil {
            let numbers =
                try definition.numbers(found.groups, found.extraValues)
                ?? look(at: found, definition.section(ofRow:))
            loaded.contents = ListContents(rows: rows, in: numbers, of: definition.names)
            return
        }
        var sections: [SectionEntry] = []
        if let key = definition.sectionKey {
            sections = try definition.sections(by: key, found.groups) ?? looked(at: found, definition)
        }
        loaded.contents = ListContents(rows: rows, sections: sections, isSectioned: definition.isSectioned)
    }

    /// The results of `body` for each row's object.
    private func look<Value>(at found: FetchedKeys, _ body: (NSManagedObject) -> Value) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(found.keys.count)
        for start in stride(from: 0, to: found.keys.count, by: Self.portion) {
            let keys = found.keys[start..<min(start + Self.portion, found.keys.count)]
            for object in try pipeline.objects(for: keys, in: found.store) { values.append(body(object)) }
        }
        return values
    }

    /// The sections, computed from each row's object.
    private func looked(at found: FetchedKeys, _ definition: ListDefinition) throws -> [SectionEntry] {
        var run = SectionRun(names: definition.names)
        for number in try look(at: found, definition.section(ofRow:)) { try run.add(definition.names.key(of: number)) }
        return run.entries
    }

    /// The saved rows of a list, using only a reader of its store; `nil` if that is not sufficient. On any thread, as
    /// long as no other thread uses the names of the list's sections.
    static func contents(
        of definition: ListDefinition, from reader: any RowStore, check: @escaping () throws -> Void
    ) throws -> LoadedResults? {
        let plan = definition.plan.limited(to: [reader])
        var query = plan.query
        query.wantsRows = false
        query.groupedBy = definition.groupedBy
        query.extraPaths = definition.extraPaths + (definition.aggregates?.paths ?? [])
        let found = try StoreFetch(plan: plan, check: check).run(query)
        guard let rows = tokens(of: found.keys), let contents = try contents(of: definition, rows, found) else {
            return nil
        }
        var loaded = LoadedResults(definition: definition, contents: contents)
        if let aggregates = definition.aggregates {
            guard let columns = found.extraValues else { return nil }
            let values = aggregates.values(of: Array(rows.buffer), in: columns.suffix(aggregates.keys.count))
            loaded.take(AggregateTable(aggregates, contents, values: values))
        }
        return loaded
    }

    /// The packed forms of keys; `nil` if one has none. In one pass, since each further copy of a million keys is eight
    /// megabytes.
    private static func tokens(of keys: [RowKey]) -> SharedElements<RowToken>? {
        struct HasNone: Error {}
        return try? SharedElements(count: keys.count) { place in
            guard let token = RowIdentities.token(of: keys[place]) else { throw HasNone() }
            return token
        }
    }

    private static func contents(
        of definition: ListDefinition, _ rows: SharedElements<RowToken>, _ found: FoundRows
    ) throws -> ListContents? {
        if definition.rule != nil {
            return definition.numbers(found.groups, found.extraValues).map {
                ListContents(rows: rows, in: $0, of: definition.names)
            }
        }
        var sections: [SectionEntry] = []
        if let key = definition.sectionKey {
            guard let grouped = try definition.sections(by: key, found.groups) else { return nil }
            sections = grouped
        }
        return ListContents(rows: rows, sections: sections, isSectioned: definition.isSectioned)
    }

    /// Applies the context's unsaved changes.
    private func addPendingChanges(to loaded: inout LoadedResults) throws {
        let touched = try unsaved(loaded.definition)
        guard !touched.isEmpty else { return }
        let follower = ListFollower(definition: loaded.definition, context: context)
        loaded.contents = try follower.edit(loaded.contents, touched).contents
    }

    /// True if an object that the list's objects depend on has unsaved changes.
    private func looksAtUnsavedObjects(_ definition: ListDefinition) -> Bool {
        guard request.includesPendingChanges, followsRelatedObjects, let related = RelatedObjects(definition) else {
            return false
        }
        return context.changes.updated.all.contains { related.looks(at: $0.entity) }
    }

    /// The context's unsaved changes: those of the list's objects, and of the objects that they depend on.
    func unsaved(_ definition: ListDefinition) throws -> TouchedObjects {
        var touched = TouchedObjects()
        guard request.includesPendingChanges, context.hasChanges else { return touched }
        if let overlay = try PendingOverlay(definition.plan, in: context) {
            for object in overlay.matching { touched.note(object) }
            for id in overlay.touched { touched.note(context.registry.object(for: id)) }
        }
        if followsRelatedObjects, let related = RelatedObjects(definition) {
            var changed = TouchedObjects()
            for object in context.changes.updated.all where related.looks(at: object.entity) { changed.note(object) }
            try related.addObjects(thatLookAt: changed, to: &touched, context: context)
        }
        return touched
    }

    // MARK: Objects

    /// Loads objects, for lists of several stores, and for pages if there are unsaved changes.
    private func loadObjects(into loaded: inout LoadedResults) throws {
        let objects = try pipeline.objects(request)
        let definition = loaded.definition
        guard looksAtUnsavedObjects(definition) else {
            return try sort(objects, objects.map(definition.identities.token), into: &loaded)
        }
        // The fetch includes unsaved changes of the objects themselves, but not of related objects: the stores sorted
        // by their saved values. So all objects are placed again.
        var touched = try unsaved(definition)
        for object in objects { touched.note(object) }
        loaded.contents = try ListFollower(definition: definition, context: context)
            .edit(definition.noContents, touched).contents
    }

    private func loadDictionaries(into loaded: inout LoadedResults) throws {
        let results = try pipeline.fetch(request)
        loaded.fixedResults = results
        try sort(results, results.indices.map { RowToken(code: UInt64($0)) }, into: &loaded)
    }

    /// Divides sorted results into their sections.
    private func sort(_ results: [AnyObject], _ tokens: [RowToken], into loaded: inout LoadedResults) throws {
        let definition = loaded.definition
        if definition.rule != nil {
            loaded.contents = ListContents(
                rows: SharedElements(tokens), in: results.map(definition.section), of: definition.names)
            return
        }
        var run = SectionRun(names: definition.names)
        if let key = definition.sectionKey { for result in results { try run.add(key.name(of: result)) } }
        loaded.contents = ListContents(
            rows: SharedElements(tokens), sections: run.entries, isSectioned: definition.isSectioned)
    }
}
