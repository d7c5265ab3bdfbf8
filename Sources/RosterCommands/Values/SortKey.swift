import CoreData
import Foundation

/// A sort key, as written on the command line: `wins:desc`.
public struct SortKey: Equatable, Sendable {
    /// The key path of the attribute.
    public let keyPath: String
    /// True to put the least value first.
    public let ascending: Bool

    /// Creates a sort key.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// Reads `wins:desc,teamName`.
    /// - Throws: ``CommandError`` of misuse if a key is missing or a direction is not `asc` or `desc`.
    public static func parse(_ text: String) throws -> [SortKey] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            let pieces = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let key = pieces[0].trimmingCharacters(in: .whitespaces)
            guard !key.isEmpty else {
                throw CommandError.misuse("“\(text)” is not a list of sort keys: write KEY[:desc],KEY[:desc]…")
            }
            switch pieces.count == 1 ? "asc" : pieces[1].lowercased() {
            case "asc", "ascending": return SortKey(keyPath: key)
            case "desc", "descending": return SortKey(keyPath: key, ascending: false)
            default: throw CommandError.misuse("sort key “\(part)”: the direction must be asc or desc")
            }
        }
    }

    var descriptor: NSSortDescriptor { NSSortDescriptor(key: keyPath, ascending: ascending) }
}
