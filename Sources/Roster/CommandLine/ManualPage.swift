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
                    "Roster opens SQLite stores of Core Data, written by applications on Apple's systems or by itself. "
                        + "Without a verb, it lists the records of an entity in sections, edits them, and shows what other programs "
                        + "change. " + BrowseVerb.summary)
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
            item("0", "Done. Of diff: the stores are equal.")
                + item(
                    "1",
                    "Failed. Also if export or copy could not read some values, but wrote the rest, or if the stores of diff differ. "
                        + "Standard error has one line with the reason.")
                + item(
                    "2",
                    "Invalid command line, or diff could not compare the stores. Standard error has one line with the reason."
                )
                + item(
                    "3", "Succeeded, but port left work for you, or import skipped records. Standard error lists it."))
        lines += section(
            "FILES",
            item(
                "$XDG_CONFIG_HOME/roster/config",
                "Settings: keys, colours and columns of lists. Default: ~/.config/roster/config. roster config prints the settings in "
                    + "effect as such a file.")
                + item(
                    "$XDG_DATA_HOME/roster",
                    "The World Cup sample, created by the first start without a store. Default: ~/.local/share/roster.")
                + item("$XDG_STATE_HOME/roster", "The last view of each store. Default: ~/.local/state/roster.")
                + item(
                    "$XDG_CACHE_HOME",
                    "Sections of lists, with which long lists open at once. You can delete them at any time."))
        lines += section(
            "NOTES",
            [escaped("After kill -9, the terminal stays in screen mode. The command reset restores it.")])
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
