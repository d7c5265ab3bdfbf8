import Testing

@testable import TerminalKit

@Suite struct ThemeTests {
    @Test(arguments: [
        ("red", 1, 1), ("bright-cyan", 14, 6), ("208", 208, 3), ("#ff8800", 208, 3), ("#000000", 16, 0),
        ("#ffffff", 231, 7), ("244", 244, 7),
    ])
    func coloursAreNamesNumbersOrLight(text: String, index: Int, basic: Int) {
        let color = ThemeColor(text)
        #expect(color?.index == index && color?.basic == basic, "\(String(describing: color))")
        #expect(color.flatMap { ThemeColor($0.text) } == color)
    }

    @Test(arguments: ["", "mauve", "256", "-1", "#ff88", "#gggggg", "bright-pink"])
    func invalidColoursAreRefused(text: String) { #expect(ThemeColor(text) == nil) }

    @Test func everyThemeDistinguishesImportantRoles() {
        for theme in Theme.all {
            #expect(Theme.named(theme.name) == theme)
            let looks = [Role.text, .error, .warning, .inserted, .edited, .heading].map { theme[$0] }
            #expect(Set(looks).count == looks.count, "\(theme.name)")
        }
        // The theme `terminal` uses the terminal's own colours.
        #expect(Theme.terminal[.text] == Theme.Look())
        for role in Role.allCases { #expect(Theme.dark[role].background != nil && Theme.light[role].background != nil) }
    }

    @Test func theNotationOfKeysReadsBack() {
        for text in ["gg", "<C-s>", "<S-Tab>", "<Space>", "<lt>", "<F5>", "<M-x>", "<C-Right>", "zM", "<Enter>"] {
            #expect(KeySequence(checking: text)?.notation == text)
            #expect(KeySequence(KeySequence(text).notation) == KeySequence(text))
        }
        #expect(KeySequence(checking: "") == nil && KeySequence(checking: "<Hyper>") == nil)
        #expect(KeySequence(checking: "<")?.notation == "<lt>")
    }
}
