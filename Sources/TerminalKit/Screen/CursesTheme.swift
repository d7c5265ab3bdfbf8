import CNcursesw

/// How roles look on the terminal: colours on its own background where it has them, attributes elsewhere.
struct CursesTheme {
    /// The attributes and the colour pair of a style.
    struct Look {
        var attributes: attr_t
        var pair: Int32
    }

    private let looks: [Look]

    /// Call after `newterm`. Colour pairs exist only where the terminal has colours and the user wants them.
    init(usesColors: Bool) {
        let hasColors = usesColors && has_colors() && start_color() == OK && ncurses_colors() >= 8
        if hasColors { use_default_colors() }
        let hasPalette = hasColors && ncurses_colors() >= 256
        looks = Role.allCases.map { role in
            guard hasColors else { return Look(attributes: Self.attributes(of: role), pair: 0) }
            let color = Self.color(of: role, hasPalette: hasPalette)
            guard let color else { return Look(attributes: Self.attributes(of: role, colored: true), pair: 0) }
            let pair = Int32(role.rawValue) + 1
            guard init_extended_pair(pair, color, -1) == OK else {
                return Look(attributes: Self.attributes(of: role), pair: 0)
            }
            return Look(attributes: Self.attributes(of: role, colored: true), pair: pair)
        }
    }

    func look(of style: Style) -> Look {
        var look = looks[Int(style.role.rawValue)]
        // The bar is the inverse of what lies under it, so it is seen on any theme and without colours.
        if style.isSelected { look.attributes ^= ncurses_attribute_reverse() }
        return look
    }

    /// Colours that can be read on a light and on a dark background; `nil` is the terminal's own.
    private static func color(of role: Role, hasPalette: Bool) -> Int32? {
        switch role {
        case .text, .status, .columnTitle: nil
        case .muted, .border: hasPalette ? 244 : nil
        case .heading, .key, .link: hasPalette ? 31 : COLOR_CYAN
        case .match: hasPalette ? 172 : COLOR_YELLOW
        case .error: COLOR_RED
        case .warning: hasPalette ? 172 : COLOR_YELLOW
        case .inserted: hasPalette ? 34 : COLOR_GREEN
        case .moved: hasPalette ? 33 : COLOR_BLUE
        case .updated: hasPalette ? 172 : COLOR_YELLOW
        case .edited: COLOR_MAGENTA
        }
    }

    private static func attributes(of role: Role, colored: Bool = false) -> attr_t {
        switch role {
        case .text: 0
        case .muted, .border: colored ? 0 : ncurses_attribute_dim()
        case .heading, .error, .inserted, .moved, .updated: ncurses_attribute_bold()
        case .columnTitle: ncurses_attribute_bold() | ncurses_attribute_underline()
        case .status: ncurses_attribute_reverse()
        case .key, .warning: ncurses_attribute_bold()
        case .match: colored ? ncurses_attribute_reverse() : ncurses_attribute_bold() | ncurses_attribute_underline()
        case .edited: colored ? 0 : ncurses_attribute_underline()
        case .link: ncurses_attribute_underline()
        }
    }
}
