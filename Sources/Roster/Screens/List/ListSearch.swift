import CoreData
import TerminalKit
import Translation

// Text search. Long lists are searched in pieces between keys.

extension ListScreen {
    private static let searchHint = "Enter keeps the match, n N find the next, Esc goes back"

    var isSearching: Bool { search?.isFinished == false }

    /// Prompts for a text and moves to its first match during typing. Escape returns to the start.
    func askForSearch() {
        stopSearch()
        var start = SearchStart(position: view.cursor, object: cursorObject, line: view.screenLine, folded: view.folded)
        let previous = searchText
        let prompt = Prompt(label: "find: ", history: browser.searchHistory, hint: Self.searchHint)
        prompt.onChange = { [unowned self, unowned prompt] text in
            // Folds opened by a match of the shorter text have to close again.
            goBack(to: start)
            searchText = text.isEmpty ? nil : text
            let search = RecordSearch(
                text, in: records, from: view.cursor?.origin(for: .forward), includesOrigin: view.cursor?.path != nil,
                countsAll: true)
            begin(search) { [unowned self, unowned prompt] search in show(search, in: prompt) }
        }
        repeatSearch = { [unowned self, weak prompt] in
            start = SearchStart(position: view.cursor, object: cursorObject, line: view.screenLine, folded: view.folded)
            if let prompt, !prompt.editor.text.isEmpty { prompt.onChange?(prompt.editor.text) }
        }
        prompt.onAccept = { [unowned self] text in
            repeatSearch = nil
            browser.rememberSearch(text)
            accept(text)
            return nil
        }
        prompt.onCancel = { [unowned self] in
            repeatSearch = nil
            search = nil
            searchText = previous
            goBack(to: start)
        }
        browser.layers.push(prompt)
    }

    /// Restores cursor and folds from before the search.
    private func goBack(to start: SearchStart) {
        view.restoreFolds(start.folded)
        let path = start.object.flatMap { records.path(of: $0) }
        view.reload(cursor: path.map { .row($0) } ?? start.position, screenLine: start.line)
        rememberCursor()
    }

    /// Shows the progress of a search in its prompt.
    private func show(_ search: RecordSearch, in prompt: Prompt) {
        prompt.problem = nil
        if search.text.isEmpty {
            prompt.hint = Self.searchHint
        } else if search.isFinished {
            prompt.hint = sentence("\(search.count) found")
            if search.match == nil { prompt.problem = Prompt.Problem(nothingFound) }
        } else {
            let progress = sentence("searching… \(search.progress) %")
            prompt.hint = search.count == 0 ? progress : sentence("\(progress), \(search.count) found so far")
        }
    }

    private var nothingFound: String {
        RecordSearch.canSearch(entity)
            ? tr("nothing found")
            : sentence("\(entity.name ?? "The entity") has no text attributes; \\ filters by numbers and dates")
    }

    /// Closes the prompt. The cursor stays on the match; without a match the search continues.
    private func accept(_ text: String) {
        guard !text.isEmpty, let search else {
            searchText = nil
            return
        }
        if search.match != nil {
            search.stop()
            countMatches(of: search)
        } else if search.isFinished {
            browser.say(sentence("\(nothingFound): “\(text)”"), role: .warning)
        } else {
            onSearchProgress = { [unowned self] in report($0) }
        }
    }

    /// Moves to the next or previous match in the current records.
    func findAgain(forward: Bool) {
        guard let text = searchText ?? browser.searchHistory.last else {
            return browser.say("nothing searched yet: press /")
        }
        searchText = text
        let search = RecordSearch(
            text, in: records, from: view.cursor?.origin(for: forward ? .forward : .backward),
            direction: forward ? .forward : .backward)
        begin(search) { [unowned self] in report($0) }
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

    // MARK: Counting matches

    /// Finds the positions of all matches in the list, unless they are known.
    private func countMatches(of search: RecordSearch) {
        guard searchPlaces?.text != search.text else { return }
        searchPlaces = SearchPlaces(of: search, in: records) { [weak browser] in browser?.needsDisplay = true }
        if records.objectCount <= session.limits.longList { searchPlaces?.count(until: .now + .seconds(1)) }
    }

    /// Counts more matches for a fraction of a second.
    func continueCounting() {
        if let changed = searchPlaces, let time = changed.recount, time <= .now {
            searchPlaces = SearchPlaces(again: changed) { [weak browser] in browser?.needsDisplay = true }
            browser.needsDisplay = true
        }
        guard let searchPlaces, searchPlaces.isCounting else { return }
        searchPlaces.count(until: .now + session.limits.searchSlice)
        if searchPlaces.rows != nil { browser.needsDisplay = true }
    }

    /// `2 of 204 “stad”`, or `204 found: “stad”` on a row that does not match.
    ///
    /// - Parameter room: maximum number of columns of the text.
    func matchText(_ measure: TextWidth, room: Int) -> String? {
        guard let searchPlaces else { return nil }
        let text = measure.truncated(searchPlaces.text, to: room)
        guard let known = searchPlaces.count else { return "“\(text)”" }
        let count = GroupedNumber.text(known)
        let row = view.cursor?.path.map { records.index(of: $0) }
        guard let number = row.flatMap({ searchPlaces.number(ofRow: $0) }) else {
            return sentence("\(count) found: “\(text)”")
        }
        return sentence("\(GroupedNumber.text(number)) of \(count) “\(text)”")
    }

    // MARK: Working

    private func begin(_ search: RecordSearch, onProgress: @escaping (RecordSearch) -> Void) {
        self.search = search
        onSearchProgress = onProgress
        continueSearch()
    }

    /// Continues the search for a moment.
    func continueSearch() {
        guard let search else { return }
        let hadMatch = search.match != nil
        let progress = search.progress
        do {
            try search.advance(until: .now + session.limits.searchSlice)
        } catch {
            browser.complain(error)
        }
        if !hadMatch, let match = search.match { moveCursor(to: match) }
        onSearchProgress(search)
        if search.isFinished || search.progress != progress || !hadMatch && search.match != nil {
            browser.needsDisplay = true
        }
    }

    /// Stops a running search. Returns false if no search was running.
    @discardableResult
    func stopSearch() -> Bool {
        guard isSearching else { return false }
        search?.stop()
        return true
    }
}

/// The state from before a search.
private struct SearchStart {
    let position: ListPosition?
    let object: NSManagedObject?
    /// The cursor's line on the screen.
    let line: Int?
    let folded: Set<String>
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
