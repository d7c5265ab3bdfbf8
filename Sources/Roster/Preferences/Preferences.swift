import Foundation
import RosterCommands
import TerminalKit

/// The user's settings: the configuration file applied over the defaults.
struct Preferences {
    /// The file that the settings were read from; `nil` if it does not exist.
    private(set) var file: URL?
    private(set) var theme = Theme.terminal
    private(set) var usesMouse = true
    /// True if the cursor bar covers the whole line in lists.
    private(set) var barCoversLine = false
    /// Delay before the keys that may follow a prefix are shown; `nil` if they are never shown.
    private(set) var popupDelay: Duration? = .milliseconds(500)
    /// Key bindings in the order of the file, by screen name.
    private(set) var keys: [String: [KeyBinding]] = [:]
    /// Settings of entities, by entity name.
    private(set) var entities: [String: EntityPreferences] = [:]
    /// Ignored lines, with the reasons.
    private(set) var problems: [ConfigurationProblem] = []
    /// The line number of each setting in the file.
    private(set) var lines: [String: Int] = [:]

    struct KeyBinding {
        let command: String
        let keys: [KeySequence]
    }

    static let settings = ["theme", "mouse", "bar", "popup"]
    static let headings =
        "[keys], [keys record], [keys PANE], [colors] and [entity NAME]. PANE is one of "
        + CommandTables.screens.dropFirst(2).map { $0.keysName }.joined(separator: ", ")

    /// Creates the default settings.
    init() {}

    /// Creates default settings with the columns of one entity.
    init(columns: [String], ofEntity name: String) { entities[name] = EntityPreferences(columns: columns) }

    /// Adds settings of entities. Entities that already have settings keep them.
    mutating func add(_ others: [String: EntityPreferences]) { entities.merge(others) { own, _ in own } }

    /// Reads the user's file. A missing file gives the defaults; an unreadable one is reported as a problem.
    static func load(from url: URL = ConfigurationFile.url) -> Preferences {
        var preferences = Preferences()
        guard FileManager.default.fileExists(atPath: url.path) else { return preferences }
        do {
            let data = try Data(contentsOf: url)
            preferences = Preferences(text: String(decoding: data, as: UTF8.self))
        } catch {
            preferences.problems = [ConfigurationProblem(nil, "cannot be read: \(CommandError.line(for: error))")]
        }
        preferences.file = url
        return preferences
    }

    /// Reads settings from text. Invalid lines are skipped and reported in ``problems``.
    init(text: String) {
        let parsed = ConfigurationFile(text: text)
        problems = parsed.problems
        var looks: [(Role, Theme.Look)] = []
        for entry in parsed.entries {
            switch entry.section.first {
            case nil: set(entry)
            case "keys" where entry.section.count <= 2 && screen(of: entry) != nil:
                if let screen = screen(of: entry) { bind(entry, of: screen) }
            case "colors" where entry.section.count == 1: if let look = look(entry) { looks.append(look) }
            case "entity" where entry.section.count == 2: set(entry, ofEntity: entry.section[1])
            default:
                complain(
                    entry, "unknown heading “\(entry.section.joined(separator: " "))”. Valid headings: \(Self.headings)"
                )
            }
        }
        for (role, look) in looks { theme[role] = look }
        problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    }

    private mutating func complain(_ entry: ConfigurationFile.Entry, _ text: String) {
        // Report an unknown heading once, not for each of its lines.
        guard !problems.contains(where: { $0.text == text && text.hasPrefix("unknown heading") }) else { return }
        problems.append(ConfigurationProblem(entry.line, text))
    }

    // MARK: Settings

    private mutating func set(_ entry: ConfigurationFile.Entry) {
        switch entry.key {
        case "theme":
            guard let named = Theme.named(entry.value) else {
                let names = Theme.all.map(\.name).joined(separator: ", ")
                return complain(entry, "unknown theme “\(entry.value)”. Valid themes: \(names)")
            }
            theme = named
        case "mouse":
            guard let value = Self.truth(entry.value) else {
                return complain(entry, "mouse must be on or off, not “\(entry.value)”")
            }
            usesMouse = value
        case "bar":
            guard ["cell", "line"].contains(entry.value) else {
                return complain(entry, "bar must be cell or line, not “\(entry.value)”")
            }
            barCoversLine = entry.value == "line"
        case "popup":
            if entry.value == "off" {
                popupDelay = nil
            } else if let milliseconds = Int(entry.value), (0...60_000).contains(milliseconds) {
                popupDelay = .milliseconds(milliseconds)
            } else {
                return complain(entry, "popup must be milliseconds (0 to 60000) or off, not “\(entry.value)”")
            }
        default:
            return complain(
                entry,
                "unknown key “\(entry.key)”. Valid keys: \(Self.settings.joined(separator: ", "))"
                    + ". Valid headings: \(Self.headings)")
        }
        lines[entry.key] = entry.line
    }

    private static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "on", "yes", "true": true
        case "off", "no", "false": false
        default: nil
        }
    }

    /// Returns the screen whose keys an entry sets; `nil` if the name is unknown. A heading without a name is the list.
    private func screen(of entry: ConfigurationFile.Entry) -> (any CommandScreen.Type)? {
        let name = entry.section.count == 1 ? ListScreen.keysName : entry.section[1]
        return CommandTables.screens.first { $0.keysName == name }
    }

    private mutating func bind<Screen: CommandScreen>(_ entry: ConfigurationFile.Entry, of screen: Screen.Type) {
        let table = screen.table
        guard table.command(named: entry.key) != nil else {
            let near = table.commands.map(\.name).filter { $0.hasPrefix(entry.key.prefix(3)) }
            let hint =
                near.isEmpty ? "“roster config” lists all commands" : "did you mean \(near.joined(separator: ", "))?"
            return complain(entry, "unknown command “\(entry.key)”; \(hint)")
        }
        var keys: [KeySequence] = []
        for word in entry.value.split(separator: " ") {
            guard let sequence = KeySequence(checking: String(word)) else {
                return complain(
                    entry, "“\(word)” is not a key: write keys as j, gg, <C-n>, <F5>, <S-Tab>, <Space> or <lt>")
            }
            keys.append(sequence)
        }
        let known = self.keys[screen.keysName, default: []].filter { $0.command != entry.key }
        for other in known {
            if let twice = other.keys.first(where: { keys.contains($0) }) {
                return complain(entry, "\(twice.label) is already bound to “\(other.command)”")
            }
        }
        let bindings = known + [KeyBinding(command: entry.key, keys: keys)]
        if let problem = table.binding(bindings.map { ($0.command, $0.keys) }).problems.first {
            return complain(entry, problem.text)
        }
        self.keys[screen.keysName] = bindings
        lines["\(screen.keysName).\(entry.key)"] = entry.line
    }

    private mutating func look(_ entry: ConfigurationFile.Entry) -> (Role, Theme.Look)? {
        guard let role = Role.allCases.first(where: { "\($0)" == entry.key }) else {
            let names = Role.allCases.map { "\($0)" }.joined(separator: ", ")
            complain(entry, "unknown key “\(entry.key)”. Valid keys: \(names)")
            return nil
        }
        var look = Theme.Look()
        var isBackground = false
        for word in entry.value.split(separator: " ").map(String.init) {
            if word == "on" {
                isBackground = true
            } else if let found = Theme.Emphasis.names.first(where: { $0.name == word }) {
                look.emphasis.insert(found.emphasis)
            } else if let color = ThemeColor(word) {
                if isBackground { look.background = color } else { look.foreground = color }
            } else if word != "default" {
                let colors = ThemeColor.names.joined(separator: ", ")
                complain(
                    entry,
                    "“\(word)” is not a colour: use \(colors), one of these after bright-, 0 to 255 or #rrggbb, "
                        + "then bold, dim, underline or reverse")
                return nil
            }
        }
        lines["colors.\(entry.key)"] = entry.line
        return (role, look)
    }

    private mutating func set(_ entry: ConfigurationFile.Entry, ofEntity name: String) {
        var entity = entities[name] ?? EntityPreferences()
        let words = entry.key.split(separator: " ").map(String.init)
        switch words.first {
        case "columns" where words.count == 1:
            let names = entry.value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard !names.isEmpty, !names.contains("") else {
                return complain(entry, "columns must be keys separated by commas, such as name, wins")
            }
            entity.columns = names
        case "section" where words.count == 1: entity.section = entry.value
        case "sort" where words.count == 1:
            do { _ = try SortKey.parse(entry.value) } catch { return complain(entry, CommandError.line(for: error)) }
            entity.sort = entry.value
        case "format" where words.count == 2:
            guard let format = ValueFormat(entry.value) else {
                return complain(entry, "“\(entry.value)” is not a format. Valid formats: \(ValueFormat.known)")
            }
            entity.formats[words[1]] = format
        default: return complain(entry, "unknown key “\(entry.key)”. Valid keys: columns, section, sort, format KEY")
        }
        entities[name] = entity
        lines["entity.\(name).\(entry.key)"] = entry.line
    }
}
