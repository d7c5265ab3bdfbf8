/// Converts the terminal's input to events.
///
/// Design note. Curses has decoded the function keys that it knows. The rest are characters, key numbers and unknown
/// escape sequences. An escape directly followed by another character is Alt with that character. `ESC [` begins a
/// control sequence, which is skipped unless it is known, so that a late reply of the terminal, a focus report or an
/// unknown key never appears as typed text. A sequence may arrive in two parts: if `isWaiting`, the screen waits
/// briefly before it calls `flush()`.
public struct KeyReader {
    /// One unit of input from the screen.
    public enum Unit: Hashable, Sendable {
        case scalar(UInt32)
        case key(Key)
        case mouse(MouseEvent)
    }

    /// The result of reading a unit.
    public enum Output: Hashable, Sendable {
        case event(Event)
        /// A reply of the terminal: the control sequence without `ESC [`.
        case reply(String)
    }

    private enum State {
        case ground
        case escape
        case control(String)
        case operatingSystem(sawEscape: Bool)
    }

    private var state = State.ground
    private var pasted: String?

    /// Creates a reader in its initial state, outside of any sequence.
    public init() {}

    /// True if the rest of a control sequence may follow. After a lone escape, curses has already waited.
    public var isWaiting: Bool {
        switch state {
        case .ground, .escape: false
        case .control, .operatingSystem: true
        }
    }

    /// Reads one unit.
    public mutating func read(_ unit: Unit) -> [Output] {
        switch unit {
        case .mouse(let event): return flush() + [.event(.mouse(event))]
        case .key(let key):
            if case .escape = state {
                state = .ground
                return pasted == nil ? [.event(.key(Key(key.code, key.modifiers.union(.alt))))] : []
            }
            return flush() + (pasted == nil ? [.event(.key(key))] : [])
        case .scalar(let value): return read(scalar: Unicode.Scalar(value) ?? "\u{FFFD}")
        }
    }

    /// Ends an incomplete sequence. A lone escape is the Escape key.
    public mutating func flush() -> [Output] {
        defer { state = .ground }
        if case .escape = state, pasted == nil { return [.event(.key(Key(.escape)))] }
        return []
    }

    private mutating func read(scalar: Unicode.Scalar) -> [Output] {
        switch state {
        case .ground: return readInGround(scalar)
        case .escape: return readAfterEscape(scalar)
        case .control(let text):
            guard (0x40...0x7E).contains(scalar.value) else {
                state = .control(text + String(scalar))
                return []
            }
            state = .ground
            return finish(control: text + String(scalar))
        case .operatingSystem(let sawEscape):
            // Terminated by BEL or ESC \.
            if scalar.value == 7 || (sawEscape && scalar == "\\") {
                state = .ground
            } else {
                state = .operatingSystem(sawEscape: scalar.value == 0x1B)
            }
            return []
        }
    }

    private mutating func readInGround(_ scalar: Unicode.Scalar) -> [Output] {
        if scalar.value == 0x1B {
            state = .escape
            return []
        }
        if pasted != nil {
            pasted?.unicodeScalars.append(scalar)
            return []
        }
        return [.event(.key(Self.key(for: scalar)))]
    }

    private mutating func readAfterEscape(_ scalar: Unicode.Scalar) -> [Output] {
        switch scalar {
        case "[":
            state = .control("")
            return []
        case _ where pasted != nil:
            // In pasted text only ESC [ 201 ~ has a meaning: it ends the paste. Any other ESC is dropped.
            state = .ground
            return readInGround(scalar)
        case "]", "P", "_", "^":
            state = .operatingSystem(sawEscape: false)
            return []
        case "\u{1B}":
            return [.event(.key(Key(.escape)))]
        default:
            state = .ground
            var key = Self.key(for: scalar)
            key.modifiers.insert(.alt)
            return [.event(.key(key))]
        }
    }

    private mutating func finish(control: String) -> [Output] {
        switch control {
        case "200~":
            pasted = ""
            return []
        case "201~":
            defer { pasted = nil }
            return pasted.map { [.event(.paste(Self.lines(of: $0)))] } ?? []
        case "I", "O": return []
        case "Z": return [.event(.key(Key(.tab, .shift)))]
        case _ where control.hasPrefix("<"):
            return pasted == nil ? Self.mouse(control: control).map { [.event(.mouse($0))] } ?? [] : []
        default:
            if let key = Self.key(control: control) { return pasted == nil ? [.event(.key(key))] : [] }
            return control.hasPrefix("?") ? [.reply(control)] : []
        }
    }

    /// Returns pasted text with `\n` as line breaks. Terminals send a carriage return for each line break, as for the
    /// Enter key.
    private static func lines(of text: String) -> String {
        text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }

    /// The key of a sequence unknown to curses, because the terminal sends sequences of another terminal type: `1~` and
    /// `H` are both Home, `1;5C` is the right arrow with control.
    private static func key(control: String) -> Key? {
        guard let last = control.last else { return nil }
        let numbers = control.dropLast().split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count <= 2 else { return nil }
        let code = last == "~" ? editingKeys[numbers[0] ?? 0] : cursorKeys[last]
        guard let code else { return nil }
        let bits = (numbers.count == 2 ? numbers[1] ?? 1 : 1) - 1
        guard (0..<8).contains(bits), last == "~" || numbers[0] ?? 1 == 1 else { return nil }
        var modifiers: Key.Modifiers = []
        if bits & 1 != 0 { modifiers.insert(.shift) }
        if bits & 2 != 0 { modifiers.insert(.alt) }
        if bits & 4 != 0 { modifiers.insert(.control) }
        return Key(code, modifiers)
    }

    /// The event of an SGR mouse report, `<0;250;5M`, which terminals send for types whose description has only the
    /// older reports. Those end at column 223.
    private static func mouse(control: String) -> MouseEvent? {
        let numbers = control.dropFirst().dropLast().split(separator: ";").compactMap { Int($0) }
        guard control.last == "M", numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        // Shift, Alt and Control do not matter.
        let actions: [Int: MouseEvent.Action] = [0: .press, 64: .wheelUp, 65: .wheelDown]
        return actions[numbers[0] & ~0b11100].map { MouseEvent($0, at: Point(x: numbers[1] - 1, y: numbers[2] - 1)) }
    }

    private static let cursorKeys: [Character: Key.Code] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end,
    ]
    private static let editingKeys: [Int: Key.Code] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
    ]

    /// The key that sends a character.
    private static func key(for scalar: Unicode.Scalar) -> Key {
        switch scalar.value {
        case 0x0D, 0x0A: return Key(.enter)
        case 0x09: return Key(.tab)
        case 0x08, 0x7F: return Key(.backspace)
        case 0: return Key(.character(" "), .control)
        case 0x01..<0x20:
            let letter = Unicode.Scalar(UInt8(scalar.value) | 0x40)
            return Key(.character(Character(Character(letter).lowercased())), .control)
        default: return Key(.character(Character(scalar)))
        }
    }
}
