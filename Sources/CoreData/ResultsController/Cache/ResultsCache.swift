import Foundation

/// A list on disk, tied to one request on one store.
///
/// The list is used only if everything that decides its contents is the same, and the store has not changed since. If it
/// has, and keeps a history, the changes since are applied to the list; else it is fetched anew. A file that is missing,
/// damaged or of another list is no error. Nothing is said when a list cannot be written.
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

    /// All that decides what is in the list, but for the data.
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

    /// Whether the request can be kept at all: one with code in it looks the same whatever the code does.
    var isUsable: Bool {
        plan.query.sortKeys.allSatisfy { $0.comparison != .custom } && plan.predicate?.syntaxTree.isStable ?? true
            && (list.rule == nil ? list.hasStoredSections : list.rule?.fingerprint != nil)
    }

    // MARK: Reading

    /// The list, if it is still true or can be made so. Reads no rows but those that changed since.
    ///
    /// - Parameter mostTransactions: a list that more than these have passed by is of no use.
    func read(into empty: LoadedResults, mostTransactions: Int64 = .max) -> LoadedResults? {
        guard isUsable, let list = CachedList.read(at: path, accepts: { $0 == fingerprint }) else { return nil }
        guard (list.sections != nil) == self.list.isSectioned else { return nil }
        // A file that was forged may name rows of any entity, or of none.
        guard list.entities.isSubset(of: Self.entities(of: plan).map { UInt64($0.layout.index) }) else { return nil }
        guard let rows = CachedReferences(store: store).rows(of: list) else { return nil }
        var loaded = empty
        let keys = list.sections?.names ?? PackedTexts()
        // A file that was forged may lack what is kept.
        if let kept = self.list.rule?.keptIdentities.map(\.code), !keys.starts(with: kept) { return nil }
        loaded.definition = empty.definition.named(SectionNames(keys, rule: self.list.rule))
        loaded.contents = ListContents(
            rows: rows, sections: list.sections?.entries ?? [], isSectioned: self.list.isSectioned,
            keptSections: loaded.definition.names.keptCount)
        (loaded.origin, loaded.isOnDisk) = (list.origin, true)
        let repair = ListRepair(store: store, mostTransactions: mostTransactions)
        guard let changes = repair.changes(since: list.origin, of: loaded) else { return nil }
        if changes.isEmpty { return loaded }
        guard let repaired = repair.apply(changes, to: loaded) else { return nil }
        loaded.contents = repaired
        loaded.origin = changes.origin
        write(loaded.contents, of: loaded.definition, origin: changes.origin)
        return loaded
    }

    // MARK: Writing

    /// Writes the list; the file is written on another queue.
    ///
    /// - Parameter wait: whether to return only when it is written.
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

    /// Waits until everything is written. For tests.
    static func waitForWriting() { queue.sync {} }
}
