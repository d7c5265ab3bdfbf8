import Foundation

/// A list on disk for one request on one store.
///
/// The list is used only if everything that determines its contents is the same (`fingerprint`), and the store has not
/// changed since: its ``ChangeToken`` equals the one in the file. If the store has changed and keeps a history, the
/// changes are applied to the list; otherwise the list is fetched again. A missing or damaged file, or that of another
/// list, is not an error. Failures to write are ignored.
struct ResultsCache {
    private let path: String
    private let fingerprint: String
    private let plan: FetchPlan
    private let list: ListDefinition
    private let store: any RowStore

    init(named name: String, of list: ListDefinition, in store: any RowStore) {
        path = ResultsCacheDirectory.file(named: name)
        fingerprint = Self.fingerprint(list, store)
        plan = list.plan
        self.list = list
        self.store = store
    }

    /// Removes the list kept under `name`; with `nil`, all lists of this program.
    static func delete(named name: String?) { ResultsCacheDirectory.remove(named: name) }

    /// Everything that determines the contents of the list, except the data.
    private static func fingerprint(_ list: ListDefinition, _ store: any RowStore) -> String {
        let plan = list.plan
        let section = list.sectionKey?.keyPath ?? list.rule.map { "by \($0.fingerprint ?? "")" } ?? ""
        let sort = plan.query.sortKeys.map { "\($0.keyPath.joined(separator: ".")) \($0.ascending) \($0.comparison)" }
        let lines =
            [
                "store \(store.identifier ?? "") \(store.url?.standardizedFileURL.path ?? "")",
                "entity \(plan.entity.name ?? "") \(plan.includesSubentities)",
                "predicate \(plan.predicate?.formatString ?? "")", "sort \(sort.joined(separator: ", "))",
                "section \(section)", "range \(plan.offset) \(plan.limit)",
            ]
            + entities(of: plan).map { entity in
                "version \(entity.name ?? "") \(entity.layout.index) \(entity.versionHash.base64EncodedString())"
            }.sorted()
        return lines.joined(separator: "\n")
    }

    private static func entities(of plan: FetchPlan) -> [NSEntityDescription] {
        plan.entity.managedObjectModel.entities.filter { $0.isKindOf(entity: plan.entity) }
    }

    /// True if the request can be cached. A request with closures cannot: its fingerprint would not show what they do.
    var isUsable: Bool {
        plan.query.sortKeys.allSatisfy { $0.comparison != .custom } && plan.predicate?.syntaxTree.isStable ?? true
            && (list.rule == nil ? list.hasStoredSections : list.rule?.fingerprint != nil)
    }

    // MARK: Reading

    /// The list, if it is up to date or can be updated. Reads only the rows that changed since.
    ///
    /// - Parameter mostTransactions: a list that is more transactions behind is not used.
    func read(into empty: LoadedResults, mostTransactions: Int64 = .max) -> LoadedResults? {
        guard isUsable, let list = CachedList.read(at: path, accepts: { $0 == fingerprint }) else { return nil }
        guard (list.sections != nil) == self.list.isSectioned else { return nil }
        // A forged file may name rows of other entities, or of none.
        guard list.entities.isSubset(of: Self.entities(of: plan).map { UInt64($0.layout.index) }) else { return nil }
        guard let rows = CachedReferences(store: store).rows(of: list) else { return nil }
        var loaded = empty
        let keys = list.sections?.names ?? PackedTexts()
        // A forged file may lack sections that are always kept.
        if let kept = self.list.rule?.keptIdentities.map(\.code), !keys.starts(with: kept) { return nil }
        loaded.definition = empty.definition.named(SectionNames(keys, rule: self.list.rule))
        loaded.contents = ListContents(
            rows: rows, sections: list.sections?.entries ?? [], isSectioned: self.list.isSectioned,
            keptSections: loaded.definition.names.keptCount)
        (loaded.origin, loaded.isOnDisk) = (list.origin, true)
        let repair = CachedListUpdate(store: store, mostTransactions: mostTransactions)
        guard let changes = repair.changes(since: list.origin, of: loaded) else { return nil }
        if changes.isEmpty { return loaded }
        guard let repaired = repair.apply(changes, to: loaded) else { return nil }
        loaded.contents = repaired
        loaded.origin = changes.origin
        write(loaded.contents, of: loaded.definition, origin: changes.origin)
        return loaded
    }

    // MARK: Writing

    /// Writes the list. The file is written on another queue.
    ///
    /// - Parameter wait: true to return only after it was written.
    // SAFETY: the array of a leaf outlives the closure.
    func write(
        _ contents: ListContents, of list: ListDefinition, origin: ListOrigin, wait: Bool = false
    ) {
        guard isUsable, let packed = list.identities.packedLocals(in: contents),
            let references = CachedReferences(store: store).texts(of: contents, packed)
        else { return }
        let sections =
            contents.isSectioned
            ? contents.allSections.map { (name: list.names.key(of: $0.number), rows: $0.rowCount) } : nil
        let work = UncheckedSendable { [path, fingerprint] in
            try? ResultsCacheDirectory.create()
            try? CachedList.write(
                fingerprint: fingerprint, origin: origin, sections: sections, references: references,
                rowCount: contents.rowCount,
                forEachRun: { body in
                    contents.rows.forEachLeaf { _, rows in
                        if packed.isEmpty { return body(rows) }
                        rows.map { packed[$0] ?? $0 }.withUnsafeBufferPointer(body)
                    }
                }, to: path)
        }
        if wait { Self.queue.sync { work.value() } } else { Self.queue.async { work.value() } }
    }

    private static let queue = DispatchQueue(label: "CoreData.ResultsCache", qos: .utility)

    /// Waits until all lists are written. For tests.
    static func waitForWriting() { queue.sync {} }
}
