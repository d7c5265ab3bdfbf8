import Foundation

/// The manual page, generated from the verbs, flags and keys.
enum ManualPage {
    static func text() -> String {
        var lines = [".TH ROSTER 1 \"\" \"roster \(Version.text)\" \"User Commands\""]
        lines += section("NAME", ["roster \\- browse, edit and watch the records of a store, grouped in sections"])
        lines += section(
            "SYNOPSIS", ([BrowseVerb.self] + VerbTable.verbs).flatMap { [".br", escaped(HelpText.usage(of: $0))] })
        lines += section(
            "DESCRIPTION",
            [
                escaped(
                    "Roster opens the SQLite stores of Core Data: those that applications on Apple's systems write, and its own. "
                        + "Without a verb it shows the records of an entity as a list in sections, follows what other programs "
                        + "change, and edits. " + BrowseVerb.summary)
            ])
        lines += section("OPTIONS OF THE TERMINAL PROGRAM", BrowseVerb.allFlags.flatMap(flag))
        lines += section("VERBS", VerbTable.verbs.flatMap(verb))
        lines += section(
            "KEYS OF THE LIST",
            ListCommands.table.helpItems.flatMap { category in
                [".SS " + escaped(category.category)] + category.items.flatMap { item($0.keys, $0.help) }
            })
        lines += section(
            "EXIT STATUS",
            item("0", "What was asked is done.")
                + item(
                    "1",
                    "It could not be done, or export or copy did it, but values are missing whose files cannot be read; standard error "
                        + "says which, in one line.")
                + item("2", "The command line makes no sense; standard error says why, in one line.")
                + item("3", "port has left something for you to do; standard error says what."))
        lines += section(
            "FILES",
            item(
                "$XDG_CONFIG_HOME/roster/config",
                "Keys, colours, and the columns of lists; else ~/.config/roster/config. roster config prints what is in effect, "
                    + "as such a file.")
                + item("$XDG_DATA_HOME/roster", "The World Cup sample, copied at the first start without a store.")
                + item("$XDG_STATE_HOME/roster", "How each store was left; else ~/.local/state/roster.")
                + item(
                    "$XDG_CACHE_HOME",
                    "The sections of lists, so that long lists open at once. It may be removed at any time."))
        lines += section(
            "NOTES",
            [escaped("A program that is ended by kill -9 cannot give the terminal back: the command reset does.")])
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ title: String, _ lines: [String]) -> [String] { [".SH " + title] + lines }

    private static func item(_ term: String, _ text: String) -> [String] {
        [".TP", "\\fB\(escaped(term))\\fR", escaped(text)]
    }

    private static func flag(_ flag: any CommandFlag) -> [String] {
        item(HelpText.left(of: flag).trimmingCharacters(in: .whitespaces), flag.help)
    }

    private static func verb(_ verb: any CommandVerb.Type) -> [String] {
        var lines = [".SS " + escaped(HelpText.usage(of: verb)), escaped(verb.summary)]
        if !verb.notes.isEmpty {
            lines +=
                [".PP", ".nf"]
                + verb.notes.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }
            lines.append(".fi")
        }
        return lines + verb.flags.flatMap(flag)
    }

    /// Returns `text` with roff requests and escapes quoted.
    private static func escaped(_ text: String) -> String {
        let plain = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        let isRequest = plain.hasPrefix(".") || plain.hasPrefix("'")
        return isRequest ? "\\&" + plain : plain
    }
}
