import CNcursesw

/// The appearance of roles on the terminal: a theme's colours, or attributes if it has none.
struct CursesTheme {
    /// The attributes and the colour pair of a style.
    struct Look {
        var attributes: attr_t
        var pair: Int32
    }

    private let looks: [Look]

    /// Call this after `newterm`. Colour pairs are used only if the terminal has colours and the user wants them.
    init(_ theme: Theme = .terminal, usesColors: Bool) {
        let hasColors = usesColors && has_colors() && start_color() == OK && ncurses_colors() >= 8
        if hasColors { use_default_colors() }
        let hasPalette = hasColors && ncurses_colors() >= 256
        func number(_ color: ThemeColor?) -> Int32 {
            guard let color else { return -1 }
            return hasPalette ? Int32(color.index) : color.basic.map(Int32.init) ?? -1
        }
        looks = Role.allCases.map { role in
            guard hasColors else { return Look(attributes: Self.attributes(of: role), pair: 0) }
            let look = theme[role]
            let (foreground, background) = (number(look.foreground), number(look.background))
            let attributes = Self.attributes(look.emphasis)
            guard foreground >= 0 || background >= 0 else { return Look(attributes: attributes, pair: 0) }
            let pair = Int32(role.rawValue) + 1
            guard init_extended_pair(pair, foreground, background) == OK else {
                return Look(attributes: Self.attributes(of: role), pair: 0)
            }
            return Look(attributes: attributes, pair: pair)
        }
    }

    func look(of style: Style) -> Look {
        var look = looks[Int(style.role.rawValue)]
        // The selection inverts the cells, so it is visible with any theme and without colours.
        if style.isSelected { look.attributes ^= ncurses_attribute_reverse() }
        return look
    }

    private static func attributes(_ emphasis: Theme.Emphasis) -> attr_t {
        var result: attr_t = 0
        if emphasis.contains(.bold) { result |= ncurses_attribute_bold() }
        if emphasis.contains(.dim) { result |= ncurses_attribute_dim() }
        if emphasis.contains(.underline) { result |= ncurses_attribute_underline() }
        if emphasis.contains(.reverse) { result |= ncurses_attribute_reverse() }
        return result
    }

    /// The attributes that distinguish roles without colours.
    private static func attributes(of role: Role) -> attr_t {
        switch role {
        case .text: 0
        case .muted, .border: ncurses_attribute_dim()
        case .heading, .error, .inserted, .moved, .updated, .key, .warning, .focusedColumn: ncurses_attribute_bold()
        case .columnTitle, .match: ncurses_attribute_bold() | ncurses_attribute_underline()
        case .status: ncurses_attribute_reverse()
        case .edited, .link: ncurses_attribute_underline()
        }
    }
}
