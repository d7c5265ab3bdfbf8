import TerminalKit

// The pane next to or below the list that shows the record under the cursor.

extension ListScreen {
    func toggleDetailPane() {
        if showsDetail { closeDetailPane() } else { openDetailPane() }
    }

    /// Moves the focus to the pane. Opens it if needed.
    func goToDetailPane() {
        if !showsDetail { openDetailPane() }
        updateDetailPane()
        guard detailPane != nil else { return browser.say("no record under the cursor") }
        isDetailFocused = true
    }

    func openDetailPane() {
        showsDetail = true
        updateDetailPane()
    }

    func closeDetailPane() {
        showsDetail = false
        isDetailFocused = false
        detailPane = nil
    }

    /// Shows the record under the cursor in the pane, unless the pane has the focus.
    func updateDetailPane() {
        guard showsDetail, !isDetailFocused else { return }
        guard let cursorObject else {
            // An empty list has no record to show.
            if records.objectCount == 0 { detailPane = nil }
            return
        }
        if let detailPane {
            detailPane.show(cursorObject)
            return
        }
        let pane = DetailScreen(browser: browser, session: session, object: cursorObject, isPane: true)
        pane.onLeave = { [unowned self] in isDetailFocused = false }
        pane.onClose = { [unowned self] in closeDetailPane() }
        detailPane = pane
    }

    /// Divides the screen between list and pane: side by side if there is room, else one above the other.
    func divide(_ body: Canvas) -> (list: Canvas, pane: Canvas?) {
        guard detailPane != nil, body.height >= 8 || body.width >= 100 else { return (body, nil) }
        if body.width >= 100 {
            let width = max(44, body.width * 2 / 5)
            return (
                body.part(x: 0, y: 0, width: body.width - width, height: body.height),
                body.part(x: body.width - width, y: 0, width: width, height: body.height)
            )
        }
        let height = max(5, body.height / 2)
        return (
            body.part(x: 0, y: 0, width: body.width, height: body.height - height),
            body.part(x: 0, y: body.height - height, width: body.width, height: height)
        )
    }
}
