/// What a piece of the screen means. How it looks is the theme's matter: colours where there are some, attributes
/// elsewhere.
public enum Role: UInt8, CaseIterable, Sendable {
    case text
    case muted
    case heading
    case columnTitle
    case status
    case key
    case border
    case match
    case error
    case warning
    case inserted
    case moved
    case updated
    case edited
    case link

    /// One letter, for dumps of the screen.
    public var letter: Character {
        switch self {
        case .text: "."
        case .muted: "-"
        case .heading: "H"
        case .columnTitle: "T"
        case .status: "S"
        case .key: "K"
        case .border: "B"
        case .match: "M"
        case .error: "E"
        case .warning: "W"
        case .inserted: "i"
        case .moved: "m"
        case .updated: "u"
        case .edited: "e"
        case .link: "l"
        }
    }
}

/// How a cell is drawn.
public struct Style: Hashable, Sendable {
    public var role: Role
    /// The cursor's bar.
    public var isSelected: Bool

    public init(_ role: Role, selected: Bool = false) {
        self.role = role
        self.isSelected = selected
    }

    public static let text = Style(.text)
    public static let muted = Style(.muted)
    public static let heading = Style(.heading)
    public static let status = Style(.status)
    public static let key = Style(.key)
    public static let border = Style(.border)
    public static let error = Style(.error)
    public static let warning = Style(.warning)

    /// The same style under the cursor's bar, or not.
    public func selected(_ selected: Bool) -> Style { Style(role, selected: selected) }
}
