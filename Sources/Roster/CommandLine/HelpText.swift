/// Help, made from the verbs and flags themselves.
enum HelpText {
    private static let width = 80

    /// What `roster --help` prints.
    static func overview() -> String {
        var lines = ["roster browses, edits and watches the records of a store, grouped in sections.", "", "Usage:"]
        lines.append("  " + usage(of: BrowseVerb.self))
        lines += VerbTable.verbs.map { "  " + usage(of: $0) }
        lines += ["", "Verbs:"]
        lines += columns(VerbTable.verbs.map { ($0.name, $0.summary) })
        lines += ["", "Without a verb: " + lowercasedFirst(BrowseVerb.summary), "", "Options of the terminal program:"]
        lines += columns(BrowseVerb.allFlags.map { (left(of: $0), $0.help) })
        lines += columns([("-V, --version", "Print the version.")])
        lines += ["", "roster VERB --help says more of a verb."]
        lines += ["Exit status: 0 done, 1 failed, 2 misuse; one line on standard error says why."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// What `roster VERB --help` prints.
    static func text(of verb: any CommandVerb.Type) -> String {
        if verb.name.isEmpty { return overview() }
        var lines = ["Usage: " + usage(of: verb), ""]
        lines += wrapped(verb.summary, indent: 0)
        if !verb.notes.isEmpty { lines += ["", verb.notes] }
        lines += ["", "Options:"]
        lines += columns(verb.allFlags.map { (left(of: $0), $0.help) })
        return lines.joined(separator: "\n") + "\n"
    }

    static func usage(of verb: any CommandVerb.Type) -> String {
        let required = verb.requiredFlags.map { "--\($0.name) \($0.placeholder ?? "")" }
        let words = ["roster", verb.name] + verb.operands.map(\.usage) + required + ["[OPTIONS]"]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    static func left(of flag: any CommandFlag.Type) -> String {
        let short = flag.letter.map { "-\($0), " } ?? "    "
        let value = flag.placeholder.map { flag.mayLackValue ? "[=\($0)]" : " \($0)" }
        return short + "--" + flag.name + (value ?? "")
    }

    private static func lowercasedFirst(_ text: String) -> String { text.prefix(1).lowercased() + text.dropFirst() }

    private static func columns(_ rows: [(left: String, right: String)]) -> [String] {
        let widest = min(rows.map(\.left.count).max() ?? 0, 30)
        return rows.flatMap { row -> [String] in
            let lines = wrapped(row.right, indent: widest + 4)
            guard row.left.count <= widest, let first = lines.first else { return ["  " + row.left] + lines }
            let space = String(repeating: " ", count: widest - row.left.count)
            return ["  " + row.left + space + "  " + first.drop { $0 == " " }] + lines.dropFirst()
        }
    }

    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let space = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > width {
                lines.append(space + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [space + line]
    }
}
