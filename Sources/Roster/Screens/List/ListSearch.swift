import CoreData
import TerminalKit
import Translation

/// The search of a list. Long lists are searched in pieces between keys.
final class ListSearch {
    private unowned let list: ListScreen
    /// The pattern that `n` and `N` search for, which is highlighted.
    private(set) var pattern: FindPattern? {
        didSet { if pattern != places?.query.pattern { (places, recounting) = (nil, nil) } }
    }
    private var search: RecordSearch?
    /// Reads the values that a pattern needs.
    private var reading: (query: FindQuery, job: Job<FindQuery.Values>?)?
    /// The values of the columns, until the list changes.
    private var shown = ShownValues()
    /// Begins the search when the values are read.
    private var waiting: ((FindQuery.Method) -> Void)?
    /// Positions of the matches, valid until the list changes.
    private(set) var places: SearchPlaces?
    /// Reads the values to find the matches again.
    private var recounting: Job<FindQuery.Values>?
    /// The method of the last search, valid for its pattern and columns until the list changes.
    private var known: (query: FindQuery, method: FindQuery.Method)?
    /// Restarts the search of the open prompt after the list was replaced.
    private var repeatSearch: (() -> Void)?
    /// Called with the progress of the search.
    private var onProgress: (RecordSearch) -> Void = { _ in }

    init(of list: ListScreen) { self.list = list }

    private var browser: Browser { list.browser }
    private var records: RecordList { list.records }
    private var view: SectionedList { list.view }

    // MARK: Following the list

    var isSearching: Bool { waiting != nil || search?.isFinished == false }

    /// Ends the search and forgets its pattern.
    func forget() { (pattern, search, waiting) = (nil, nil, nil) }

    /// Forgets the search of a list that another one replaced.
    func listWasReplaced() {
        forget()
        (known, reading, shown) = (nil, nil, ShownValues())
    }

    /// Searches the new list again if the prompt is open.
    func repeatInPrompt() { repeatSearch?() }

    func listChanged(_ changed: [NSManagedObject]) {
        (known, recounting, shown) = (nil, nil, ShownValues())
        places?.listChanged()
        search?.listChanged(changed)
    }

    /// Time to continue searching or counting; `nil` if there is nothing to do.
    var nextWake: ContinuousClock.Instant? {
        if search?.isFinished == false || places?.isCounting == true { return .now }
        return recounting == nil ? places?.recount : nil
    }

    func wake() {
        reading?.job?.wait()
        if search?.isFinished == false { advance() }
        count()
    }

    // MARK: The prompt

    private static let hint = #"words in any order, "a phrase", /regex/, \C exact case; Enter keeps it"#

    /// Prompts for a text and moves to its first match during typing. Escape returns to the start.
    func ask() {
        stop()
        var start = SearchStart(of: list)
        let previous = pattern
        let prompt = Prompt(label: "find: ", history: browser.searchHistory, hint: Self.hint)
        prompt.onChange = { [unowned self, unowned prompt] text in
            // Folds opened by a match of the shorter text have to close again.
            goBack(to: start)
            find(text, includesOrigin: view.cursor?.path != nil, countsAll: true) {
                [unowned self, unowned prompt] search in show(search, in: prompt)
            }
            show(search, in: prompt)
        }
        repeatSearch = { [unowned self, weak prompt] in
            start = SearchStart(of: list)
            if let prompt, !prompt.editor.text.isEmpty { prompt.onChange?(prompt.editor.text) }
        }
        prompt.onAccept = { [unowned self] text in
            if let problem = FindPattern(text).problem { return Prompt.Problem(problem) }
            repeatSearch = nil
            browser.rememberSearch(text)
            accept(text)
            return nil
        }
        prompt.onCancel = { [unowned self] in
            repeatSearch = nil
            forget()
            pattern = previous
            goBack(to: start)
        }
        browser.layers.push(prompt)
    }

    /// Restores cursor, focus and folds from before the search.
    private func goBack(to start: SearchStart) {
        view.restoreFolds(start.folded)
        let path = start.object.flatMap { records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) } ?? start.position, screenLine: start.line)
        view.focusedColumn = start.column
        list.rememberCursor()
    }

    /// Shows the progress of a search in its prompt.
    private func show(_ search: RecordSearch?, in prompt: Prompt) {
        prompt.problem = pattern?.problem.map { Prompt.Problem($0) }
        guard prompt.problem == nil else { return }
        if pattern?.terms.isEmpty != false {
            prompt.hint = tr(Self.hint)
        } else if let search, search.isFinished {
            prompt.hint = sentence("\(search.count) found")
            if search.match == nil { prompt.problem = Prompt.Problem(nothingFound) }
        } else {
            let progress = sentence("searching… \(self.progress) %")
            let count = search?.count ?? 0
            prompt.hint = count == 0 ? progress : sentence("\(progress), \(count) found so far")
        }
    }

    private var nothingFound: String {
        FindQuery(FindPattern("a"), records.display).canFind
            ? tr("nothing found")
            : sentence("\(list.entity.name ?? "The entity") has no values to find in its columns")
    }

    /// Closes the prompt. The cursor stays on the match; without a match the search continues.
    private func accept(_ text: String) {
        guard pattern?.terms.isEmpty == false else { return forget() }
        onProgress = { [unowned self] in report($0) }
        guard let search else { return }
        if search.match != nil {
            search.stop()
            countMatches(of: search)
        } else if search.isFinished {
            browser.say(sentence("\(nothingFound): “\(text)”"), role: .warning)
        }
    }

    // MARK: Searching

    /// Moves to the next or previous match in the current records.
    func again(forward: Bool) {
        guard let text = pattern?.text ?? browser.searchHistory.last else {
            return browser.say("nothing searched yet: press /")
        }
        find(text, forward ? .forward : .backward) { [unowned self] in report($0) }
    }

    /// Moves to the previous row that shows the text of the focused cell.
    func findCell() {
        guard let object = view.cursor?.path.flatMap({ records.object(at: $0) }) else {
            return browser.say("no record under the cursor")
        }
        let text = records.display.columns.first { $0.key == list.focusedKey }?.text(of: object) ?? ""
        guard !text.isEmpty, text != ValueDisplay.nothing else { return browser.say("there is no value to find") }
        let line = text.prefix { !$0.isNewline }
        let pattern = FindPattern.literal(String(line))
        browser.rememberSearch(pattern)
        find(pattern, .backward) { [unowned self] in report($0) }
    }

    private func report(_ search: RecordSearch) {
        guard search.isFinished else { return }
        guard search.match != nil else {
            return browser.say(sentence("\(nothingFound): “\(search.text)”"), role: .warning)
        }
        countMatches(of: search)
        if search.wentRound {
            browser.say(search.direction == .forward ? "continued at the top" : "continued at the bottom")
        }
    }

    /// Searches from the cursor. The values that the pattern needs are read first, in the background if that takes
    /// time.
    private func find(
        _ text: String, _ direction: RecordSearch.Direction = .forward, includesOrigin: Bool = false,
        countsAll: Bool = false, onProgress: @escaping (RecordSearch) -> Void
    ) {
        let pattern = FindPattern(text)
        (search, waiting) = (nil, nil)
        self.pattern = text.isEmpty ? nil : pattern
        self.onProgress = onProgress
        guard !pattern.terms.isEmpty else { return }
        let query = FindQuery(pattern, records.display)
        waiting = { [unowned self] method in
            search = RecordSearch(
                query, method, in: records, from: view.cursor?.origin(for: direction), includesOrigin: includesOrigin,
                direction: direction, countsAll: countsAll)
            advance()
        }
        if let known, known.query.isSame(as: query) { return begin(known.method) }
        if reading?.query.isSame(as: query) != true {
            reading = (query, nil)
            let job = read(query) { [unowned self, shown] method in
                // If the list changed meanwhile, the next search reads the values again.
                (known, reading) = (shown === self.shown ? (query, method) : nil, nil)
                begin(method)
            }
            if reading != nil { reading = (query, job) }
        }
        let limits = list.session.limits
        reading?.job?.wait(records.objectCount > limits.longList ? limits.searchSlice : .seconds(60))
    }

    /// Begins the search, unless it was stopped.
    private func begin(_ method: FindQuery.Method) {
        let next = waiting
        waiting = nil
        next?(method)
    }

    /// Reads the values that a query needs, and calls `next`; at once if it needs none.
    private func read(
        _ query: FindQuery, then next: @escaping (FindQuery.Method) -> Void
    ) -> Job<FindQuery.Values>? {
        guard query.needsValues else {
            next(query.method([]))
            return nil
        }
        let context = list.session.context
        let (keys, coordinator) = (query.valueKeys, context.persistentStoreCoordinator)
        // Saved values are read from the store, unsaved ones here.
        let unsaved = context.insertedObjects.union(context.updatedObjects).filter {
            $0.entity.isKindOf(entity: query.entity)
        }
        let mine = query.found(in: keys.map { key in query.shown(key, unsaved.compactMap { $0.value(forKey: key) }) })
        return Job(onThread: { [shown] control in
            // The next search needs the values even if this one was stopped.
            let columns = try shown.columns(keys) {
                try keys.map { key in
                    let counts = try ColumnCounts(
                        ColumnCounts.Query(keyPaths: [key], entity: query.entity, filter: ""), of: coordinator)
                    return query.shown(key, counts.rows.compactMap { $0.values[0] })
                }
            }
            return control.isRaised ? [] : query.found(in: columns)
        }) { [unowned self] result in
            browser.needsDisplay = true
            do {
                let found = zip(try result.get(), mine).map { saved, unsaved in
                    saved.merging(unsaved) {
                        FindQuery.Found(values: $0.values + $1.values, ranges: $0.ranges + $1.ranges)
                    }
                }
                next(query.method(found))
            } catch {
                (reading, waiting, recounting) = (nil, nil, nil)
                browser.complain(error)
            }
        }
    }

    /// Continues the search for a moment.
    private func advance() {
        guard let search else { return }
        let hadMatch = search.match != nil
        let progress = search.progress
        do {
            try search.advance(until: .now + list.session.limits.searchSlice)
        } catch {
            browser.complain(error)
        }
        if !hadMatch, let match = search.match { moveCursor(to: match) }
        onProgress(search)
        if search.isFinished || search.progress != progress || !hadMatch && search.match != nil {
            browser.needsDisplay = true
        }
    }

    /// Moves to a match, and to the first column that shows it if none of those columns is visible.
    private func moveCursor(to match: NSManagedObject) {
        list.moveCursor(to: match)
        let columns = matchingColumns
        guard let first = columns.first,
            !columns.contains(where: { view.shownWidth(ofColumn: view.columns[$0].id) != nil })
        else { return }
        view.focusedColumn = first
    }

    /// The indices of the columns in which the record under the cursor shows the pattern; empty if it does not match.
    private var matchingColumns: [Int] {
        guard let pattern, let object = view.cursor?.path.flatMap({ records.object(at: $0) }) else { return [] }
        let texts = records.display.columns.map { $0.text(of: object) }
        return pattern.matches(texts) ? pattern.places(in: texts) : []
    }

    /// Stops a running search. Returns false if no search was running.
    @discardableResult
    func stop() -> Bool {
        guard isSearching else { return false }
        waiting = nil
        search?.stop()
        return true
    }

    // MARK: Counting matches

    /// Finds the positions of all matches in the list, unless they are known.
    private func countMatches(of search: RecordSearch) {
        guard places?.query.pattern != search.query.pattern else { return }
        let places = SearchPlaces(of: search, in: records) { [weak browser] in browser?.needsDisplay = true }
        self.places = places
        if records.objectCount <= list.session.limits.longList { places.count(until: .now + .seconds(1)) }
    }

    /// Continues counting for a moment.
    private func count() {
        if let changed = places, let time = changed.recount, time <= .now, recounting == nil {
            recounting = read(FindQuery(changed.query.pattern, records.display)) { [unowned self] method in
                recounting = nil
                places = SearchPlaces(again: changed, method) { [weak browser] in browser?.needsDisplay = true }
            }
            recounting?.wait()
            browser.needsDisplay = true
        }
        guard let places, places.isCounting else { return }
        places.count(until: .now + list.session.limits.searchSlice)
        if places.rows != nil { browser.needsDisplay = true }
    }

    // MARK: Drawing

    /// The parts of a text to highlight.
    func highlighted(in text: String) -> [String] { pattern?.found(in: text) ?? [] }

    /// Percentage of the list that was examined.
    var progress: Int { search?.progress ?? 0 }

    /// Width of the searched text in the status line.
    func statusWidth(_ measure: TextWidth) -> Int { places.map { measure.width($0.text) } ?? 0 }

    /// `2 of 204 “stad” in Home venue`, or `204 found: “stad”` on a row that does not match.
    ///
    /// - Parameters:
    ///   - room: maximum number of columns of the text.
    ///   - namesColumns: true to name the columns that show the match.
    func status(_ measure: TextWidth, room: Int, namesColumns: Bool) -> String? {
        guard let places else { return nil }
        let text = measure.truncated(places.text, to: room)
        let columns = namesColumns ? matchingColumns : []
        let titles = columns.prefix(2).map { records.display.columns[$0].title }.joined(separator: ", ")
        let more = columns.count > 2 ? ", …" : ""
        func placed(_ text: String) -> String { titles.isEmpty ? text : sentence("\(text) in \(titles + more)") }
        guard let known = places.count else { return placed("“\(text)”") }
        let count = GroupedNumber.text(known)
        let row = view.cursor?.path.map { records.index(of: $0) }
        guard let number = row.flatMap({ places.number(ofRow: $0) }) else {
            return placed(sentence("\(count) found: “\(text)”"))
        }
        return placed(sentence("\(GroupedNumber.text(number)) of \(count) “\(text)”"))
    }
}

/// The state from before a search.
private struct SearchStart {
    let position: ListPosition?
    let object: NSManagedObject?
    /// The cursor's line on the screen.
    let line: Int?
    let column: Int
    let folded: Set<String>

    init(of list: ListScreen) {
        (position, object, line) = (list.view.cursor, list.cursorObject, list.view.screenLine)
        (column, folded) = (list.view.focusedColumn, list.view.folded)
    }
}

extension ListPosition {
    /// The start row of a search. From a header, a forward search includes the section, a backward one does not.
    fileprivate func origin(for direction: RecordSearch.Direction) -> ListPath {
        switch self {
        case .header(let section): ListPath(section: section, row: direction == .forward ? -1 : 0)
        case .row(let path): path
        }
    }
}
