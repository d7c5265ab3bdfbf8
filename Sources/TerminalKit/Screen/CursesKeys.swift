import CNcursesw

/// The meaning of curses' key numbers.
enum CursesKeys {
    /// The key with a number from `get_wch`; `nil` if it is unknown.
    static func key(_ code: Int32) -> Key? {
        if let key = plain[code] { return key }
        if code > KEY_F0, code <= KEY_F0 + 12 { return Key(.function(Int(code - KEY_F0))) }
        // The numbers of keys with modifiers differ between builds; their terminfo names do not.
        guard let name = keyname(code) else { return nil }
        return modified(String(cString: name))
    }

    private static let plain: [Int32: Key] = [
        KEY_UP: Key(.up), KEY_DOWN: Key(.down), KEY_LEFT: Key(.left), KEY_RIGHT: Key(.right),
        KEY_HOME: Key(.home), KEY_END: Key(.end), KEY_NPAGE: Key(.pageDown), KEY_PPAGE: Key(.pageUp),
        KEY_IC: Key(.insert), KEY_DC: Key(.delete), KEY_BACKSPACE: Key(.backspace), KEY_ENTER: Key(.enter),
        KEY_BTAB: Key(.tab, .shift), KEY_SR: Key(.up, .shift), KEY_SF: Key(.down, .shift),
        KEY_SLEFT: Key(.left, .shift), KEY_SRIGHT: Key(.right, .shift), KEY_SHOME: Key(.home, .shift),
        KEY_SEND: Key(.end, .shift), KEY_SDC: Key(.delete, .shift), KEY_A1: Key(.home), KEY_A3: Key(.pageUp),
        KEY_C1: Key(.end), KEY_C3: Key(.pageDown), KEY_FIND: Key(.home), KEY_SELECT: Key(.end),
    ]

    private static let names: [String: Key.Code] = [
        "kUP": .up, "kDN": .down, "kLFT": .left, "kRIT": .right, "kHOM": .home, "kEND": .end, "kNXT": .pageDown,
        "kPRV": .pageUp, "kDC": .delete, "kIC": .insert,
    ]

    /// `kRIT5` is the right arrow with control: the digit is 1 plus shift 1, alt 2 and control 4.
    private static func modified(_ name: String) -> Key? {
        guard let digit = name.last?.wholeNumberValue, digit >= 2, let code = names[String(name.dropLast())] else {
            return names[name].map { Key($0, .shift) }
        }
        var modifiers: Key.Modifiers = []
        if (digit - 1) & 1 != 0 { modifiers.insert(.shift) }
        if (digit - 1) & 2 != 0 { modifiers.insert(.alt) }
        if (digit - 1) & 4 != 0 { modifiers.insert(.control) }
        return Key(code, modifiers)
    }
}
