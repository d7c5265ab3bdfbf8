import TerminalKit
import Translation

/// The commands of the list. Keys, help and palette are derived from them.
enum ListCommands {
    static let table = CommandTable<ListScreen>(
        moving + folding + finding + arranging + columns + marking + records + copying + DataCommands.all + panes
            + LookingCommands.all + living + program)

    private typealias List = Command<ListScreen>

    static let movingCategory = "Move"
    /// A moving command that needs a second key.
    static let letterCommand = "section by letter"

    private static var moving: [Command<ListScreen>] {
        let category = movingCategory
        let steps = List.moving(
            category, next: "next record; 3j moves down 3", previous: "previous record",
            first: "first record; 5gg the fifth", last: "last record; 5G the fifth", halfPage: .half)
        return Array(steps.dropLast(2)) + [
            List("next section", keys: "]", category: category, help: "next section, or the end of the list") {
                for _ in 0..<min($0.count, $0.records.sectionCount + 1) { $0.view.moveBySection(1) }
            },
            List(
                "previous section", keys: "[", category: category,
                help: "start of this section, then of the previous one"
            ) {
                for _ in 0..<min($0.count, $0.records.sectionCount + 1) { $0.view.moveBySection(-1) }
            },
        ] + Array(steps.suffix(2)) + [
            List(
                letterCommand, keys: "'", category: category,
                help: "then a letter: go to the section that begins with it"
            ) {
                $0.awaitsIndexLetter = true
            }
        ] + List.columnSteps(category)
    }

    private static var folding: [Command<ListScreen>] {
        let category = "Fold"
        func noSections(_ list: ListScreen) -> String? {
            list.view.hasHeaders ? nil : "no sections; gs chooses a section key"
        }
        func fold(_ list: ListScreen, _ fold: (Int) -> Bool) {
            guard let section = list.view.cursor?.section else { return }
            list.view.setFolded(fold(section), section: section)
        }
        return [
            List(
                "toggle fold", keys: "za", category: category, help: "fold or unfold the section",
                unavailable: noSections
            ) { list in fold(list) { !list.view.isFolded(section: $0) } },
            List("fold", keys: "zc -", category: category, help: "fold the section", unavailable: noSections) { list in
                fold(list) { _ in true }
            },
            List("unfold", keys: "zo +", category: category, help: "unfold the section", unavailable: noSections) {
                list in
                fold(list) { _ in false }
            },
            List("fold all", keys: "zM", category: category, help: "fold all sections", unavailable: noSections) {
                $0.view.setAllFolded(true)
            },
            List("unfold all", keys: "zR", category: category, help: "unfold all sections", unavailable: noSections) {
                $0.view.setAllFolded(false)
            },
        ]
    }

    private static var finding: [Command<ListScreen>] {
        let category = "Find"
        return [
            List("find", keys: "/", category: category, help: "find what the rows show, as you type") {
                $0.find.ask()
            },
            List("next match", keys: "n", category: category, help: "next match") { $0.find.again(forward: true) },
            List("previous match", keys: "N", category: category, help: "previous match") {
                $0.find.again(forward: false)
            },
            List("find cell", keys: "#", category: category, help: "find the text of the cell, upwards; then n N") {
                $0.find.findCell()
            },
            List("filter", keys: "\\ &", category: category, help: "filter by a predicate, or edit that of the filter")
            {
                $0.filter.ask()
            },
            List(
                "filter by value", keys: "=", category: category,
                help: "keep records with this value, or of this folded section"
            ) {
                $0.filter.add(.equal)
            },
            List(
                "leave out value", keys: "!", category: category,
                help: "leave out records with this value, or of this section"
            ) {
                $0.filter.add(.different)
            },
            List("filter up to", keys: "<lt>", category: category, help: "keep records up to this value") {
                $0.filter.add(.atMost)
            },
            List("filter from", keys: ">", category: category, help: "keep records from this value on") {
                $0.filter.add(.atLeast)
            },
            List(
                "take out condition", keys: "g=", category: category,
                help: "take a condition out of the filter; a click on it too"
            ) { $0.filter.askToTakeOut() },
            List(
                "clear", keys: "<Esc>", category: category,
                help: "clear the range, then the match, the marks, the filter"
            ) { list in
                if list.pendingRange != nil {
                    list.marks.anchor = nil
                } else if list.find.pattern != nil {
                    list.find.forget()
                } else if !list.marks.isEmpty {
                    list.marks.removeAll()
                } else if !list.records.settings.filter.isEmpty {
                    list.change { $0.filter = "" }
                } else if list.browser.isPicking {
                    list.browser.quit()
                }
            },
        ]
    }

    /// The number of the entity that a command shows; `nil` for other commands.
    static func entityNumber(ofCommand name: String) -> Int? {
        let words = name.split(separator: " ")
        return words.count == 2 && words[0] == "entity" ? Int(words[1]) : nil
    }

    private static var arranging: [Command<ListScreen>] {
        let category = "Arrange"
        let entities = (1...9).map { number in
            List(
                "entity \(number)", keys: "g\(number)", category: category,
                help: "go to that entity; also its number, then Enter",
                unavailable: { list in
                    list.entities.count < number ? list.entitiesThereAre : nil
                }
            ) {
                $0.showEntity(number: number)
            }
        }
        return [
            List("add sort key", keys: "s", category: category, help: "add a sort key, or reverse an existing one") {
                $0.askForSortKey(title: "Add sort key") { $0.addSortKey($1) }
            },
            List("sort by", keys: "S", category: category, help: "sort by one key only") {
                $0.askForSortKey(title: "Sort only by") { $0.replaceSortKeys(with: $1) }
            },
            List("remove sort key", keys: "gx", category: category, help: "remove a sort key") {
                $0.askForSortKeyToRemove()
            },
            List("sections by", keys: "gs", category: category, help: "choose the section key") {
                $0.askForSectionKey()
            },
            List(
                "reverse sections", keys: "gr", category: category, help: "reverse the order of the sections",
                unavailable: { $0.view.hasHeaders ? nil : "no sections; gs chooses a section key" }
            ) { $0.change { $0.sectionsAscend.toggle() } },
            List("choose entity", keys: "ge", category: category, help: "choose the entity from a list") {
                $0.askForEntity()
            },
        ] + entities
    }

    private static var marking: [Command<ListScreen>] {
        let category = "Mark"
        return [
            List("mark", keys: "<Space>", category: category, help: "mark or unmark the record and move down") {
                $0.markAndMoveOn()
            },
            List("mark range", keys: "v", category: category, help: "start a range; at its other end, mark it") {
                $0.markRange()
            },
            List("mark by predicate", keys: "*", category: category, help: "mark records that match a predicate") {
                $0.markByPredicate()
            },
            List(
                "export marked", keys: "gw", category: category,
                help: "export the marked records, or this one, with all values"
            ) { $0.exportChosen() },
            List("invert marks", keys: "~", category: category, help: "invert the marks") { $0.invertMarks() },
        ]
    }

    private static var copying: [Command<ListScreen>] {
        let category = "Copy (the marked records, or the one under the cursor)"
        return [
            List("copy JSON", keys: "yy", category: category, help: "as JSON, one object per line") {
                $0.copyChosen(.json)
            },
            List("copy cell", keys: "yc", category: category, help: "the value in the focused column") {
                $0.copyChosen(.cell)
            },
            List("copy text", keys: "yt", category: category, help: "as text, in columns with titles") {
                $0.copyChosen(.text)
            },
            List("copy CSV", keys: "yv", category: category, help: "as CSV with headings") { $0.copyChosen(.csv) },
            List("copy predicate", keys: "yp", category: category, help: "a predicate that matches the focused values")
            {
                $0.copyChosen(.predicate)
            },
            List("copy URI", keys: "yu", category: category, help: "the URIs of the objects") { $0.copyChosen(.uri) },
        ]
    }

    private static var records: [Command<ListScreen>] {
        let category = "Records"
        func readOnly(_ list: ListScreen) -> String? { list.browser.readOnlyReason }
        func key(_ name: String, _ list: ListScreen) -> String {
            list.commands.command(named: name)?.keys.first?.label ?? ":\(name)"
        }
        return [
            List("open", keys: "<Enter>", category: category, help: "open the record, or unfold the section") {
                if let number = $0.keys.count { $0.showEntity(number: number) } else { $0.openDetail() }
            },
            List("add", keys: "o", category: category, help: "add a record", unavailable: readOnly) { $0.addRecord() },
            List(
                "edit field", keys: "e i a", category: category,
                help: "edit the focused value, or that of all marked records",
                unavailable: readOnly
            ) { if $0.marks.isEmpty { CellEditor.open(in: $0) } else { $0.editMarked() } },
            List("edit", keys: "E", category: category, help: "edit the whole record", unavailable: readOnly) {
                $0.editRecord()
            },
            List(
                "delete", keys: "D dd", category: category,
                help: "delete the record or the marked records; asks first",
                unavailable: readOnly
            ) { $0.deleteRecord() },
            List(
                "duplicate", keys: "gd", category: category, help: "duplicate the record or the marked records",
                unavailable: readOnly
            ) { $0.duplicate() },
            List("empty", keys: "x", category: category, help: "says which keys delete a record and empty a field") {
                let (delete, edit) = (key("delete", $0), key("edit field", $0))
                $0.browser.say(sentence("\(delete) deletes the record; \(edit), then ^U empties the field"))
            },
            List("paste", keys: "P", category: category, help: "says which keys copy") {
                let (here, clipboard) = (key("duplicate", $0), key("copy JSON", $0))
                $0.browser.say(sentence("\(here) copies the record here; \(clipboard) copies it to the clipboard"))
            },
            List("undo", keys: "u", category: category, help: "undo the last edit", unavailable: readOnly) {
                $0.browser.undo()
            },
            List("redo", keys: "<C-r> U", category: category, help: "redo the last undone edit", unavailable: readOnly)
            {
                $0.browser.redo()
            },
            List("save", keys: "<C-s>", category: category, help: "save all changes", unavailable: readOnly) {
                $0.browser.save()
            },
        ]
    }

    private static var program: [Command<ListScreen>] {
        let category = "Program"
        return [
            List("callbacks", keys: "c", category: category, help: "show the callbacks of the results controller") {
                $0.showsCallbacks.toggle()
                if $0.showsCallbacks, $0.statements != nil { $0.toggleStatements() }
            },
            List("help", keys: "? <F1>", category: category, help: "this help") { list in
                list.browser.showHelp(list.commands, title: "Keys of the list")
            },
            List("command line", keys: ":", category: category, help: "type a command: :sort wins:desc, :42, :wq") {
                $0.askForCommand()
            },
            List("palette", keys: "<C-p>", category: category, help: "choose a command by name") { list in
                list.browser.showPalette(list.commands, target: list) { command in
                    guard let number = entityNumber(ofCommand: command.name) else { return command.name }
                    return "\(command.name) (\(list.entities[number - 1].name ?? ""))"
                }
            },
            List("redraw", keys: "<C-l>", category: category, help: "redraw the screen") { $0.browser.redraw?() },
            List("cancel", keys: "<C-c>", category: category, help: "cancel the input; never quits") {
                if $0.browser.stopWork() { return }
                if $0.browser.isPicking { $0.browser.quit() } else { $0.sayHowToQuit() }
            },
            List("quit", keys: "q Q", category: category, help: "quit; asks about unsaved changes") {
                $0.browser.quit()
            },
        ]
    }
}

extension ListScreen: ColumnScreen {
    static let keysName = "list"
    static let keysRemark = "The keys of the list. A key given to one command is removed from its previous command."
    static var table: CommandTable<ListScreen> { ListCommands.table }
    var commands: CommandTable<ListScreen> { browser.tables[ListScreen.self] }

    func move(by lines: Int) { view.move(by: lines) }
    func move(byPages pages: Double) { view.move(byPages: pages) }
    func moveToStart() { if let number = keys.count { goToRecord(number) } else { view.moveToStart() } }
    func moveToEnd() { if let number = keys.count { goToRecord(number) } else { view.moveToEnd() } }
}
