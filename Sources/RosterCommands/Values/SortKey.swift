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

    /// Reads `wins:desc,teamName`. Also reads `wins desc, teamName` and `-wins +teamName`.
    /// - Throws: ``CommandError`` of misuse if a key is missing or a direction is not `asc` or `desc`.
    public static func parse(_ text: String) throws -> [SortKey] {
        try text.split(separator: ",", omittingEmptySubsequences: false).flatMap { part in
            let keys = try keys(in: part)
            guard !keys.isEmpty, keys.allSatisfy({ !$0.keyPath.isEmpty }) else {
                throw CommandError.misuse("“\(text)” is not a list of sort keys: write KEY[:desc],KEY[:desc]…")
            }
            return keys
        }
    }

    /// The keys between two commas: each with a sign before it, or with a direction after a colon or a space.
    private static func keys(in part: Substring) throws -> [SortKey] {
        var keys: [SortKey] = []
        for word in part.split(whereSeparator: \.isWhitespace) {
            // The first word is a key even if its name is that of a direction.
            if let last = keys.last, let ascending = direction(word.first == ":" ? word.dropFirst() : word) {
                keys[keys.count - 1] = SortKey(keyPath: last.keyPath, ascending: ascending)
                continue
            }
            let pieces = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let sign = pieces[0].first.flatMap { ["-": false, "+": true][$0] }
            let key = String(sign == nil ? pieces[0] : pieces[0].dropFirst())
            guard pieces.count > 1 else {
                keys.append(SortKey(keyPath: key, ascending: sign ?? true))
                continue
            }
            guard let ascending = direction(pieces[1]) else {
                throw CommandError.misuse("sort key “\(part)”: the direction must be asc or desc")
            }
            keys.append(SortKey(keyPath: key, ascending: ascending))
        }
        return keys
    }

    /// True for `asc`, false for `desc`; `nil` for other words.
    private static func direction(_ word: Substring) -> Bool? {
        switch word.lowercased() {
        case "asc", "ascending": true
        case "desc", "descending": false
        default: nil
        }
    }

    var descriptor: NSSortDescriptor { NSSortDescriptor(key: keyPath, ascending: ascending) }
}
