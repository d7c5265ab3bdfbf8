import CoreData
import Foundation

/// Records to list, their order and sections: the arguments `--where`, `--sort` and `--section`.
public struct RecordQuery: Sendable {
    /// Predicate format text.
    public var predicate: String?
    /// Sort keys, the first one first.
    public var sort: [SortKey]
    /// Section key: a key path, or one of the forms of ``SectionText``.
    public var section: String?
    /// Aggregates of each section.
    public var aggregates: AggregateQuery
    /// The maximum number of records; 0 means no limit.
    public var limit: Int
    /// Number of records to skip.
    public var offset: Int

    /// Creates a query; without arguments, for all records.
    public init(
        predicate: String? = nil, sort: [SortKey] = [], section: String? = nil, limit: Int = 0, offset: Int = 0,
        aggregates: AggregateQuery = AggregateQuery()
    ) {
        self.predicate = predicate
        self.sort = sort
        self.section = section
        self.limit = limit
        self.offset = offset
        self.aggregates = aggregates
    }

    /// The sort with the section key in front, unless the sort begins with it.
    var fullSort: [SortKey] {
        guard let section, SectionText.isKeyPath(section), sort.first?.keyPath != section else { return sort }
        return [SortKey(keyPath: section)] + sort.filter { $0.keyPath != section }
    }

    /// - Throws: ``CommandError`` of misuse for unknown keys or an invalid predicate.
    func request(for entity: NSEntityDescription) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        if let section { _ = try SectionText.sectionBy(section, for: entity) }
        for key in sort { try EntityKeys.attribute(at: key.keyPath, of: entity, for: "sort by") }
        request.predicate = try predicate.map { try PredicateText.predicate($0, for: entity) }
        request.sortDescriptors = fullSort.map(\.descriptor)
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    /// A controller of the records, with sections and aggregates, not fetched yet.
    ///
    /// - Throws: as ``request(for:)``.
    func controller(
        of request: NSFetchRequest<NSManagedObject>, for entity: NSEntityDescription, in context: NSManagedObjectContext
    ) throws -> NSFetchedResultsController<NSManagedObject> {
        let isKeyPath = section.map(SectionText.isKeyPath) ?? true
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: isKeyPath ? section : nil,
            cacheName: nil)
        if let section, !isKeyPath { controller.sectionBy = try SectionText.sectionBy(section, for: entity) }
        controller.aggregates = try aggregates.aggregates(for: entity)
        return controller
    }

    /// Runs `body`, which queries the store with values of the command line. Values that the framework cannot use, such
    /// as a constant of the wrong type or a malformed regular expression, are reported as misuse.
    ///
    /// - Throws: ``CommandError`` of misuse for such values; other errors of `body`.
    static func asking<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as NSError
            where error.domain == NSCocoaErrorDomain && error.code == CocoaError.Code.coreData.rawValue
        {
            throw CommandError.misuse(text: CommandError.line(for: error))
        }
    }

    /// The same query with a sort, for lists that need one: by the unique key, or else by the first attribute.
    /// - Throws: ``CommandError`` of misuse for an entity that has no attribute to sort by.
    func ordered(for entity: NSEntityDescription) throws -> RecordQuery {
        let query = preferablyOrdered(for: entity)
        guard !query.fullSort.isEmpty else {
            throw CommandError.misuse("\(entity.name ?? "?") has no attribute to sort by")
        }
        return query
    }

    /// The query with the sort of ``ordered(for:)``, or without a sort if the entity has no attribute to sort by.
    func preferablyOrdered(for entity: NSEntityDescription) -> RecordQuery {
        guard fullSort.isEmpty else { return self }
        var query = self
        if let key = UniqueKey(of: entity) {
            query.sort = key.attributes.map { SortKey(keyPath: $0.name) }
        } else if let first = entity.attributesByName.values.filter(\.isOrderable).map(\.name).min() {
            query.sort = [SortKey(keyPath: first)]
        }
        return query
    }
}

extension NSAttributeDescription {
    var isOrderable: Bool {
        switch attributeType {
        case .transformableAttributeType, .binaryDataAttributeType, .compositeAttributeType, .undefinedAttributeType,
            .objectIDAttributeType:
            false
        default: !isTransient
        }
    }

    var isNumeric: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .decimalAttributeType:
            true
        default: false
        }
    }
}
