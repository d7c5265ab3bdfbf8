import RosterCommands
import TerminalKit
import Translation

/// Nouns with a number or in the plural.
nonisolated enum CountedNoun {
    /// A count with its noun: `1 Team`, `3 Teams`, `2,000 Countries`.
    static func text(_ count: Int, _ noun: String) -> String {
        let many = EnglishPlural.of(noun)
        let number = GroupedNumber.text(count)
        // Nouns of the program have their own messages in the catalogue; entity names are not translated and share one.
        if Translation.text("%s " + many) != "%s " + many { return tr("%s " + many, number) }
        return tr("%1$s %3$s", number, noun, count == 1 ? noun : many)
    }

    /// `Teams`; unchanged in languages without plural.
    static func plural(_ noun: String) -> String { tr("%2$s", noun, EnglishPlural.of(noun)) }
}
