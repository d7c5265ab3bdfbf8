import TerminalKit

extension ListCommands {
    /// Commands for columns and aggregates.
    static var columns: [Command<ListScreen>] {
        let category = "Columns"
        return [
            Command("columns", keys: "|", category: category, help: "show, hide, move, resize and freeze columns") {
                $0.browser.layers.push(ColumnsPane(list: $0))
            },
            Command("hide column", keys: "gh", category: category, help: "hide the focused column") {
                $0.hideFocusedColumn()
            },
            Command("wider", keys: "z>", category: category, help: "make the column wider") {
                $0.widenColumn($0.focusedKey, by: 2 * $0.count)
            },
            Command("narrower", keys: "z<lt>", category: category, help: "make the column narrower") {
                $0.widenColumn($0.focusedKey, by: -2 * $0.count)
            },
            Command("move column left", keys: "<S-Left>", category: category, help: "move the column to the left") {
                $0.moveColumn($0.focusedKey, by: -$0.count)
            },
            Command("move column right", keys: "<S-Right>", category: category, help: "move the column to the right") {
                $0.moveColumn($0.focusedKey, by: $0.count)
            },
            Command(
                "freeze columns", keys: "gf", category: category,
                help: "freeze columns up to the focus, or unfreeze"
            ) { $0.freezeColumns(upTo: $0.focusedKey) },
            Command("pin column", keys: "gF", category: category, help: "freeze the column beside the first ones") {
                $0.pinColumn($0.focusedKey)
            },
            Command(
                "aggregates", keys: "ga", category: category,
                help: "count, sum, average, least and greatest of the column"
            ) { $0.toggleAggregates() },
        ]
    }

    static var panes: [Command<ListScreen>] {
        let category = "Panes"
        return [
            Command(
                "detail pane", keys: "p", category: category, help: "show or hide the record pane"
            ) { $0.toggleDetailPane() },
            Command(
                "unsaved changes", keys: "gu", category: category, help: "list unsaved changes and drop some"
            ) { $0.browser.layers.push(ChangesPane(browser: $0.browser, session: $0.session)) },
            Command("go to detail pane", keys: "<Tab>", category: category, help: "move to the record pane") {
                $0.goToDetailPane()
            },
        ]
    }

    static var living: [Command<ListScreen>] {
        let category = "Live"
        return [
            Command("freeze", keys: "Z", category: category, help: "freeze or unfreeze the list") {
                $0.toggleFreeze()
            },
            Command(
                "history", keys: "H", category: category,
                help: "list the transactions with author and time"
            ) {
                $0.browser.layers.push(HistoryPane(browser: $0.browser, session: $0.session))
            },
            Command("statements", keys: "gt", category: category, help: "show SQL statements of the store as they run")
            {
                $0.toggleStatements()
            },
            Command(
                "read statements", keys: "gT", category: category,
                help: "browse the SQL statements and read their full text"
            ) { $0.lookThroughStatements() },
            Command("read again", keys: "R <F5>", category: category, help: "reload the list") {
                if !$0.browser.asksAboutLostFile() { $0.readAgain() }
            },
            Command(
                "follow", keys: "F", category: category, help: "move the cursor to each new record, or stop doing so"
            ) {
                $0.toggleFollowing()
            },
        ]
    }
}
