/// A key press.
public struct Key: Hashable, Sendable {
    /// The key without modifiers.
    public enum Code: Hashable, Sendable {
        case character(Character)
        case enter, escape, tab, backspace, delete, insert
        case up, down, left, right, home, end, pageUp, pageDown
        case function(Int)
    }

    /// The modifier keys held down. Shift is included only if the character does not imply it.
    public struct Modifiers: OptionSet, Hashable, Sendable {
        /// The modifiers as bits.
        public let rawValue: UInt8
        /// Creates a set from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The control key.
        public static let control = Modifiers(rawValue: 1)
        /// The alt key, or Escape directly before the key.
        public static let alt = Modifiers(rawValue: 2)
        /// The shift key.
        public static let shift = Modifiers(rawValue: 4)
    }

    /// The key without modifiers.
    public var code: Code
    /// The modifier keys held down.
    public var modifiers: Modifiers

    /// Creates a key press.
    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// The character of an unmodified character key, as inserted into an input line.
    public var typed: Character? {
        if case .character(let character) = code, modifiers.isEmpty { return character }
        return nil
    }

    /// The key as shown to the user: `^S`, `Alt-x`, `F5`, `Enter`.
    public var label: String {
        var prefix = ""
        if modifiers.contains(.alt) { prefix += "Alt-" }
        if modifiers.contains(.shift) { prefix += "Shift-" }
        if case .character(let character) = code {
            if modifiers.contains(.control) { return prefix + "^" + character.uppercased() }
            return prefix + (character == " " ? "Space" : String(character))
        }
        if modifiers.contains(.control) { prefix += "Ctrl-" }
        return prefix + Key.name(of: code)
    }

    static func name(of code: Code) -> String {
        switch code {
        case .character(let character): String(character)
        case .enter: "Enter"
        case .escape: "Esc"
        case .tab: "Tab"
        case .backspace: "Backspace"
        case .delete: "Delete"
        case .insert: "Insert"
        case .up: "Up"
        case .down: "Down"
        case .left: "Left"
        case .right: "Right"
        case .home: "Home"
        case .end: "End"
        case .pageUp: "PgUp"
        case .pageDown: "PgDn"
        case .function(let number): "F\(number)"
        }
    }
}

/// Keys pressed one after the other, to which a command is bound.
///
/// The notation is vim's. Characters represent themselves; other keys are in angle brackets, with `C-`, `M-` and `S-`
/// for control, alt and shift: `za`, `<C-s>`, `<Enter>`, `<S-Tab>`, `<lt>` for `<`.
public struct KeySequence: Hashable, Sendable {
    /// The keys in order.
    public var keys: [Key]

    /// Creates a sequence of keys.
    public init(keys: [Key]) { self.keys = keys }

    /// Parses the notation. An angle bracket that begins no known name represents itself.
    public init(_ notation: String) {
        var keys: [Key] = []
        var rest = Substring(notation)
        while let character = rest.first {
            if character == "<", let end = rest.firstIndex(of: ">"),
                let key = KeySequence.named(rest[rest.index(after: rest.startIndex)..<end])
            {
                keys.append(key)
                rest = rest[rest.index(after: end)...]
            } else {
                keys.append(Key(.character(character)))
                rest.removeFirst()
            }
        }
        self.keys = keys
    }

    /// Parses a label as shown to the user: `gs`, `^S`, `Shift-Tab`.
    ///
    /// - Returns: `nil` for other words.
    public init?(label: String) {
        let prefixes = [("Shift-", "S-"), ("Alt-", "M-"), ("Ctrl-", "C-")]
        let name = prefixes.reduce(label) { $0.replacing($1.0, with: $1.1) }
        if let key = KeySequence.named(name[...]) {
            keys = [key]
        } else if label.count == 2, label.hasPrefix("^"), let letter = label.last {
            keys = [Key(.character(Character(letter.lowercased())), .control)]
        } else if (1...2).contains(label.count) {
            keys = label.map { Key(.character($0)) }
        } else {
            return nil
        }
    }

    /// Parses the notation in a configuration file.
    ///
    /// - Returns: `nil` if it is empty, or contains an unknown name in angle brackets.
    public init?(checking notation: String) {
        self.init(notation)
        let bracketed = notation.contains("<") && notation.contains(">") && notation.count > 2
        if keys.isEmpty || bracketed && keys.contains(Key(.character("<"))) && !notation.lowercased().contains("<lt>") {
            return nil
        }
    }

    /// The notation, as parsed by ``init(_:)``.
    public var notation: String {
        keys.map { key in
            var prefix = ""
            if key.modifiers.contains(.control) { prefix += "C-" }
            if key.modifiers.contains(.alt) { prefix += "M-" }
            if key.modifiers.contains(.shift) { prefix += "S-" }
            var name = Key.name(of: key.code)
            if name == " " { name = "Space" } else if name == "<" { name = "lt" }
            return prefix.isEmpty && name.count == 1 ? name : "<\(prefix)\(name)>"
        }.joined()
    }

    /// The sequence as shown to the user.
    public var label: String { keys.map(\.label).joined() }

    private static let names: [String: Key.Code] = {
        let codes: [Key.Code] = [
            .enter, .escape, .tab, .backspace, .delete, .insert, .up, .down, .left, .right, .home, .end, .pageUp,
            .pageDown,
        ]
        var result = Dictionary(uniqueKeysWithValues: codes.map { (Key.name(of: $0).lowercased(), $0) })
        for number in 1...12 { result["f\(number)"] = .function(number) }
        result["space"] = .character(" ")
        result["lt"] = .character("<")
        return result
    }()

    private static func named(_ text: Substring) -> Key? {
        var modifiers: Key.Modifiers = []
        var rest = text
        while rest.count > 2, rest.dropFirst().first == "-" {
            switch rest.first {
            case "C": modifiers.insert(.control)
            case "M": modifiers.insert(.alt)
            case "S": modifiers.insert(.shift)
            default: return nil
            }
            rest = rest.dropFirst(2)
        }
        if let code = names[rest.lowercased()] { return Key(code, modifiers) }
        if !modifiers.isEmpty, rest.count == 1, let character = rest.first {
            return Key(.character(character), modifiers)
        }
        return nil
    }
}
