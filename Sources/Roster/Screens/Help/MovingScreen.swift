import TerminalKit

/// A screen with a cursor that moves through lines.
protocol MovingScreen: CommandScreen {
    func move(by lines: Int)
    func move(byPages pages: Double)
    func moveToStart()
    func moveToEnd()
}

/// The step of `^D` and `^U`: a page, half a page, or none, because the keys have another command.
enum HalfPageKeys { case page, half, unbound }

extension Command where Target: MovingScreen {
    /// The commands that move the cursor.
    ///
    /// - Parameters:
    ///   - ends: the names of the commands that go to the first line and to the last.
    ///   - start: the keys that go to the first line.
    ///   - tab: true if Tab moves, too.
    ///   - space: true if Space is a page down, too.
    ///   - halfPage: what `^D` and `^U` do.
    static func moving(
        _ category: String, next: String, previous: String, first: String, last: String,
        ends: (first: String, last: String) = ("first", "last"), start: String = "gg <Home>", tab: Bool = false,
        space: Bool = false, halfPage: HalfPageKeys = .page
    ) -> [Command] {
        func command(
            _ name: String, _ keys: String, _ help: String, _ action: @escaping @MainActor (Target) -> Void
        ) -> Command { Command(name, keys: keys, category: category, help: help, action: action) }
        let half = [
            command("half page down", "<C-d>", "half a page down") { $0.move(byPages: 0.5) },
            command("half page up", "<C-u>", "half a page up") { $0.move(byPages: -0.5) },
        ]
        let pageDown = "<PgDn> <C-f>" + (halfPage == .page ? " <C-d>" : "") + (space ? " <Space>" : "")
        return [
            command("down", "j <Down>" + (tab ? " <Tab>" : ""), next) { $0.move(by: $0.count) },
            command("up", "k <Up>" + (tab ? " <S-Tab>" : ""), previous) { $0.move(by: -$0.count) },
            command("page down", pageDown, "a page down") { $0.move(byPages: Double($0.count)) },
            command("page up", "<PgUp> <C-b>" + (halfPage == .page ? " <C-u>" : ""), "a page up") {
                $0.move(byPages: -Double($0.count))
            },
        ] + (halfPage == .half ? half : []) + [
            command(ends.first, start, first) { $0.moveToStart() },
            command(ends.last, "G <End>", last) { $0.moveToEnd() },
        ]
    }
}

/// A screen with a list whose columns scroll sideways.
protocol ColumnScreen: MovingScreen {
    var view: SectionedList { get }
}

extension Command where Target: ColumnScreen {
    /// The commands that move the focus among the columns.
    static func columnSteps(_ category: String) -> [Command] {
        [
            Command("column left", keys: "h <Left>", category: category, help: "focus the column on the left") {
                $0.view.moveFocus(by: -$0.count)
            },
            Command("column right", keys: "l <Right>", category: category, help: "focus the column on the right") {
                $0.view.moveFocus(by: $0.count)
            },
            Command("first column", keys: "^ 0", category: category, help: "focus the first column") {
                $0.view.focusedColumn = 0
            },
            Command("last column", keys: "$", category: category, help: "focus the last column") {
                $0.view.focusedColumn = $0.view.columns.count - 1
            },
        ]
    }
}

/// A screen that shows the list in another way, until a key goes back to the list.
protocol LookingScreen: MovingScreen {
    func close()
}

extension Command where Target: LookingScreen {
    /// The commands of a screen that shows the list in another way: its own commands, movement, and closing.
    static func looking(_ own: [Command]) -> [Command] {
        own
            + moving(
                "Look", next: "next line", previous: "previous line", first: "first line", last: "last line",
                start: "g <Home>")
            + [Command("close", keys: "<Esc> q <C-c>", category: "Look", help: "back to the list") { $0.close() }]
    }
}
