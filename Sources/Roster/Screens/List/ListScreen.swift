import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The main screen: the records of one entity in sections, live.
///
/// Design note. The list's contents are the results controller's; `RecordList` answers for them, `SectionedList` paints
/// them. Whatever the user chooses (entity, sort, sections, filter) makes a new `RecordList`. Changes arrive as delegate
/// callbacks: they are logged, the records begin to glow, and the cursor is put where its record now stands, on the same
/// line of the screen.
final class ListScreen: Layer {
    unowned let browser: Browser
    let session: StoreSession
    let entities: [NSEntityDescription]
    private(set) var entity: NSEntityDescription
    private(set) var records: RecordList
    private(set) var view: SectionedList
    private var settingsByEntity: [String: ListSettings] = [:]

    var keys = KeySequenceReader(readsCounts: true)
    /// Shows what may follow the keys pressed so far.
    lazy var pendingKeys = PendingKeys(delay: browser.options.preferences.popupDelay)
    /// Set after `'`: the next key is a letter of the section index.
    var awaitsIndexLetter = false
    var showsCallbacks = false
    var log = CallbackLog()
    /// The store's statements, while they are shown.
    var statements: StatementLog?
    var statementObservation: StatementObservation?
    /// What happens while the list stands still.
    var waitingChanges: WaitingChanges?
    /// Whether the cursor goes to every new record.
    var followsNewest = false
    var showsAggregates = false
    /// Of which column was asked last what is said of it.
    var aggregateKey: String?
    var aggregateJob: Job<Void>?
    /// What goes on beside the keys.
    var work: ListWork?
    /// How long what goes on beside the keys took last time, by entity and kind.
    var workTimes: [String: Duration] = [:]
    /// Whether the record under the cursor is shown beside the list.
    var showsDetail = false
    var detailPane: DetailScreen?
    /// Whether the keys go to that pane.
    var isDetailFocused = false
    /// The marked records of the entity that is shown.
    var marks = RecordMarks()
    /// The search that was begun last.
    var search: RecordSearch?
    /// Begins the search of the prompt anew in another list; set while that prompt is open.
    var repeatSearch: (() -> Void)?
    /// What `n` and `N` look for, and what is highlighted.
    var searchText: String? { didSet { if searchText != searchPlaces?.text { searchPlaces = nil } } }
    /// Where the matches are, as far as the list did not change since.
    var searchPlaces: SearchPlaces?
    /// Hears of what the search finds.
    var onSearchProgress: (RecordSearch) -> Void = { _ in }
    /// Reads the values that may complete a filter.
    var completion: Job<Prompt.Completion?>?
    /// How many records there are without the filter; there while a list is filtered.
    var total: EntityTotal?
    /// Where the tabs of the entities were painted in the first line.
    var tabs: [(columns: Range<Int>, entity: NSEntityDescription)] = []
    var lastClick: (point: Point, time: ContinuousClock.Instant)?
    let isFinished = false

    /// The record under the cursor: the cursor follows it.
    private(set) var cursorObject: NSManagedObject?
    /// What the callbacks of the present batch were about.
    private var changed: [(mark: RowMark, object: NSManagedObject)] = []
    /// What the user deleted, as of the present batch.
    private var deletedHere: Set<NSManagedObject>?
    /// Whether the cursor goes to what changes.
    private var revealsChanges = false

    /// - Throws: where the entity, a key or the filter of the options does not fit the model, or the fetch fails.
    init(browser: Browser, session: StoreSession, options: BrowserOptions, state: BrowserState) throws {
        self.browser = browser
        self.session = session
        entities = session.entities
        let first = FirstList(browser: browser, session: session, options: options, state: state)
        entity = try first.entity()
        try options.pick?.check(entity)
        for entity in entities {
            guard let name = entity.name, let kept = state.lists[name] else { continue }
            settingsByEntity[name] = kept.settings(
                browser.settings(for: entity), of: entity, in: session.container.persistentStoreCoordinator)
        }
        let settings = try first.settings(for: entity)
        records = try RecordList(entity: entity, settings: settings, context: session.context, limits: session.limits)
        view = SectionedList(source: records, columns: [])
        settingsByEntity[entity.name ?? ""] = settings
        adopt(records)
        try load(records, of: entity, what: sentence("reading \(CountedNoun.plural(entity.name ?? "record"))")) {
            [unowned self] in
            restorePlace(settings)
            if state.showsDetail { openDetailPane() }
        }
    }

    /// The lists as they are now, by entity.
    var state: [String: ListState] {
        rememberSettings()
        return settingsByEntity.mapValues { ListState($0) }
    }

    // MARK: Showing a list

    /// Shows another entity; the list is as it was left.
    func show(_ other: NSEntityDescription) {
        guard other !== entity else { return }
        rememberSettings()
        let settings = settingsByEntity[other.name ?? ""] ?? browser.settings(for: other)
        do {
            let list = try RecordList(
                entity: other, settings: settings, context: session.context, limits: session.limits)
            try load(list, of: other, what: sentence("reading \(CountedNoun.plural(other.name ?? "record"))")) {
                [unowned self] in
                restorePlace(settings)
            }
        } catch {
            browser.complain(error)
        }
    }

    /// Puts cursor and focus where they were left.
    private func restorePlace(_ settings: ListSettings) {
        let folded = view.folded
        if let id = settings.cursor, id.entity.isKindOf(entity: entity),
            let object = try? session.context.existingObject(with: id), let path = records.path(of: object),
            !view.isFolded(section: path.section)
        {
            moveCursor(to: object)
        }
        view.restoreFolds(folded)
        view.focusedColumn = view.columns.firstIndex { $0.id == settings.focusedColumn } ?? 0
    }

    /// The key of the column that has the focus; empty for the record itself.
    var focusedKey: String {
        view.columns.indices.contains(view.focusedColumn) ? view.columns[view.focusedColumn].id : ""
    }

    /// Shows the same entity in another way; the cursor stays on its record.
    func change(_ change: (inout ListSettings) -> Void) {
        do {
            try tryToChange(change)
        } catch {
            browser.complain(error)
        }
    }

    /// The same, where the caller tells the user what is wrong. An error leaves the list as it is.
    func tryToChange(_ change: (inout ListSettings) -> Void) throws {
        var settings = chosenSettings
        settings.folded = view.folded
        change(&settings)
        if settings.sectionText != records.settings.sectionText { settings.folded = [] }
        let list = try RecordList(entity: entity, settings: settings, context: session.context, limits: session.limits)
        let what = settings.filter != records.settings.filter ? "filtering" : "sorting"
        // The cursor may go on while the list is read.
        try load(list, of: entity, what: what, keeping: { [unowned self] in (cursorObject, focusedKey) }) {
            [unowned self] object, focus in
            if let object, records.path(of: object) != nil { moveCursor(to: object) }
            view.focusedColumn = view.columns.firstIndex { $0.id == focus } ?? 0
        }
    }

    /// Shows a list that was read.
    func take(_ list: RecordList, of other: NSEntityDescription) {
        if other !== entity { marks.removeAll() }
        noteCount()
        entity = other
        adopt(list)
        settingsByEntity[other.name ?? ""] = list.settings
    }

    /// A list of all records knows how many there are: a filtered one that takes its place says of how many it shows some.
    private func noteCount() {
        guard records.controller.sections != nil, records.settings.filter.isEmpty, waitingChanges == nil,
            !session.context.hasChanges
        else {
            return
        }
        session.counts.note(records.objectCount, of: entity)
    }

    /// Reads the list anew, whatever is known of it.
    func readAgain() { change { _ in } }

    /// Hears of no changes any more.
    func close() {
        records.delegate = nil
        aggregateJob = nil
        stopFreezing()
        stopWork()
        closeDetailPane()
        log.removeAll()
        (statements, statementObservation) = (nil, nil)
        cursorObject = nil
        marks.removeAll()
        (search, searchPlaces) = (nil, nil)
        total = nil
    }

    private func adopt(_ list: RecordList) {
        records.delegate = nil
        if waitingChanges != nil { stopFreezing() }
        isDetailFocused = false
        records = list
        list.delegate = self
        list.isMarked = { [unowned self] in marks.contains($0) }
        list.isContested = { [unowned self] in browser.contested.contains($0) }
        view = SectionedList(source: list, columns: list.display.columns.map(\.listColumn))
        view.hasHeaders = list.settings.sectionKey != nil
        view.frozenColumns = list.settings.columns.frozen
        view.barCoversLine = browser.options.preferences.barCoversLine
        view.titleSuffix = { [unowned list] column in Self.sortMark(of: column, in: list.settings) }
        view.reset()
        view.restoreFolds(list.settings.folded)
        search = nil
        searchText = nil
        rememberCursor()
        aggregateKey = nil
        updateAggregates()
    }

    /// An arrow for a sort key; a number with it where there are several.
    static func sortMark(of column: ListColumn, in settings: ListSettings) -> String {
        if column.id == settings.sectionSortKey { return settings.sectionsAscend ? "↑" : "↓" }
        guard let index = settings.sortKeys.firstIndex(where: { $0.keyPath == column.id }) else { return "" }
        let arrow = settings.sortKeys[index].isAscending ? "↑" : "↓"
        return settings.sortKeys.count > 1 ? "\(arrow)\(index + 1)" : arrow
    }

    private func rememberSettings() {
        var settings = records.settings
        settings.folded = view.folded
        settings.cursor = cursorObject?.objectID
        settings.focusedColumn = focusedKey
        settingsByEntity[entity.name ?? ""] = settings
    }

    // MARK: The cursor

    /// Notes which record is under the cursor, so that the cursor can follow it.
    func rememberCursor() {
        cursorObject = view.cursor?.path.flatMap { records.object(at: $0) }
        updateDetailPane()
    }

    /// Puts the cursor on a record of the list.
    func moveCursor(to object: NSManagedObject) {
        guard let path = records.path(of: object) else { return }
        view.moveToRow(path)
        rememberCursor()
    }

    // MARK: What goes on by itself

    /// When a record stops glowing; at once while a search is on its way.
    var nextWake: ContinuousClock.Instant? {
        if isSearching || searchPlaces?.isCounting == true { return .now }
        let recount = searchPlaces?.recount
        // The share that is done is shown as it grows.
        let progress = browser.work == nil ? nil : ContinuousClock.now + .milliseconds(250)
        let tick = work == nil ? nil : ContinuousClock.now + Activity.interval
        return [records.glow.nextEnd, records.fading.nextEnd, progress, pendingKeys.nextWake, tick, recount]
            .compactMap { $0 }.min()
    }

    func wake() {
        if isSearching { continueSearch() }
        continueCounting()
        if browser.work != nil || work != nil || pendingKeys.wake() { browser.needsDisplay = true }
        if let end = records.fading.nextEnd, end <= .now {
            records.fading.removeEnded(now: .now)
            let path = cursorObject.flatMap { records.path(of: $0) }
            view.reload(cursor: path.map { .row($0) })
            rememberCursor()
            browser.needsDisplay = true
        }
        if let end = records.glow.nextEnd, end <= .now {
            records.glow.removeEnded(now: .now)
            browser.needsDisplay = true
        }
    }

    /// Does something that changes records, and lets the cursor go to the first of them that the list shows.
    ///
    /// - Parameter reveals: whether that is wanted; else where the list is on top.
    func revealingChanges(_ reveals: Bool? = nil, _ body: () -> Void) {
        revealsChanges = reveals ?? (browser.layers.top === self)
        body()
        revealsChanges = false
    }
}

// MARK: - What the delegate hears

extension ListScreen: RecordListDelegate {
    func listWillChange() {
        (changed, deletedHere) = ([], nil)
        log.willChange()
    }

    func listDidChangeSection(_ name: String, index: Int, type: NSFetchedResultsChangeType) {
        log.section(name, index: index, type: type)
    }

    func listDidChange(
        _ object: NSManagedObject, at old: IndexPath?, type: NSFetchedResultsChangeType, to new: IndexPath?
    ) {
        log.object(object, type: type, from: old, to: new)
        switch type {
        case .insert: changed.append((.inserted, object))
        case .move: changed.append((.moved, object))
        case .update: changed.append((.updated, object))
        case .delete:
            // What the user deletes needs no sign; what others deleted counts as deleted until the event is processed.
            guard !session.isChangingMany else { return }
            if deletedHere == nil {
                session.context.processPendingChanges()
                deletedHere = session.context.deletedObjects
            }
            guard let old, deletedHere?.contains(object) == false else { return }
            records.fade(object, at: old)
        @unknown default: break
        }
    }

    func listDidChange() {
        let screenLine = view.screenLine
        records.refresh()
        if !session.isChangingMany { forgetDeletedMarks() }
        searchPlaces?.listChanged()
        // A flood of changes is not worth a glow, and the user would not see it.
        let now = ContinuousClock.now
        for (mark, object) in changed.suffix(1000) { records.glow.add(mark, for: object, now: now) }
        let path = cursorObject.flatMap { records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) }, screenLine: screenLine)
        leaveFadingRow()
        search?.listChanged(changed.map(\.object))
        if revealsChanges { reveal(changed.map(\.object)) }
        if followsNewest, let newest = changed.last(where: { $0.mark == .inserted }) { moveCursor(to: newest.object) }
        (changed, deletedHere) = ([], nil)
        rememberCursor()
        log.didChange(sections: records.sectionCount, objects: records.objectCount)
        browser.needsDisplay = true
    }

    /// Goes on to a record where the cursor's own one fades.
    private func leaveFadingRow() {
        func isFading() -> Bool { view.cursor?.path.map { records.object(at: $0) == nil } ?? false }
        for step in [1, -1] {
            var last = view.cursor
            while isFading() {
                view.move(by: step)
                if view.cursor == last { break }
                last = view.cursor
            }
        }
    }

    /// Puts the cursor on the first of these records, unless it is on one of them or a fold hides them.
    private func reveal(_ objects: [NSManagedObject]) {
        guard !objects.contains(where: { $0 === cursorObject }) else { return view.revealCursor() }
        let paths = objects.compactMap { records.path(of: $0) }.filter { !view.isFolded(section: $0.section) }
        if let first = paths.min() { view.moveToRow(first) }
    }
}
