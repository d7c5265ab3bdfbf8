import CoreData
import Foundation
import RosterCommands
import TerminalKit

/// The settings in effect, as a configuration file. Comments describe each setting and its origin.
struct PreferencesText {
    private let preferences: Preferences
    private let fileName: String
    private let environment: [String: String]
    private(set) var lines: [String] = []

    init(_ preferences: Preferences, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.preferences = preferences
        self.environment = environment
        let home = environment["HOME"] ?? ""
        let path = (preferences.file ?? ConfigurationFile.url).path
        fileName = !home.isEmpty && path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
        write()
    }

    var text: String { lines.joined(separator: "\n") + "\n" }

    private mutating func write() {
        lines = [
            "# The settings of roster in effect, as a configuration file.",
            preferences.file == nil
                ? "# \(fileName) does not exist: these are the defaults." : "# Read from \(fileName)",
        ]
        if !(environment["NO_COLOR"] ?? "").isEmpty {
            lines.append("# NO_COLOR is set: colours are not used, not even those in this file.")
        }
        for problem in preferences.problems { lines.append("# Ignored: \(problem.message)") }
        setting(
            "theme", preferences.theme.name, "Colour theme: \(Theme.all.map(\.name).joined(separator: ", ")).",
            origin: "theme")
        setting(
            "mouse", preferences.usesMouse ? "on" : "off",
            "on: roster handles clicks and the wheel. off: the terminal does.", origin: "mouse")
        setting(
            "bar", preferences.barCoversLine ? "line" : "cell",
            "Cursor bar of lists. cell: the record’s name and the focused cell. line: the whole line.", origin: "bar")
        let delay = preferences.popupDelay.map { delay in
            let parts = delay.components
            return String(parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000)
        }
        setting(
            "popup", delay ?? "off",
            "Milliseconds until the keys that can follow g, y or z are shown; or off.",
            origin: "popup")
        writeColors()
        let tables = CommandTables(preferences)
        for screen in CommandTables.screens { writeKeys(of: screen, tables) }
        writeEntities()
    }

    private mutating func writeKeys<Screen: CommandScreen>(of screen: Screen.Type, _ tables: CommandTables) {
        let name = screen.keysName
        heading(name == ListScreen.keysName ? "keys" : "keys \(name)", screen.keysRemark)
        for command in tables[screen].commands { key(command.name, command.keys, command.help, origin: name) }
    }

    private mutating func writeColors() {
        heading(
            "colors",
            "Text colour, ‘on’ background colour, then bold, dim, underline, reverse. Colours are names, 0 to 255 or #rrggbb."
        )
        for role in Role.allCases {
            let look = preferences.theme[role]
            var words = [look.foreground?.text ?? "default"]
            if let background = look.background { words += ["on", background.text] }
            words += Theme.Emphasis.names.filter { look.emphasis.contains($0.emphasis) }.map(\.name)
            let origin = "colors.\(role)"
            // Colours of the theme are written as comments: on a terminal with eight colours the theme uses others.
            if preferences.lines[origin] == nil {
                lines.append("# \(role) = \(words.joined(separator: " "))")
            } else {
                setting("\(role)", words.joined(separator: " "), nil, origin: origin)
            }
        }
    }

    private mutating func writeEntities() {
        guard !preferences.entities.isEmpty else {
            lines += [
                "",
                "# Initial columns, section and sort of an entity's lists, and formats of values (\(ValueFormat.known)):",
                "# [entity Team]", "# columns = teamName, wins, firstAppearance", "# section = qualifyingZone",
                "# sort = wins:desc,teamName", "# format firstAppearance = year",
            ]
            return
        }
        for (name, entity) in preferences.entities.sorted(by: { $0.key < $1.key }) {
            heading("entity \(name)", nil)
            let origin = "entity.\(name)."
            if let columns = entity.columns {
                setting("columns", columns.joined(separator: ", "), nil, origin: origin + "columns")
            }
            if let section = entity.section { setting("section", section, nil, origin: origin + "section") }
            if let sort = entity.sort { setting("sort", sort, nil, origin: origin + "sort") }
            for (key, format) in entity.formats.sorted(by: { $0.key < $1.key }) {
                setting("format \(key)", format.text, nil, origin: origin + "format \(key)")
            }
        }
    }

    private mutating func heading(_ name: String, _ remark: String?) {
        lines.append("")
        if let remark { lines.append("# " + remark) }
        lines.append("[\(name)]")
    }

    private mutating func setting(_ key: String, _ value: String, _ remark: String?, origin: String) {
        let place = preferences.lines[origin].map { "From line \($0) of \(fileName)." }
        let remarks = [remark, place].compactMap { $0 }
        if !remarks.isEmpty { lines.append("# " + remarks.joined(separator: " ")) }
        lines.append("\(key) = \(value)")
    }

    private mutating func key(_ name: String, _ keys: [KeySequence], _ help: String, origin: String) {
        let first = help.prefix(1).uppercased() + help.dropFirst() + "."
        setting(name, keys.map(\.notation).joined(separator: " "), first, origin: "\(origin).\(name)")
    }
}
