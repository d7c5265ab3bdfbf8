import TerminalKit

// The pane beside the list, or beneath it, that shows the record under the cursor.

extension ListScreen {
    /// Shows the pane, or takes it away.
    func toggleDetailPane() {
        if showsDetail { closeDetailPane() } else { openDetailPane() }
    }

    /// Goes to the pane, which is opened for it.
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

    /// Lets the pane show the record under the cursor. While the user is in the pane, it stays where it is.
    func updateDetailPane() {
        guard showsDetail, !isDetailFocused else { return }
        guard let cursorObject else {
            // What the list no longer has is not shown beside it.
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

    /// Divides the screen between the list and the pane: beside each other where there is room, else one above the other.
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
