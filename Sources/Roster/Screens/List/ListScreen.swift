import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The main screen: the records of one entity in sections, live.
///
/// Design note. The results controller holds the contents of the list; `RecordList` is their data source, and
/// `SectionedList` draws them. Each choice of the user (entity, sort, sections, filter) creates a new `RecordList`.
/// Changes arrive as delegate callbacks: they are logged, the records glow, and the cursor follows its record on the
/// same line of the screen.
final class ListScreen: Layer {
    unowned let browser: Browser
    let session: StoreSession
    let entities: [NSEntityDescription]
    private(set) var entity: NSEntityDescription
    private(set) var records: RecordList
    private(set) var view: SectionedList
    private var settingsByEntity: [String: ListSettings] = [:]

    var keys = KeySequenceReader(readsCounts: true)
    /// The box with the keys that may follow the pressed ones.
    lazy var pendingKeys = PendingKeys(delay: browser.options.preferences.popupDelay)
    /// Set after `'`: the next key is a letter of the section index.
    var awaitsIndexLetter = false
    var showsCallbacks = false
    var log = CallbackLog()
    /// The store's statements, if they are shown.
    var statements: StatementLog?
    var statementObservation: StatementObservation?
    /// Changes received while the list is frozen.
    var waitingChanges: WaitingChanges?
    /// True if the cursor moves to every new record.
    var followsNewest = false
    var showsAggregates = false
    /// The column whose aggregates were last requested.
    var aggregateKey: String?
    var aggregateJob: Job<Void>?
    /// The running background work, such as reading or filtering.
    var work: ListWork?
    /// Last durations of background work, by entity and kind.
    var workTimes: [String: Duration] = [:]
    /// True if the pane shows the record under the cursor.
    var showsDetail = false
    var detailPane: DetailScreen?
    /// True if the pane receives the keys.
    var isDetailFocused = false
    /// The marked records of the current entity.
    var marks = RecordMarks()
    private(set) lazy var find = ListSearch(of: self)
    private(set) lazy var filter = ListFilter(of: self)
    /// Number of records without the filter; set while the list is filtered.
    var total: EntityTotal?
    /// Positions of the entity tabs in the first line.
    var tabs: [(columns: Range<Int>, entity: NSEntityDescription)] = []
    var lastClick: (point: Point, time: ContinuousClock.Instant)?
    let isFinished = false

    /// The record under the cursor, which the cursor follows.
    private(set) var cursorObject: NSManagedObject?
    /// Objects of the current batch of callbacks, with their marks.
    private var changed: [(mark: RowMark, object: NSManagedObject)] = []
    /// Objects that the user deleted, as of the current batch.
    private var deletedHere: Set<NSManagedObject>?
    /// True if the cursor moves to changed records.
    private var revealsChanges = false

    /// - Throws: an error if an option does not fit the model or the fetch fails.
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

    /// The current state of the lists, by entity.
    var state: [String: ListState] {
        rememberSettings()
        return settingsByEntity.mapValues { ListState($0) }
    }

    // MARK: Showing a list

    /// Shows another entity, with its list as it was last shown.
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

    /// Restores cursor and focus.
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
        showSortColumn()
    }

    private func showSortColumn() { records.settings.sortKeys.first.map { view.showColumn($0.keyPath) } }

    /// The key of the focused column; empty for the record itself.
    var focusedKey: String {
        view.columns.indices.contains(view.focusedColumn) ? view.columns[view.focusedColumn].id : ""
    }

    /// Changes the settings of the list. The cursor stays on its record.
    func change(_ change: (inout ListSettings) -> Void) {
        do {
            try tryToChange(change)
        } catch {
            browser.complain(error)
        }
    }

    /// Changes the settings; the caller handles errors. After an error the list is unchanged.
    func tryToChange(_ change: (inout ListSettings) -> Void) throws {
        var settings = chosenSettings
        settings.folded = view.folded
        change(&settings)
        if settings.sectionText != records.settings.sectionText { settings.folded = [] }
        let list = try RecordList(entity: entity, settings: settings, context: session.context, limits: session.limits)
        let what = settings.filter != records.settings.filter ? "filtering" : "sorting"
        // The cursor may move while the list is read.
        try load(list, of: entity, what: what, keeping: { [unowned self] in (cursorObject, focusedKey) }) {
            [unowned self] object, focus in
            if let object, records.path(of: object) != nil { moveCursor(to: object) }
            if focusedKey != focus { view.focusedColumn = view.columns.firstIndex { $0.id == focus } ?? 0 }
            showSortColumn()
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

    /// Records the count of an unfiltered list, to show it as the total of a filtered one.
    private func noteCount() {
        guard records.controller.sections != nil, records.settings.filter.isEmpty, waitingChanges == nil,
            !session.context.hasChanges
        else {
            return
        }
        session.counts.note(records.objectCount, of: entity)
    }

    func readAgain() { change { _ in } }

    /// Stops observing changes and releases the list's objects.
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
        find.listWasReplaced()
        total = nil
    }

    private func adopt(_ list: RecordList) {
        records.delegate = nil
        if waitingChanges != nil { stopFreezing() }
        isDetailFocused = false
        records = list
        list.delegate = self
        list.isMarked = { [unowned self] in marks.contains($0) }
        list.isConnectionLost = { [unowned session] in session.isConnectionLost }
        list.isContested = { [unowned self] in browser.contested.contains($0) }
        let old = view
        view = SectionedList(source: list, columns: list.display.columns.map(\.listColumn))
        view.hasHeaders = list.settings.sectionKey != nil
        view.frozenColumns = list.settings.columns.frozen
        view.barCoversLine = browser.options.preferences.barCoversLine
        view.titleSuffix = { [unowned list] column in Self.sortMark(of: column, in: list.settings) }
        view.reset()
        view.takeColumnPosition(of: old)
        view.restoreFolds(list.settings.folded)
        find.listWasReplaced()
        rememberCursor()
        aggregateKey = nil
        updateAggregates()
    }

    /// An arrow for a sort key, with its number if there are several.
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

    /// Remembers the record under the cursor: the cursor follows it.
    func rememberCursor() {
        cursorObject = view.cursor?.path.flatMap { records.object(at: $0) }
        updateDetailPane()
    }

    func moveCursor(to object: NSManagedObject) {
        guard let path = records.path(of: object) else { return }
        view.moveToRow(path)
        rememberCursor()
    }

    // MARK: Timers

    /// Time at which a record stops glowing or another timer fires; now during a search.
    var nextWake: ContinuousClock.Instant? {
        let search = find.nextWake
        // Progress of background commands is redrawn.
        let progress = browser.work == nil ? nil : ContinuousClock.now + .milliseconds(250)
        let tick = work == nil ? nil : ContinuousClock.now + Activity.interval
        let reading = session.isConnectionLost ? ContinuousClock.now + session.limits.readPause : nil
        return [records.glow.nextEnd, records.fading.nextEnd, progress, pendingKeys.nextWake, tick, search, reading]
            .compactMap { $0 }.min()
    }

    func wake() {
        find.wake()
        let isWaiting = browser.work != nil || work != nil || session.isConnectionLost
        session.retryReading()
        if isWaiting || pendingKeys.wake() { browser.needsDisplay = true }
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

    /// Makes a change and moves the cursor to the first changed record in the list.
    ///
    /// - Parameter reveals: true to move the cursor; `nil` moves it if the list is the top layer.
    func revealingChanges(_ reveals: Bool? = nil, _ body: () -> Void) {
        revealsChanges = reveals ?? (browser.layers.top === self)
        body()
        revealsChanges = false
    }
}

// MARK: - Delegate callbacks

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
            // Own deletions do not fade. Others' deletions are in `deletedObjects` only until the event is processed.
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
        // Limit the glow: nobody can see more changes than that.
        let now = ContinuousClock.now
        for (mark, object) in changed.suffix(1000) { records.glow.add(mark, for: object, now: now) }
        let path = cursorObject.flatMap { records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) }, screenLine: screenLine)
        leaveFadingRow()
        find.listChanged(changed.map(\.object))
        if revealsChanges { reveal(changed.map(\.object)) }
        if followsNewest, let newest = changed.last(where: { $0.mark == .inserted }) { moveCursor(to: newest.object) }
        (changed, deletedHere) = ([], nil)
        rememberCursor()
        log.didChange(sections: records.sectionCount, objects: records.objectCount)
        browser.needsDisplay = true
    }

    /// Moves the cursor off a fading row.
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

    /// Moves the cursor to the first of these records, unless it is already on one of them or they are folded.
    private func reveal(_ objects: [NSManagedObject]) {
        guard !objects.contains(where: { $0 === cursorObject }) else { return view.revealCursor() }
        let paths = objects.compactMap { records.path(of: $0) }.filter { !view.isFolded(section: $0.section) }
        if let first = paths.min() { view.moveToRow(first) }
    }
}
