/// The meaning of a part of the screen. The theme determines its appearance: colours if available, else attributes.
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
    case focusedColumn

    /// The letter for dumps of the screen.
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
        case .focusedColumn: "F"
        }
    }
}

/// The style of a cell.
public struct Style: Hashable, Sendable {
    /// The meaning of the cell.
    public var role: Role
    /// True under the cursor's bar.
    public var isSelected: Bool

    /// Creates the style of a role, under the cursor's bar or not.
    public init(_ role: Role, selected: Bool = false) {
        self.role = role
        self.isSelected = selected
    }

    /// The style of the role `text`.
    public static let text = Style(.text)
    /// The style of the role `muted`.
    public static let muted = Style(.muted)
    /// The style of the role `heading`.
    public static let heading = Style(.heading)
    /// The style of the role `status`.
    public static let status = Style(.status)
    /// The style of the role `key`.
    public static let key = Style(.key)
    /// The style of the role `border`.
    public static let border = Style(.border)
    /// The style of the role `error`.
    public static let error = Style(.error)
    /// The style of the role `warning`.
    public static let warning = Style(.warning)

    /// The same style under the cursor's bar, or not.
    public func selected(_ selected: Bool) -> Style { Style(role, selected: selected) }
}
