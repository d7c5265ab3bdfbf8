import Translation

/// The commands of a screen, looked up by the keys pressed. `KeySequenceReader` collects keys until they match one.
public struct CommandTable<Target>: Sendable {
    /// The result of looking up a key sequence.
    public enum Match {
        case command(Command<Target>)
        /// The keys begin at least one command: wait for the next key.
        case prefix
        case none
    }

    /// The commands in the order of help and palette.
    public let commands: [Command<Target>]
    private var bySequence: [KeySequence: Int] = [:]
    private var prefixes: Set<KeySequence> = []

    /// Creates a table of commands. If two have the same keys, the keys run the first one.
    public init(_ commands: [Command<Target>]) {
        self.commands = commands
        for (index, command) in commands.enumerated() {
            for sequence in command.keys {
                bySequence[sequence] = bySequence[sequence] ?? index
                for length in 1..<max(1, sequence.keys.count) {
                    prefixes.insert(KeySequence(keys: Array(sequence.keys.prefix(length))))
                }
            }
        }
    }

    /// Duplicate names or keys, and keys that begin those of another command. Empty for a valid table.
    public var problems: [String] {
        var result: [String] = []
        var owners: [KeySequence: String] = [:]
        var names: Set<String> = []
        for command in commands {
            if !names.insert(command.name).inserted { result.append("two commands are named “\(command.name)”") }
            for sequence in command.keys {
                if let owner = owners[sequence] {
                    result.append("\(sequence.label) is bound to “\(owner)” and to “\(command.name)”")
                }
                owners[sequence] = command.name
                if prefixes.contains(sequence) {
                    result.append("\(sequence.label) (“\(command.name)”) begins the keys of another command")
                }
            }
        }
        return result
    }

    /// Returns the table with the user's keys for some commands.
    ///
    /// - Parameter bindings: Keys by command name; without keys a command is only in the palette.
    /// - Returns: The table, in which other commands have lost keys that the user reassigned, and a problem for each
    ///   invalid binding, which is left out.
    public func binding(
        _ bindings: [(name: String, keys: [KeySequence])]
    ) -> (table: CommandTable, problems: [(name: String, text: String)]) {
        var problems: [(name: String, text: String)] = []
        var table = self
        for (name, keys) in bindings {
            guard table.command(named: name) != nil else {
                problems.append((name, "unknown command “\(name)”"))
                continue
            }
            let candidate = CommandTable(
                table.commands.map { command in
                    command.bound(to: command.name == name ? keys : command.keys.filter { !keys.contains($0) })
                })
            if let problem = candidate.problems.first {
                problems.append((name, problem))
                continue
            }
            table = candidate
        }
        return (table, problems)
    }

    /// Looks up a key sequence.
    public func match(_ keys: [Key]) -> Match {
        let sequence = KeySequence(keys: keys)
        if let index = bySequence[sequence] { return .command(commands[index]) }
        return prefixes.contains(sequence) ? .prefix : .none
    }

    /// The keys that may follow `keys`, each with the name of the first command it leads to.
    public func continuations(of keys: [Key]) -> [(key: Key, name: String)] {
        var known: Set<Key> = []
        return commands.flatMap { command in
            command.keys.compactMap { sequence -> (Key, String)? in
                guard sequence.keys.count > keys.count, sequence.keys.starts(with: keys),
                    known.insert(sequence.keys[keys.count]).inserted
                else { return nil }
                return (sequence.keys[keys.count], command.name)
            }
        }
    }

    /// The command with that name.
    public func command(named name: String) -> Command<Target>? { commands.first { $0.name == name } }

    /// The categories in the order of their first commands, with their commands.
    public var categories: [(name: String, commands: [Command<Target>])] {
        var order: [String] = []
        var groups: [String: [Command<Target>]] = [:]
        for command in commands {
            if groups[command.category] == nil { order.append(command.category) }
            groups[command.category, default: []].append(command)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }

    /// The help items of each category. Adjacent commands with equal help are one item with the first and last keys.
    public var helpItems: [(category: String, items: [(keys: String, help: String)])] {
        categories.map { category in
            var items: [(keys: String, help: String)] = []
            var alike: [Command<Target>] = []
            for (index, command) in category.commands.enumerated() {
                alike.append(command)
                let next = index + 1 < category.commands.count ? category.commands[index + 1] : nil
                guard let first = alike.first, next?.help != command.help else { continue }
                let label = alike.count == 1 ? "" : first.keyLabel + (alike.count == 2 ? "  " : " .. ")
                alike = []
                items.append((label + command.keyLabel, command.help))
            }
            return (category.name, items)
        }
    }

    /// The lines of the help screen.
    public func helpLines(text: TextWidth) -> [TextPane.Line] {
        let keyWidth = commands.map { text.width($0.keyLabel) }.max() ?? 0
        var lines: [TextPane.Line] = []
        for category in helpItems {
            if !lines.isEmpty { lines.append(TextPane.Line("")) }
            lines.append(TextPane.Line(tr(category.category), role: .heading))
            for item in category.items {
                let keys = text.padded(item.keys, to: min(keyWidth, 26))
                lines.append(TextPane.Line(runs: [("  " + keys + "  ", .key), (tr(item.help), .text)]))
            }
        }
        return lines
    }
}

/// Collects the keys of a sequence until it matches a command.
public struct KeySequenceReader {
    /// The keys of an incomplete sequence, for the status line.
    public private(set) var pending: [Key] = []
    /// The number typed before an incomplete command, as in `12G`.
    public private(set) var pendingCount: Int?
    /// The number typed before the last command; `nil` if there was none.
    public private(set) var count: Int?
    private let readsCounts: Bool
    private static let greatestCount = 999_999_999

    /// - Parameter readsCounts: True if digits before a command are a count.
    public init(readsCounts: Bool = false) { self.readsCounts = readsCounts }

    /// The keys of an incomplete sequence as shown to the user.
    public var pendingLabel: String { (pendingCount.map(String.init) ?? "") + KeySequence(keys: pending).label }

    /// Adds a key and looks up the sequence so far. An unknown key ends the sequence.
    public mutating func read<Target>(_ key: Key, in table: CommandTable<Target>) -> CommandTable<Target>.Match {
        if !pending.isEmpty || pendingCount != nil, key == Key(.escape) {
            pending = []
            pendingCount = nil
            return .prefix
        }
        if readsDigit(key) { return .prefix }
        pending.append(key)
        let match = table.match(pending)
        if case .prefix = match { return match }
        pending = []
        count = pendingCount
        pendingCount = nil
        return match
    }

    private mutating func readsDigit(_ key: Key) -> Bool {
        guard readsCounts, pending.isEmpty, let character = key.typed, character.isASCII,
            let digit = character.wholeNumberValue, digit > 0 || pendingCount != nil
        else { return false }
        pendingCount = min(Self.greatestCount, (pendingCount ?? 0) * 10 + digit)
        return true
    }
}
