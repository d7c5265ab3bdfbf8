import TerminalKit

/// The commands of the record screen.
enum DetailCommands {
    static let table = CommandTable<DetailScreen>(moving + records + program)

    private typealias Detail = Command<DetailScreen>

    private static var moving: [Command<DetailScreen>] {
        let category = "Move"
        return Detail.moving(
            category, next: "next line", previous: "previous line", first: "first line", last: "last line", space: true
        ) + [
            Detail("next", keys: "<Tab>", category: category, help: "next line, or back to the list from a pane") {
                if $0.isPane { $0.leave() } else { $0.cursor += 1 }
            },
            Detail(
                "previous", keys: "<S-Tab>", category: category, help: "previous line, or back to the list from a pane"
            ) {
                if $0.isPane { $0.leave() } else { $0.cursor -= 1 }
            },
            Detail(
                "follow", keys: "<Enter> l <Right>", category: category,
                help: "go to the related record, or unfold the value"
            ) { $0.follow() },
            Detail("fold", keys: "za + -", category: category, help: "fold or unfold the related record or value") {
                $0.toggleFold()
            },
            Detail("find", keys: "/", category: category, help: "find text in the record") { $0.askForSearch() },
            Detail("next match", keys: "n", category: category, help: "next match") { $0.findNext(forward: true) },
            Detail("previous match", keys: "N", category: category, help: "previous match") {
                $0.findNext(forward: false)
            },
            Detail(
                "back", keys: "<Esc> h <Left> <Backspace>", category: category,
                help: "back to the previous record or list"
            ) {
                $0.goBack()
            },
            Detail("close", keys: "q", category: category, help: "back to the list, or close the pane") { $0.close() },
        ]
    }

    private static var records: [Command<DetailScreen>] {
        let category = "Records"
        func readOnly(_ detail: DetailScreen) -> String? { detail.browser.readOnlyReason }
        return [
            Detail(
                "edit field", keys: "e", category: category, help: "edit the value of this line", unavailable: readOnly
            ) {
                $0.edit(focusing: true)
            },
            Detail("edit", keys: "E", category: category, help: "edit the whole record", unavailable: readOnly) {
                $0.edit(focusing: false)
            },
            Detail(
                "write value", keys: "w", category: category, help: "write the bytes or text of this line to a file"
            ) { $0.saveValue() },
            Detail(
                "open value", keys: "x", category: category, help: "open the value of this line with xdg-open"
            ) { $0.openValue() },
            Detail(
                "delete", keys: "D", category: category, help: "delete the record; asks first",
                unavailable: readOnly
            ) { $0.delete() },
            Detail("undo", keys: "u", category: category, help: "undo the last edit", unavailable: readOnly) {
                $0.browser.undo()
            },
            Detail(
                "redo", keys: "<C-r> U", category: category, help: "redo the last undone edit", unavailable: readOnly
            ) {
                $0.browser.redo()
            },
            Detail("save", keys: "<C-s>", category: category, help: "save all changes", unavailable: readOnly) {
                $0.browser.save()
            },
        ]
    }

    private static var program: [Command<DetailScreen>] {
        let category = "Program"
        return [
            Detail("help", keys: "? <F1>", category: category, help: "this help") {
                $0.browser.showHelp($0.commands, title: "Keys of a record")
            },
            Detail("palette", keys: ": <C-p>", category: category, help: "choose a command by name") {
                $0.browser.showPalette($0.commands, target: $0)
            },
            Detail("redraw", keys: "<C-l>", category: category, help: "redraw the screen") { $0.browser.redraw?() },
        ]
    }
}

extension DetailScreen {
    static let keysName = "record"
    static let keysRemark = "The keys of a record."
    static var table: CommandTable<DetailScreen> { DetailCommands.table }
    var commands: CommandTable<DetailScreen> { browser.tables[DetailScreen.self] }

    func move(by lines: Int) { cursor += lines }
    func move(byPages pages: Double) { cursor += Int(pages) * height }
    func moveToStart() { cursor = 0 }
    func moveToEnd() { cursor = .max }
}
