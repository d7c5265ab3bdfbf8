import Foundation

/// The state of a results controller from one `performFetch()` to the next: the fetched contents, with later changes.
///
/// Section infos retain it, so that they stay valid after the controller is released.
final class ResultsState {
    let context: NSManagedObjectContext
    /// A copy of the request at the time of the fetch.
    let request: NSFetchRequest<NSFetchRequestResult>
    let definition: ListDefinition
    /// Results that are not managed objects (dictionaries), under tokens 0, 1, ….
    let fixedResults: [AnyObject]?
    let givesIDs: Bool

    /// The displayed contents.
    var published: ListContents {
        didSet {
            allObjects = nil
            version += 1
        }
    }
    /// The number of changes of `published`.
    private(set) var version = 0
    /// The contents in the context. Differs from `published` only while no listener is known.
    var tracked: ListContents
    /// With a limit or an offset: the rows that `tracked` is a part of.
    var window: ResultsWindow?
    /// Updates the aggregates of `tracked`.
    var aggregates: AggregateTable?
    /// The rows that changed since `published` and `tracked` were last equal.
    var heldBack: Set<RowToken> = []
    private var lookedAt: ObjectWindow
    private var allObjects: [AnyObject]?
    /// Titles of sections, as first returned.
    private var indexTitles: [UInt32: String?] = [:]
    /// Asks the controller for the title of a section.
    var titleOfSection: (String) -> String? = { _ in nil }

    /// While a batch is reported: the rows whose deletion was merged. The context may have no object for them.
    var deletedRows: Set<NSManagedObjectID> = []
    /// While a batch is reported: the objects that left the context, which no longer returns them.
    var leftObjects: [NSManagedObjectID: NSManagedObject] = [:]

    init(_ loaded: LoadedResults, context: NSManagedObjectContext, request: NSFetchRequest<NSFetchRequestResult>) {
        self.context = context
        self.request = request.erasedCopy
        definition = loaded.definition
        fixedResults = loaded.fixedResults
        givesIDs = request.resultType == .managedObjectIDResultType
        published = loaded.contents
        tracked = loaded.contents
        window = loaded.window
        aggregates = loaded.aggregates
        lookedAt = ObjectWindow(batchSize: request.fetchBatchSize)
    }

    var isSectioned: Bool { definition.isSectioned }
    var identities: RowIdentities { definition.identities }
    var names: SectionNames { definition.names }

    // MARK: Objects

    /// The object, ID or dictionary that the controller returns for a row.
    func result(for token: RowToken) -> AnyObject {
        if let fixedResults { return fixedResults[Int(token.code)] }
        if !givesIDs, let key = RowIdentities.key(of: token), let store = identities.store,
            let known = context.registry.registered(key, in: store)
        {
            return known
        }
        let id = identities.objectID(of: token)
        if givesIDs { return id }
        return goneObject(id) ?? context.registry.object(for: id)
    }

    /// The object of a deleted row while a batch is reported. The context must not be asked for it, as it would make a
    /// new object for the row.
    private func goneObject(_ id: NSManagedObjectID) -> NSManagedObject? {
        leftObjects[id] ?? (deletedRows.contains(id) ? context.registry.objectOfDeletedRow(id) : nil)
    }

    private var tellsOfGoneRows: Bool { !leftObjects.isEmpty || !deletedRows.isEmpty }

    /// The result for a row of the published contents; loads adjacent rows with it.
    func result(at path: ListContents.Path) -> AnyObject? {
        guard let position = published.position(of: path) else { return nil }
        let token = published.rows[position]
        if fixedResults != nil || givesIDs || tellsOfGoneRows { return result(for: token) }
        return lookedAt.object(at: position, in: self)
    }

    /// All results in order. Kept until the contents change.
    func allResults() -> [AnyObject] {
        if let allObjects { return allObjects }
        let made = results(in: 0..<published.rowCount)
        allObjects = made
        return made
    }

    /// The results at some positions of the published contents.
    func results(in range: Range<Int>) -> [AnyObject] {
        let tokens = published.rows.elements(in: range)
        if fixedResults != nil || givesIDs { return tokens.map(result) }
        let ids = identities.objectIDs(of: tokens)
        guard tellsOfGoneRows else { return faults(for: ids) }
        let gone = ids.map(goneObject)
        var others = faults(for: ids.indices.filter { gone[$0] == nil }.map { ids[$0] }).makeIterator()
        return gone.compactMap { $0 ?? others.next() }
    }

    private func faults(for ids: [NSManagedObjectID]) -> [NSManagedObject] {
        ObjectWindow.faults(for: ids, in: context, batchSize: lookedAt.batchSize)
    }

    /// The IDs at some positions of the published contents.
    func objectIDs(at positions: Range<Int>) -> [NSManagedObjectID] {
        precondition(fixedResults == nil, "Dictionaries have no object IDs.")
        return identities.objectIDs(of: published.rows.elements(in: positions))
    }

    /// The title of a section in the index.
    func indexTitle(ofSection number: UInt32) -> String? {
        if let known = indexTitles[number] { return known }
        let title = titleOfSection(names[number])
        indexTitles[number] = .some(title)
        return title
    }

    /// The token of a returned result, if it is in the published contents.
    func token(of result: AnyObject) -> RowToken? {
        if let fixedResults {
            return fixedResults.firstIndex { $0 === result }.map { RowToken(code: UInt64($0)) }
        }
        switch result {
        case let object as NSManagedObject: return identities.token(of: object.objectID, in: published)
        case let id as NSManagedObjectID: return identities.token(of: id, in: published)
        default: return nil
        }
    }
}

/// A section of a results controller.
struct ResultsSection: NSFetchedResultsSectionInfo {
    let state: ResultsState
    let number: UInt32
    /// The section's index when this was created; usually still valid.
    let index: Int

    var name: String { state.names[number] }
    var typedValue: SectionValue? { state.names.value(of: number) }
    var numberOfObjects: Int { state.published.rowCount(ofSection: number, expectedAt: index) }
    var indexTitle: String? { state.indexTitle(ofSection: number) }
    var objects: [Any]? { state.results(in: state.published.range(ofSection: number)) }
}
