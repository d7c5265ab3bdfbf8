/// The appearance of the roles on a terminal with colours.
public struct Theme: Hashable, Sendable {
    /// The typographic emphasis of text.
    public struct Emphasis: OptionSet, Hashable, Sendable {
        /// The emphases as bits.
        public let rawValue: UInt8
        /// Creates a set from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Bold text.
        public static let bold = Emphasis(rawValue: 1)
        /// Dim text.
        public static let dim = Emphasis(rawValue: 2)
        /// Underlined text.
        public static let underline = Emphasis(rawValue: 4)
        /// Exchanged foreground and background.
        public static let reverse = Emphasis(rawValue: 8)

        /// The names in a configuration file, in order.
        public static let names: [(name: String, emphasis: Emphasis)] = [
            ("bold", .bold), ("dim", .dim), ("underline", .underline), ("reverse", .reverse),
        ]
    }

    /// The appearance of one role. A colour that is `nil` is the theme's, or the terminal's if the theme has none.
    public struct Look: Hashable, Sendable {
        /// The text colour.
        public var foreground: ThemeColor?
        /// The background colour.
        public var background: ThemeColor?
        /// The emphasis of the text.
        public var emphasis: Emphasis

        /// Creates a look. Omitted colours are the theme's.
        public init(_ foreground: ThemeColor? = nil, on background: ThemeColor? = nil, _ emphasis: Emphasis = []) {
            self.foreground = foreground
            self.background = background
            self.emphasis = emphasis
        }
    }

    /// The name in a configuration file.
    public let name: String
    /// The colour of plain text; `nil` for the terminal's.
    public let foreground: ThemeColor?
    /// The background colour of plain text; `nil` for the terminal's.
    public let background: ThemeColor?
    private var looks: [Role: Look]

    init(_ name: String, _ foreground: ThemeColor?, on background: ThemeColor?, _ looks: [Role: Look]) {
        self.name = name
        self.foreground = foreground
        self.background = background
        self.looks = looks
    }

    /// The look of a role, with the theme's colours if the role has none.
    public subscript(role: Role) -> Look {
        get {
            var look = looks[role] ?? Look()
            look.foreground = look.foreground ?? foreground
            look.background = look.background ?? background
            return look
        }
        set { looks[role] = newValue }
    }

    /// The available themes. The first one is the default.
    public static let all: [Theme] = [terminal, dark, light, highContrast]

    /// The theme with that name; `nil` if there is none.
    public static func named(_ name: String) -> Theme? { all.first { $0.name == name } }

    /// The terminal's own background, with colours that are readable on light and dark ones.
    public static let terminal = Theme(
        "terminal", nil, on: nil,
        signs(
            muted: ThemeColor(244, basic: nil), heading: ThemeColor(31, basic: 6), warm: ThemeColor(172, basic: 3),
            bad: ThemeColor(1), good: ThemeColor(34, basic: 2), moved: ThemeColor(33, basic: 4), edited: ThemeColor(5)))

    /// Light text on a dark background.
    public static let dark = Theme(
        "dark", ThemeColor(252, basic: 7), on: ThemeColor(234, basic: 0),
        signs(
            muted: ThemeColor(245, basic: 7), heading: ThemeColor(80, basic: 6), warm: ThemeColor(221, basic: 3),
            bad: ThemeColor(203, basic: 1), good: ThemeColor(114, basic: 2), moved: ThemeColor(111, basic: 6),
            edited: ThemeColor(177, basic: 5)))

    /// Dark text on a light background.
    public static let light = Theme(
        "light", ThemeColor(235, basic: 0), on: ThemeColor(255, basic: 7),
        signs(
            muted: ThemeColor(242, basic: 0), heading: ThemeColor(24, basic: 4), warm: ThemeColor(130, basic: 1),
            bad: ThemeColor(124, basic: 1), good: ThemeColor(28, basic: 2), moved: ThemeColor(25, basic: 4),
            edited: ThemeColor(90, basic: 5)))

    /// White on black, without dim text, all marks in bold.
    public static let highContrast: Theme = {
        let white = ThemeColor(15, basic: 7)
        var theme = Theme(
            "high-contrast", white, on: ThemeColor(16, basic: 0),
            signs(
                muted: white, heading: ThemeColor(14, basic: 6), warm: ThemeColor(11, basic: 3),
                bad: ThemeColor(9, basic: 1), good: ThemeColor(10, basic: 2), moved: ThemeColor(14, basic: 6),
                edited: ThemeColor(13, basic: 5)))
        for role in Role.allCases where theme[role].foreground != white { theme.looks[role]?.emphasis.insert(.bold) }
        return theme
    }()

    /// The looks of all roles, from the few colours in which themes differ.
    private static func signs(
        muted: ThemeColor, heading: ThemeColor, warm: ThemeColor, bad: ThemeColor, good: ThemeColor, moved: ThemeColor,
        edited: ThemeColor
    ) -> [Role: Look] {
        [
            .muted: Look(muted), .border: Look(muted), .heading: Look(heading, .bold), .key: Look(heading, .bold),
            .link: Look(heading, .underline), .match: Look(warm, .reverse), .error: Look(bad, .bold),
            .warning: Look(warm, .bold), .inserted: Look(good, .bold), .moved: Look(moved, .bold),
            .updated: Look(warm, .bold), .edited: Look(edited), .columnTitle: Look(nil, [.bold, .underline]),
            .status: Look(nil, .reverse), .focusedColumn: Look(nil, .bold),
        ]
    }
}

extension Theme.Look {
    fileprivate init(_ foreground: ThemeColor?, _ emphasis: Theme.Emphasis) {
        self.init(foreground, on: nil, emphasis)
    }
}

/// A colour of the palette of 256, and its replacement on a terminal with 8 colours.
public struct ThemeColor: Hashable, Sendable {
    /// The index in the palette.
    public let index: Int
    /// The index among the 8 colours; `nil` for the terminal's own colour.
    public let basic: Int?

    init(_ index: Int, basic: Int?) {
        self.index = index
        self.basic = basic
    }

    init(_ index: Int) { self.init(index, basic: Self.nearest(to: Self.rgb(index), among: 0..<8)) }

    /// Parses `red`, `bright-red`, a number from 0 to 255, or `#ff8800`, which becomes the nearest palette colour.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        let text = text.lowercased()
        let bright = "bright-"
        if let index = Self.names.firstIndex(of: text) {
            self.init(index, basic: index)
        } else if text.hasPrefix(bright), let index = Self.names.firstIndex(of: String(text.dropFirst(bright.count))) {
            self.init(index + 8, basic: index)
        } else if let index = Int(text), (0...255).contains(index) {
            self.init(index)
        } else if text.count == 7, text.hasPrefix("#"), let value = UInt32(text.dropFirst(), radix: 16) {
            let rgb = (Int(value >> 16 & 0xFF), Int(value >> 8 & 0xFF), Int(value & 0xFF))
            // Terminals define the first sixteen colours differently.
            self.init(Self.nearest(to: rgb, among: 16..<256), basic: Self.nearest(to: rgb, among: 0..<8))
        } else {
            return nil
        }
    }

    /// The colour in a configuration file.
    public var text: String {
        switch index {
        case 0..<8: Self.names[index]
        case 8..<16: "bright-" + Self.names[index - 8]
        default: String(index)
        }
    }

    /// The names of the first eight colours, in the order of the palette.
    public static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

    /// The RGB value of an index of the palette, in xterm's colours.
    private static func rgb(_ index: Int) -> (Int, Int, Int) {
        switch index {
        case 0..<8: return bits(index, 205)
        case 8..<16: return index == 8 ? (127, 127, 127) : bits(index - 8, 255)
        case 16..<232:
            func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
            let place = index - 16
            return (level(place / 36), level(place / 6 % 6), level(place % 6))
        default:
            let grey = 8 + 10 * (index - 232)
            return (grey, grey, grey)
        }
    }

    private static func bits(_ index: Int, _ level: Int) -> (Int, Int, Int) {
        (index & 1 != 0 ? level : 0, index & 2 != 0 ? level : 0, index & 4 != 0 ? level : 0)
    }

    private static func nearest(to color: (Int, Int, Int), among indices: Range<Int>) -> Int {
        func distance(_ index: Int) -> Int {
            let other = rgb(index)
            let difference = (color.0 - other.0, color.1 - other.1, color.2 - other.2)
            return difference.0 * difference.0 + difference.1 * difference.1 + difference.2 * difference.2
        }
        return indices.min { distance($0) < distance($1) } ?? 0
    }
}
