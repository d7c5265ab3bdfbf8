import TerminalKit
import Translation

/// Help text, generated from the verbs and flags.
enum HelpText {
    private static let width = 80

    /// Returns the output of `roster --help`.
    static func overview() -> String {
        var lines = [
            tr("roster browses, edits and watches the records of a store, grouped in sections."), "", tr("Usage:"),
        ]
        lines.append("  " + usage(of: BrowseVerb.self))
        lines += VerbTable.verbs.map { "  " + usage(of: $0) }
        lines += ["", tr("Verbs:")]
        lines += columns(VerbTable.verbs.map { ($0.name, tr($0.summary)) })
        lines += [
            "", tr("Without a verb: %s", lowercasedFirst(tr(BrowseVerb.summary))), "",
            tr("Options of the terminal program:"),
        ]
        lines += columns(BrowseVerb.allFlags.map { (left(of: $0), tr($0.help)) })
        lines += columns([("-V, --version", tr("Print the version."))])
        lines += ["", tr("roster VERB --help describes a verb.")]
        lines += [tr("Exit status: 0 done, 1 failed, 2 misuse. Standard error has the reason.")]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the output of `roster VERB --help`.
    static func text(of verb: any CommandVerb.Type) -> String {
        if verb.name.isEmpty { return overview() }
        var lines = [tr("Usage: %s", usage(of: verb)), ""]
        lines += wrapped(tr(verb.summary), indent: 0)
        if !verb.notes.isEmpty { lines += ["", verb.notes] }
        lines += ["", tr("Options:")]
        lines += columns(verb.allFlags.map { (left(of: $0), tr($0.help)) })
        return lines.joined(separator: "\n") + "\n"
    }

    static func usage(of verb: any CommandVerb.Type) -> String {
        let required = verb.requiredFlags.map { "--\($0.name) \($0.placeholder ?? "")" }
        let words = ["roster", verb.name] + verb.operands.map(\.usage) + required + [tr("[OPTIONS]")]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    static func left(of flag: any CommandFlag) -> String {
        let short = flag.letter.map { "-\($0), " } ?? "    "
        let value = flag.placeholder.map { flag.mayLackValue ? "[=\($0)]" : " \($0)" }
        return short + "--" + flag.name + (value ?? "")
    }

    private static func lowercasedFirst(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }

    private static let measure = TextWidth()

    private static func columns(_ rows: [(left: String, right: String)]) -> [String] {
        let widest = min(rows.map { measure.width($0.left) }.max() ?? 0, 30)
        return rows.flatMap { row -> [String] in
            let lines = wrapped(row.right, indent: widest + 4)
            let used = measure.width(row.left)
            guard used <= widest, let first = lines.first else { return ["  " + row.left] + lines }
            let space = String(repeating: " ", count: widest - used)
            return ["  " + row.left + space + "  " + first.drop { $0 == " " }] + lines.dropFirst()
        }
    }

    /// Returns `text` broken between words into indented lines. Words longer than a line are broken too.
    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let space = String(repeating: " ", count: indent)
        let lines = measure.wrapped(text, to: max(1, width - indent))
        return (lines.isEmpty ? [""] : lines).map { space + $0 }
    }
}
