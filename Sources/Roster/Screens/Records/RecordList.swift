import CoreData
import Foundation
import TerminalKit

/// The records of one entity in sections: a results controller, and what a list view asks of it.
///
/// Use on the main thread: the controller belongs to the container's view context.
final class RecordList: ListSource {
    let display: EntityDisplay
    let settings: ListSettings
    let controller: NSFetchedResultsController<NSManagedObject>
    private let observer = RecordListObserver()
    private let sectionAttribute: NSAttributeDescription?
    /// As of the last `refresh()`: the controller makes this list anew each time it is asked.
    private var sections: [any NSFetchedResultsSectionInfo] = []
    private var rowCounts: [Int] = []
    /// How many records stand before each section.
    private var rowStarts: [Int] = []
    /// How many records the list has.
    private(set) var objectCount = 0
    /// What stands out, set by who hears the delegate's callbacks.
    var glow = Glow()
    /// Asked whether the user marked a record.
    var isMarked: (NSManagedObject) -> Bool = { _ in false }

    /// Fetches the records.
    ///
    /// - Throws: what the fetch throws; a filter that does not parse or does not fit the entity.
    init(entity: NSEntityDescription, settings: ListSettings, context: NSManagedObjectContext) throws {
        self.settings = settings
        display = EntityDisplay(
            entity: entity, sectionKey: settings.sectionKey, sortKeys: settings.sortKeys.map(\.keyPath),
            preferences: settings.preferences)
        sectionAttribute = settings.sectionKey.flatMap { entity.attribute(atKeyPath: $0) }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.predicate = try FilterText.predicate(settings.filter, for: entity)
        request.sortDescriptors = settings.descriptors
        request.fetchBatchSize = 128
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: settings.sectionKey,
            cacheName: Self.cacheName(entity: entity, settings: settings, context: context))
        controller.delegate = observer
        try controller.performFetch()
        refresh()
    }

    /// Who hears of changes.
    var delegate: (any RecordListDelegate)? {
        get { observer.delegate }
        set { observer.delegate = newValue }
    }

    /// A cache for every list that differs, as the controller demands. What is typed as a filter is seldom typed again:
    /// such a list is not kept.
    private static func cacheName(
        entity: NSEntityDescription, settings: ListSettings, context: NSManagedObjectContext
    ) -> String? {
        guard settings.filter.isEmpty else { return nil }
        let store = context.persistentStoreCoordinator?.persistentStores.first?.identifier ?? ""
        let sort = settings.descriptors.map { "\($0.key ?? "")\($0.ascending ? "+" : "-")" }.joined(separator: ",")
        return "roster|\(store)|\(entity.name ?? "")|\(settings.sectionKey ?? "")|\(sort)"
    }

    /// Takes up the controller's sections after they changed.
    func refresh() {
        sections = controller.sections ?? []
        rowCounts = sections.map(\.numberOfObjects)
        objectCount = 0
        rowStarts = rowCounts.map { count in
            defer { objectCount += count }
            return objectCount
        }
    }

    // MARK: Records

    /// The record in a row.
    func object(at path: ListPath) -> NSManagedObject {
        controller.object(at: IndexPath(row: path.row, section: path.section))
    }

    /// The row of a record; `nil` where it is not in the list.
    func path(of object: NSManagedObject) -> ListPath? {
        controller.indexPath(forObject: object).map { ListPath(section: $0.section, row: $0.row) }
    }

    /// The row that stands at a place in the whole list, counted from 0 without headers. O(log sections).
    func path(atIndex index: Int) -> ListPath {
        var low = 0
        var high = rowStarts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if rowStarts[middle] <= index { low = middle } else { high = middle }
        }
        return ListPath(section: low, row: index - rowStarts[low])
    }

    /// The place of a row in the whole list; row -1 stands for its section's header.
    func index(of path: ListPath) -> Int {
        path.section < rowStarts.count ? rowStarts[path.section] + path.row : objectCount
    }

    /// The section behind `section`, where both stand under a letter of the index.
    func section(after section: Int, beginningWith letter: Character) -> Int? {
        func isUnderLetter(_ index: Int) -> Bool {
            sections[index].indexTitle?.lowercased().hasPrefix(letter.lowercased()) ?? false
        }
        guard section + 1 < sections.count, isUnderLetter(section), isUnderLetter(section + 1) else { return nil }
        return section + 1
    }

    // MARK: What the list view asks

    var sectionCount: Int { sections.count }

    func rowCount(inSection section: Int) -> Int { rowCounts[section] }

    func key(ofSection section: Int) -> String { sections[section].name }

    func title(ofSection section: Int) -> String {
        let info = sections[section]
        guard let key = settings.sectionKey,
            sectionAttribute?.attributeType != .stringAttributeType || info.name.isEmpty,
            rowCounts[section] > 0
        else { return info.name }
        let value = object(at: ListPath(section: section, row: 0)).value(forKeyPath: key)
        return ValueDisplay.sectionTitle(value, key: key, attribute: sectionAttribute, name: info.name)
    }

    func text(ofColumn column: Int, at row: ListPath) -> String {
        display.columns[column].text(of: object(at: row))
    }

    func isMarked(at row: ListPath) -> Bool { isMarked(object(at: row)) }

    func mark(at row: ListPath) -> RowMark? {
        let object = object(at: row)
        if let mark = glow.mark(for: object) { return mark }
        return object.isInserted || UnsavedRecords.isChangedItself(object) ? .edited : nil
    }
}
