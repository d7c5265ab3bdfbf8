import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The records of an entity in sections: the data source of a list view, based on a results controller.
///
/// Use on the main thread: the controller belongs to the container's view context.
final class RecordList: ListSource {
    private(set) var display: EntityDisplay
    private(set) var settings: ListSettings
    let controller: NSFetchedResultsController<NSManagedObject>
    let limits: WorkLimits
    private let observer = RecordListObserver()
    private let sectionAttribute: NSAttributeDescription?
    /// The sections as of the last `refresh()`, because the controller rebuilds them on each access.
    private var sections: [any NSFetchedResultsSectionInfo] = []
    private var rowCounts: [Int] = []
    /// Number of records before each section.
    private var rowStarts: [Int] = []
    private(set) var objectCount = 0
    /// Highlights of rows, set by the delegate.
    var glow = Glow()
    /// Rows that were just removed.
    var fading = FadingRows()
    /// In a frozen list, the records that were deleted since; `nil` if the list is not frozen.
    var goneWhileFrozen: Set<NSManagedObjectID>? {
        didSet { if goneWhileFrozen == nil { (frozenTexts, editedWhileFrozen) = ([:], []) } }
    }
    /// Texts shown in a frozen list. They stay if others change the records.
    private var frozenTexts: [NSManagedObjectID: [String: String]] = [:]
    /// Records that the user edited in a frozen list, which are shown with their current values.
    private var editedWhileFrozen: Set<NSManagedObjectID> = []
    /// Texts of rows as last shown, for records that cannot be read now: the connection to a server is lost.
    private var lastTexts: [NSManagedObjectID: [String: String]] = [:]
    /// The aggregates of the focused column.
    private(set) var aggregates: ListAggregates?
    var isMarked: (NSManagedObject) -> Bool = { _ in false }
    /// Returns true if records cannot be read now because the connection to the server is lost.
    var isConnectionLost: () -> Bool = { false }
    /// Returns true if another program changed a record with unsaved edits.
    var isContested: (NSManagedObject) -> Bool = { _ in false }

    /// Creates an empty list, which `fetchAgain()` reads.
    ///
    /// - Parameter excluded: records to leave out.
    /// - Throws: an error if the filter does not parse or does not fit the entity.
    init(
        entity: NSEntityDescription, settings: ListSettings, context: NSManagedObjectContext,
        limits: WorkLimits = WorkLimits(), excluding excluded: Set<NSManagedObjectID>? = nil
    ) throws {
        self.limits = limits
        self.settings = settings
        display = EntityDisplay(entity: entity, settings: settings)
        sectionAttribute = settings.sectionKey.flatMap { entity.attribute(atKeyPath: $0) }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        let others = excluded.flatMap { $0.isEmpty ? nil : NSPredicate(format: "NOT SELF IN %@", Array($0)) }
        request.predicate = NSCompoundPredicate.all(
            [try FilterText.predicate(settings.filter, for: entity), others].compactMap { $0 })
        request.sortDescriptors = settings.descriptors
        request.fetchBatchSize = 128
        request.relationshipKeyPathsForPrefetching = display.relatedKeys
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: settings.sectionSortKey,
            cacheName: excluded == nil ? Self.cacheName(entity: entity, settings: settings, context: context) : nil)
        if settings.sectionForm != nil, let text = settings.sectionText {
            controller.sectionBy = try SectionChoice(text).sectionBy(for: entity)
        }
        controller.delegate = observer
    }

    /// True if the list follows changes of its context.
    var isFollowing: Bool {
        get { controller.delegate != nil }
        set { controller.delegate = newValue ? observer : nil }
    }

    /// Sets the column whose aggregates the controller computes from the next fetch on; `nil` for none.
    func aggregate(_ key: String?) {
        aggregates = key.flatMap { ListAggregates(of: display.entity.propertiesByName[$0], in: controller) }
        controller.aggregates = aggregates?.wanted ?? []
    }

    /// Fetches or refetches the list without notifying the delegate.
    ///
    /// - Throws: errors of the fetch.
    func fetchAgain() throws {
        try controller.performFetch()
        refresh()
    }

    var delegate: (any RecordListDelegate)? {
        get { observer.delegate }
        set { observer.delegate = newValue }
    }

    /// The cache name, different for every list as the controller requires. Filtered lists are not cached, because
    /// filters are seldom repeated.
    private static func cacheName(
        entity: NSEntityDescription, settings: ListSettings, context: NSManagedObjectContext
    ) -> String? {
        guard settings.filter.isEmpty else { return nil }
        let store = context.persistentStoreCoordinator?.persistentStores.first?.identifier ?? ""
        let sort = settings.descriptors.map { "\($0.key ?? "")\($0.ascending ? "+" : "-")" }.joined(separator: ",")
        return "roster|\(store)|\(entity.name ?? "")|\(settings.sectionText ?? "")|\(sort)"
    }

    func arrangeColumns(_ change: (inout ColumnLayout) -> Void) {
        change(&settings.columns)
        display = EntityDisplay(entity: display.entity, settings: settings)
    }

    /// Reads the controller's sections after a change.
    func refresh() {
        sections = controller.sections ?? []
        aggregates?.listChanged()
        rowCounts = sections.map(\.numberOfObjects)
        objectCount = 0
        rowStarts = rowCounts.map { count in
            defer { objectCount += count }
            return objectCount
        }
        guard !fading.isEmpty else { return }
        fading.settle(
            counts: Dictionary(zip(sections.map(\.name), rowCounts)) { first, _ in first })
    }

    /// Adds a fading row for a record that leaves the list at `path` of the controller. Call before `refresh()`.
    func fade(_ object: NSManagedObject, at path: IndexPath) {
        guard path.section < sections.count else { return }
        let name = sections[path.section].name
        let isReadable = !object.isFault
        let texts = display.columns.enumerated().map { index, column in
            isReadable ? column.text(of: object) : index == 0 ? RecordName.fallback(object) : ""
        }
        fading.add(texts, place: fading.place(ofRecord: path.row, in: name), in: name)
    }

    // MARK: Records

    /// The record at a row; `nil` if the row fades, or if the record of a frozen list was deleted.
    func object(at path: ListPath) -> NSManagedObject? {
        shownObject(at: path).flatMap { isGone($0) ? nil : $0 }
    }

    private func shownObject(at path: ListPath) -> NSManagedObject? {
        guard path.section < sections.count else { return nil }
        guard !fading.isEmpty else {
            return path.row < rowCounts[path.section] ? record(path.row, in: path.section) : nil
        }
        let name = sections[path.section].name
        guard fading.row(at: path.row, in: name) == nil else { return nil }
        let row = fading.record(at: path.row, in: name)
        return row < rowCounts[path.section] ? record(row, in: path.section) : nil
    }

    private func record(_ row: Int, in section: Int) -> NSManagedObject {
        controller.object(at: IndexPath(row: row, section: section))
    }

    /// The row of a record; `nil` if it is not in the list.
    func path(of object: NSManagedObject) -> ListPath? {
        controller.indexPath(forObject: object).map { shownPath(section: $0.section, row: $0.row) }
    }

    private func shownPath(section: Int, row: Int) -> ListPath {
        guard !fading.isEmpty else { return ListPath(section: section, row: row) }
        return ListPath(section: section, row: fading.place(ofRecord: row, in: sections[section].name))
    }

    /// The row at an index in the whole list, counted from 0 without headers. O(log sections).
    func path(atIndex index: Int) -> ListPath {
        var low = 0
        var high = rowStarts.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if rowStarts[middle] <= index { low = middle } else { high = middle }
        }
        return shownPath(section: low, row: index - rowStarts[low])
    }

    /// The index of a row in the whole list. Row -1 is the header of the section.
    func index(of path: ListPath) -> Int {
        guard path.section < rowStarts.count else { return objectCount }
        let row = fading.isEmpty ? path.row : fading.record(at: path.row, in: sections[path.section].name)
        return rowStarts[path.section] + row
    }

    /// The section after `section` if both are under the given letter of the index.
    func section(after section: Int, beginningWith letter: Character) -> Int? {
        func isUnderLetter(_ index: Int) -> Bool {
            sections[index].indexTitle?.lowercased().hasPrefix(letter.lowercased()) ?? false
        }
        guard section + 1 < sections.count, isUnderLetter(section), isUnderLetter(section + 1) else { return nil }
        return section + 1
    }

    // MARK: ListSource

    var sectionCount: Int { sections.count }

    func rowCount(inSection section: Int) -> Int {
        fading.isEmpty ? rowCounts[section] : rowCounts[section] + fading.count(in: sections[section].name)
    }

    /// Number of records of a section, without fading rows.
    func count(ofSection section: Int) -> Int { rowCounts[section] }

    func note(ofSection section: Int) -> (text: String, share: Double?)? {
        aggregates?.note(of: sections[section])
    }

    func key(ofSection section: Int) -> String { sections[section].name }

    func title(ofSection section: Int) -> String {
        let info = sections[section]
        guard settings.sectionForm == nil else { return info.name.isEmpty ? tr("(none)") : info.name }
        guard let key = settings.sectionKey,
            sectionAttribute?.attributeType != .stringAttributeType || info.name.isEmpty,
            rowCounts[section] > 0
        else { return info.name }
        let first = record(0, in: section)
        guard !isGone(first) else { return info.name }
        let value = first.value(forKeyPath: key)
        return ValueDisplay.sectionTitle(value, key: key, attribute: sectionAttribute, name: info.name)
    }

    /// The values that the records of a section have in common.
    ///
    /// - Throws: ``CommandError`` if the section is empty and its value therefore not known.
    func levels(ofSection section: Int) throws -> [CellCondition.Level] {
        let info = sections[section]
        let forms = (settings.sectionText ?? "").split(separator: "/").map { $0.split(separator: ":").map(String.init) }
        let values = settings.sectionForm == nil ? [try value(ofSection: section)] : info.value.levels
        return zip(forms, values).compactMap { form, value in
            display.entity.attribute(atKeyPath: form[0]).map {
                CellCondition.Level(
                    keyPath: form[0], attribute: $0, value: value, isByLetter: form.dropFirst().contains("letter"))
            }
        }
    }

    /// The value of a section without form, whose name is only its text.
    private func value(ofSection section: Int) throws -> SectionValue {
        let name = sections[section].name
        guard let key = settings.sectionKey, !name.isEmpty else { return .missing }
        if sectionAttribute?.attributeType == .stringAttributeType { return .text(name) }
        let value = rowCounts[section] > 0 ? record(0, in: section).value(forKeyPath: key) : nil
        switch (value, sectionAttribute?.attributeType) {
        case (let date as Date, _): return .date(date)
        case (let id as UUID, _): return .uuid(id)
        case (let url as URL, _): return .text(url.absoluteString)
        case (let flag as Bool, .booleanAttributeType): return .boolean(flag)
        case (let number as NSDecimalNumber, _): return .decimal(number.decimalValue)
        case (let number as NSNumber, .doubleAttributeType), (let number as NSNumber, .floatAttributeType):
            return .real(number.doubleValue)
        case (let number as NSNumber, _): return .integer(number.intValue)
        default: throw CommandError.failure("the section has no records to filter by")
        }
    }

    func text(ofColumn column: Int, at row: ListPath) -> String {
        guard let object = shownObject(at: row) else {
            let texts = fading.row(at: row.row, in: sections[row.section].name)?.texts ?? []
            return texts.indices.contains(column) ? texts[column] : ""
        }
        if isGone(object) {
            guard let texts = frozenTexts[object.objectID] else {
                return column == 0 ? RecordName.fallback(object) : ""
            }
            return texts[display.columns[column].key] ?? ""
        }
        guard goneWhileFrozen != nil else { return currentText(ofColumn: column, of: object) }
        let (id, key) = (object.objectID, display.columns[column].key)
        if object.isInserted || UnsavedRecords.isChangedItself(object) { editedWhileFrozen.insert(id) }
        if let text = frozenTexts[id]?[key], !editedWhileFrozen.contains(id) { return text }
        let text = currentText(ofColumn: column, of: object)
        frozenTexts[id, default: [:]][key] = text
        return text
    }

    /// The text of a cell. If the record cannot be read, the text that was last shown.
    private func currentText(ofColumn index: Int, of object: NSManagedObject) -> String {
        let (column, id) = (display.columns[index], object.objectID)
        // An attempt to read may take until a timeout: the screen makes one from time to time.
        if !object.isFault || !isConnectionLost() {
            let text = column.text(of: object)
            guard object.isFault, column.property != nil else {
                if lastTexts.count > limits.rowsRemembered { lastTexts = [:] }
                lastTexts[id, default: [:]][column.key] = text
                return text
            }
        }
        return lastTexts[id]?[column.key] ?? (index == 0 ? RecordName.fallback(object) : "…")
    }

    /// True if a record of a frozen list was deleted; reading it would fail.
    private func isGone(_ object: NSManagedObject) -> Bool {
        guard let goneWhileFrozen else { return false }
        return goneWhileFrozen.contains(object.objectID) || object.isDeleted
    }

    func isMarked(at row: ListPath) -> Bool { object(at: row).map(isMarked) ?? false }

    func mark(at row: ListPath) -> RowMark? {
        guard let object = object(at: row) else { return .removed }
        if isContested(object) { return .contested }
        if let mark = glow.mark(for: object) { return mark }
        return object.isInserted || UnsavedRecords.isChangedItself(object) ? .edited : nil
    }
}

extension NSCompoundPredicate {
    /// A predicate that is true if all of the given ones are; `nil` for an empty array.
    fileprivate static func all(_ predicates: [NSPredicate]) -> NSPredicate? {
        predicates.count > 1 ? NSCompoundPredicate(andPredicateWithSubpredicates: predicates) : predicates.first
    }
}
