/// Format of printed records.
public enum OutputFormat: String, CaseIterable, Sendable {
    /// For people: aligned columns under headings.
    case table
    /// For programs: one JSON object per line.
    case json
    /// RFC 4180, with a line of headings.
    case csv
    /// Fields between tabs, with a line of headings.
    case tsv

    /// The format of files with this extension.
    public init?(pathExtension: String) {
        switch pathExtension.lowercased() {
        case "json", "jsonl", "ndjson": self = .json
        case "csv": self = .csv
        case "tsv", "tab": self = .tsv
        default: return nil
        }
    }
}
