import TerminalKit

/// A screen whose keys come from a table of commands, which the user may change.
protocol CommandScreen: Layer {
    /// The word after `keys` in the configuration's heading.
    static var keysName: String { get }
    /// The remark above its keys in the configuration.
    static var keysRemark: String { get }
    /// The commands with their first keys.
    static var table: CommandTable<Self> { get }
    /// The commands under the user's keys.
    var commands: CommandTable<Self> { get }
    var keys: KeySequenceReader { get set }
}

extension CommandScreen {
    /// Number typed before the command that runs; 1 if there is none.
    var count: Int { keys.count ?? 1 }

    /// The key that lists the keys of the screen.
    var helpKey: String? { commands.label(of: "?", in: Self.table) }

    /// Runs the command of a key. Answers false if the key has none.
    ///
    /// - Parameter refuse: receives the reason if the command is unavailable.
    func run(_ key: Key, orElse refuse: (String) -> Void = { _ in }) -> Bool {
        switch keys.read(key, in: commands) {
        case .command(let command):
            if let reason = command.unavailable(self) { refuse(reason) } else { command.action(self) }
        case .prefix: break
        case .none: return false
        }
        return true
    }

    /// Draws hints in the last line, with the user's keys.
    func draw(
        _ hints: [(key: String, word: String)], keeping kept: Set<String> = KeyHints.kept, in canvas: Canvas
    ) {
        let (shown, kept) = KeyHints.inEffect(hints, keeping: kept, of: Self.table, in: commands)
        KeyHints.draw(shown, keeping: kept, in: canvas, y: canvas.height - 1)
    }
}

extension KeyHelping where Self: CommandScreen {
    /// The help of all commands under a title.
    func keyHelp(_ title: String) -> (title: String, keys: [(keys: String, help: String)]) {
        (title, commands.helpItems.flatMap(\.items))
    }
}

/// The commands of all screens under the user's keys.
struct CommandTables {
    /// All screens with commands, in the order in which `roster config` prints their keys.
    static let screens: [any CommandScreen.Type] = [
        ListScreen.self, DetailScreen.self, ColumnsPane.self, ChangesPane.self, ConflictScreen.self,
        CalendarPicker.self, HistoryPane.self, PastScreen.self, HistogramScreen.self, PivotScreen.self,
        ModelMapScreen.self, StatementScreen.self, AnswerScreen.self,
    ]
    private let tables: [String: Any]

    init(_ preferences: Preferences) {
        func bound<Screen: CommandScreen>(_ screen: Screen.Type) -> Any {
            screen.table.binding((preferences.keys[screen.keysName] ?? []).map { ($0.command, $0.keys) }).table
        }
        tables = Dictionary(uniqueKeysWithValues: Self.screens.map { ($0.keysName, bound($0)) })
    }

    subscript<Screen: CommandScreen>(_ screen: Screen.Type) -> CommandTable<Screen> {
        tables[screen.keysName] as? CommandTable<Screen> ?? screen.table
    }
}
