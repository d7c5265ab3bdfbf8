import CoreData
import Foundation

/// `watch --replay`: replays the history of a store and prints what `watch` would have printed.
///
/// Design note. A history contains which records were inserted, changed and deleted, and which properties changed, but
/// no earlier values. So the replay has the records that existed at each time (``PastRecords``), with their current
/// values or those of their tombstones. It changes a store in memory, whose controller makes the callbacks, so sections
/// and positions are exact.
public struct ReplayCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// The records, their order and sections.
    public var query: RecordQuery
    /// Replays the transactions after this position; earlier ones are not printed.
    public var since: HistoryCommand.Place?
    /// Transactions per second; `nil` does not wait.
    public var rate: Double?
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, query: RecordQuery = RecordQuery(), since: HistoryCommand.Place? = nil,
        rate: Double? = nil, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.query = query
        self.since = since
        self.rate = rate
        self.format = format
    }

    /// Replays until the end of the history or an interruption. Neither is an error.
    ///
    /// - Throws: ``CommandError``, or an error of the framework: 134091 for a store without history.
    @MainActor
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .reading, in: surroundings, context: .mainQueue)
        let entity = try session.entity(named: entity)
        let printer = WatchPrinter(format: format, output: surroundings.output)
        let transactions = try transactions(in: session, of: entity)
        let film = try Film(of: entity, in: session, transactions: transactions)
        let controller = try query.controller(
            of: try query.ordered(for: film.entity).request(for: film.entity), for: film.entity, in: film.context)
        let watcher = FilmWatcher(
            columns: try ColumnChoice.list(of: film.entity, sort: [], withObject: false), film: film)
        controller.delegate = watcher
        try RecordQuery.asking { try controller.performFetch() }
        try printer.print(.fetched(sections: Self.sections(of: controller), objects: Self.objectCount(of: controller)))
        for transaction in transactions {
            if let rate { surroundings.interruption.wait(for: .given(seconds: 1 / rate)) }
            if surroundings.interruption.isRaised { break }
            try printer.print(
                .transaction(
                    number: transaction.transactionNumber, time: transaction.timestamp, author: transaction.author))
            watcher.events = []
            film.play(transaction)
            film.context.processPendingChanges()
            watcher.events += film.updates(of: transaction, in: controller, columns: watcher.columns)
            guard !watcher.events.isEmpty else { continue }
            try printer.print(.willChange)
            for event in watcher.events { try printer.print(event) }
            try printer.print(
                .didChange(sections: controller.sections?.count ?? 0, objects: Self.objectCount(of: controller)))
        }
        controller.delegate = nil
    }

    private static func sections<Object>(of controller: NSFetchedResultsController<Object>) -> [SectionLine] {
        (controller.sections ?? []).map { SectionLine($0, AggregateQuery()) }
    }

    private static func objectCount<Object>(of controller: NSFetchedResultsController<Object>) -> Int {
        (controller.sections ?? []).reduce(0) { $0 + $1.numberOfObjects }
    }

    /// The transactions that changed records of the entity, oldest first.
    private func transactions(
        in session: StoreSession, of entity: NSEntityDescription
    ) throws -> [NSPersistentHistoryTransaction] {
        let request: NSPersistentHistoryChangeRequest
        if case .date(let date)? = since {
            request = .fetchHistory(after: date)
        } else {
            request = .fetchHistory(after: nil as NSPersistentHistoryToken?)
        }
        let result = try session.context.execute(request) as? NSPersistentHistoryResult
        let all = result?.result as? [NSPersistentHistoryTransaction] ?? []
        var first: Int64 = 0
        if case .number(let number)? = since { first = number }
        return all.filter { transaction in
            transaction.transactionNumber > first
                && (transaction.changes ?? []).contains { $0.changedObjectID.entity.isKindOf(entity: entity) }
        }
    }
}

/// The records of an entity at an earlier time, in memory.
private final class Film {
    let context: NSManagedObjectContext
    let entity: NSEntityDescription
    private let source: NSManagedObjectContext
    /// The store's own model: the replay's copy has no uniqueness constraints.
    private let model: NSManagedObjectModel
    private let container: NSPersistentContainer
    /// The replay's records by the IDs of the store.
    private var records: [NSManagedObjectID: NSManagedObject] = [:]
    private var related: [NSManagedObjectID: NSManagedObject] = [:]
    private var uris: [NSManagedObjectID: String] = [:]
    /// Values in the tombstones of deleted records.
    private let tombstones: [NSManagedObjectID: [String: Any?]]

    /// Sets the records to the time before the first of the transactions.
    init(
        of entity: NSEntityDescription, in session: StoreSession, transactions: [NSPersistentHistoryTransaction]
    ) throws {
        source = session.context
        self.model = session.model
        let model = session.model.copy() as? NSManagedObjectModel ?? session.model
        for entity in model.entities {
            // A replay may contain values that a save would refuse.
            entity.uniquenessConstraints = []
        }
        guard let own = model.entitiesByName[entity.name ?? ""] else {
            throw CommandError.failure("the model has no entity “\(entity.name ?? "")”")
        }
        self.entity = own
        container = NSPersistentContainer(name: "Film", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        context = container.viewContext
        let past = PastRecords(before: transactions, of: entity)
        tombstones = past.tombstones
        let present = Set(try Self.ids(of: entity, in: source)).union(past.deleted.keys)
        let first = present.subtracting(past.inserted)
        for id in first.sorted(by: { $0.uriRepresentation().path < $1.uriRepresentation().path }) { show(id) }
        context.processPendingChanges()
    }

    private static func ids(of entity: NSEntityDescription, in context: NSManagedObjectContext) throws
        -> [NSManagedObjectID]
    {
        let request = NSFetchRequest<NSManagedObjectID>()
        request.entity = entity
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
    }

    /// Inserts a record with its current values or those of its tombstone.
    private func show(_ id: NSManagedObjectID) {
        guard records[id] == nil, let own = entity.managedObjectModel.entitiesByName[id.entity.name ?? ""] else {
            return
        }
        let record = NSManagedObject(entity: own, insertInto: context)
        records[id] = record
        uris[record.objectID] = id.uriRepresentation().absoluteString
        let original = tombstones[id] == nil ? try? source.existingObject(with: id) : nil
        guard let original else { return record.take(tombstones[id] ?? [:]) }
        for (name, attribute) in own.attributesByName
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            record.setValue(original.value(forKey: name), forKey: name)
        }
        for (name, relationship) in own.relationshipsByName where !relationship.isToMany {
            guard let other = original.value(forKey: name) as? NSManagedObject else { continue }
            record.setValue(stand(for: other), forKey: name)
        }
    }

    /// A record that represents a related record in the replay, with its attributes only.
    private func stand(for other: NSManagedObject) -> NSManagedObject? {
        if let known = records[other.objectID] ?? related[other.objectID] { return known }
        // The history inserts and deletes records of the entity itself.
        guard
            !other.entity.isKindOf(
                entity: source.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity.name ?? ""]
                    ?? entity),
            let own = entity.managedObjectModel.entitiesByName[other.entity.name ?? ""]
        else { return nil }
        let record = NSManagedObject(entity: own, insertInto: context)
        for (name, attribute) in own.attributesByName
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            if let value = other.value(forKey: name) { record.setValue(value, forKey: name) }
        }
        related[other.objectID] = record
        return record
    }

    /// Inserts and deletes the records that a transaction inserted and deleted.
    func play(_ transaction: NSPersistentHistoryTransaction) {
        for change in transaction.changes ?? [] {
            let id = change.changedObjectID
            guard isOurs(id) else { continue }
            switch change.changeType {
            case .insert: show(id)
            case .delete: if let record = records.removeValue(forKey: id) { context.delete(record) }
            default: break
            }
        }
    }

    private func isOurs(_ id: NSManagedObjectID) -> Bool {
        var candidate: NSEntityDescription? = id.entity
        while let current = candidate {
            if current.name == entity.name { return true }
            candidate = current.superentity
        }
        return false
    }

    /// Changes of a transaction to records in the list.
    func updates<Object: NSFetchRequestResult>(
        of transaction: NSPersistentHistoryTransaction, in controller: NSFetchedResultsController<Object>,
        columns: [RecordColumn]
    ) -> [WatchEvent] {
        let inserted = Set((transaction.changes ?? []).filter { $0.changeType == .insert }.map(\.changedObjectID))
        return (transaction.changes ?? []).compactMap { change in
            guard change.changeType == .update, !inserted.contains(change.changedObjectID),
                let record = records[change.changedObjectID], let object = record as? Object,
                let path = controller.indexPath(forObject: object)
            else { return nil }
            return .object(
                event(
                    record, type: "update", old: path, new: path, columns: columns,
                    keys: change.updatedProperties?.map(\.name).sorted() ?? []))
        }
    }

    func event(
        _ record: NSManagedObject, type: String, old: IndexPath?, new: IndexPath?, columns: [RecordColumn],
        keys: [String] = []
    ) -> WatchEvent.Object {
        let isReadable = !record.isFault
        return WatchEvent.Object(
            type: type, indexPath: old.map(Array.init), newIndexPath: new.map(Array.init),
            uri: uris[record.objectID] ?? RecordLabel.uri(of: record),
            label: label(of: record, isReadable: isReadable),
            values: isReadable ? columns.map { ($0.name, $0.json(of: record)) } : [], changedKeys: keys)
    }
}

extension Film {
    /// The value of the unique key in the store's own model, or else `Entity/p12`.
    private func label(of record: NSManagedObject, isReadable: Bool) -> String {
        let name = record.entity.name ?? ""
        if isReadable, let original = model.entitiesByName[name], let key = UniqueKey(of: original) {
            let texts = key.attributes.map { ValueText.shown(record.value(forKey: $0.name), of: $0) }
            let text = texts.filter { !$0.isEmpty }.joined(separator: " ")
            if !text.isEmpty { return text }
        }
        let place = uris[record.objectID]?.split(separator: "/").last.map(String.init)
        return place.map { "\(name)/\($0)" } ?? RecordLabel.short(record)
    }
}

/// Collects the callbacks of the replay's controller.
private final class FilmWatcher: NSObject, NSFetchedResultsControllerDelegate {
    let columns: [RecordColumn]
    private let film: Film
    var events: [WatchEvent] = []

    init(columns: [RecordColumn], film: Film) {
        self.columns = columns
        self.film = film
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        events.append(.section(isInsert: type == .insert, index: sectionIndex, name: sectionInfo.name))
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let record = anObject as? NSManagedObject else { return }
        let name =
            switch type {
            case .insert: "insert"
            case .delete: "delete"
            case .move: "move"
            default: "update"
            }
        events.append(
            .object(film.event(record, type: name, old: indexPath, new: newIndexPath, columns: columns)))
    }
}
