import Foundation
import Translation

/// A parsed configuration file: `key = value` lines under `[headings]`. A line that begins with `#` is a comment.
struct ConfigurationFile {
    struct Entry: Equatable {
        /// The words of the heading; empty before the first heading.
        let section: [String]
        let key: String
        let value: String
        let line: Int
    }

    private(set) var entries: [Entry] = []
    private(set) var problems: [ConfigurationProblem] = []

    init(text: String) {
        // The section is nil after an invalid heading. Settings under it are ignored.
        var section: [String]? = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let number = index + 1
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("[") {
                guard line.hasSuffix("]"), !line.dropFirst().dropLast().allSatisfy(\.isWhitespace) else {
                    problems.append(
                        ConfigurationProblem(number, "invalid heading: write a name in brackets, such as [keys]"))
                    section = nil
                    continue
                }
                section = line.dropFirst().dropLast().split(whereSeparator: \.isWhitespace).map(String.init)
                continue
            }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                problems.append(ConfigurationProblem(number, "“\(line)” is not a setting: write key = value"))
                continue
            }
            let key = line[..<equals].trimmingCharacters(in: .whitespaces)
            let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            guard let section else { continue }
            entries.append(Entry(section: section, key: key, value: value, line: number))
        }
    }

    // MARK: Location

    /// `$XDG_CONFIG_HOME/roster/config`, or `~/.config/roster/config`.
    nonisolated static var url: URL {
        UserFolder.url("XDG_CONFIG_HOME", else: ".config").appendingPathComponent("roster/config")
    }
}

/// A problem in a configuration file: `config:12: unknown key “colour”`.
struct ConfigurationProblem: Equatable {
    /// Line number, counted from 1; `nil` if the problem concerns the whole file.
    let line: Int?
    let text: String

    init(_ line: Int?, _ text: String) {
        self.line = line
        self.text = text
    }

    var message: String { "config:" + (line.map { "\($0):" } ?? "") + " " + text }

    /// One line with the first problem and a pointer to the others; `nil` if `problems` is empty.
    static func summary(of problems: [ConfigurationProblem]) -> String? {
        guard let first = problems.first else { return nil }
        let text = first.line.map { sentence("config: line \($0): \(first.text)") } ?? "config: \(first.text)"
        guard problems.count > 1 else { return text }
        return sentence("\(text) (and \(problems.count - 1) more: run “roster config”)")
    }
}
