import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Parsing, checking and completing the user's filter text.
nonisolated enum FilterText {
    /// Parses a predicate; `nil` for an empty text.
    ///
    /// - Throws: an error if the text does not parse or names properties that the entity does not have.
    static func predicate(_ text: String, for entity: NSEntityDescription) throws -> NSPredicate? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : try PredicateText.predicate(trimmed, for: entity)
    }

    /// An example of a predicate that fits the entity.
    static func example(for entity: NSEntityDescription) -> String {
        let attributes = entity.properties.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }
        if let label = EntityDisplay.label(of: entity) { return "\(label.name) CONTAINS[cd] \"a\"" }
        let number = attributes.first { PropertyColumn(property: $0, priority: 0).isNumeric }
        return number.map { "\($0.name) > 10" } ?? attributes.first.map { "\($0.name) != NULL" } ?? "TRUEPREDICATE"
    }

    /// The problem with a text and its position; `nil` if the filter is valid.
    static func problem(_ text: String, for entity: NSEntityDescription) -> Prompt.Problem? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard !trimmed.isEmpty else { return nil }
        let indent = text.prefix { $0.isWhitespace }.count
        // Users who look for a text type a single word.
        if trimmed.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }),
            entity.propertiesByName[trimmed] == nil, (try? predicate(trimmed, for: entity)) == nil
        {
            return Prompt.Problem(
                sentence("“\(trimmed)” is not a predicate such as \(example(for: entity)); / finds text"), at: indent)
        }
        do {
            _ = try NSPredicate.parse(format: trimmed)
            _ = try PredicateText.predicate(trimmed, for: entity)
            return nil
        } catch let error as PredicateFormatError {
            let (expected, found) = (tr(error.expected), tr(error.found))
            return Prompt.Problem(
                sentence("expected \(expected), found \(found)"), at: indent + error.characterOffset)
        } catch {
            return problem(error, in: text)
        }
    }

    /// The problem for an error, with the position of the name in its message if the text contains it.
    static func problem(_ error: any Error, in text: String) -> Prompt.Problem {
        let line = CommandError.line(for: error)
        return Prompt.Problem(line, at: names(in: line).lazy.compactMap { place(of: $0, in: text) }.first)
    }

    /// The quoted parts of a message in order, then its words.
    private static func names(in message: String) -> [String] {
        let quoted = message.split(separator: "“").dropFirst().compactMap { $0.split(separator: "”").first }
        let constants = message.split(separator: "\"", omittingEmptySubsequences: false)
            .enumerated().filter { $0.offset % 2 == 1 }.map { "\"\($0.element)\"" }
        let words = message.split { !($0.isLetter || $0.isNumber || "._@".contains($0)) }
        return quoted.map(String.init) + constants + words.map(String.init)
    }

    /// The position of a name in a text, preferably as a whole word.
    private static func place(of name: String, in text: String) -> Int? {
        guard !name.isEmpty else { return nil }
        func isWord(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
        }
        var found: Range<String.Index>?
        var rest = text.startIndex..<text.endIndex
        while let range = text.range(of: name, range: rest) {
            found = found ?? range
            let before = range.lowerBound > text.startIndex ? text[text.index(before: range.lowerBound)] : nil
            let after = range.upperBound < text.endIndex ? text[range.upperBound] : nil
            if !isWord(before), !isWord(after) {
                found = range
                break
            }
            rest = range.upperBound..<text.endIndex
        }
        return found.map { text.distance(from: text.startIndex, to: $0.lowerBound) }
    }

    /// Completions for the word before the cursor: properties of the entity, also through relationships, and words of
    /// the predicate language.
    static func completion(_ text: String, cursor: Int, entity: NSEntityDescription) -> Prompt.Completion? {
        let characters = Array(text)
        var start = cursor
        while start > 0,
            characters[start - 1].isLetter || characters[start - 1].isNumber || "._@".contains(characters[start - 1])
        {
            start -= 1
        }
        let word = String(characters[start..<cursor])
        let parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var owner: NSEntityDescription? = entity
        for key in parts.dropLast() { owner = owner?.relationshipsByName[key]?.destinationEntity }
        guard let owner, let last = parts.last else { return nil }
        let prefix = parts.dropLast().map { $0 + "." }.joined()
        var candidates = owner.propertiesByName.keys.sorted().filter { $0.lowercased().hasPrefix(last.lowercased()) }
            .map { prefix + $0 }
        if parts.count == 1 { candidates += words.filter { $0.hasPrefix(last.uppercased()) && !last.isEmpty } }
        return candidates.isEmpty ? nil : Prompt.Completion(range: start..<cursor, candidates: candidates)
    }

    private static let words = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH[cd]", "ENDSWITH[cd]", "CONTAINS[cd]", "LIKE[cd]", "MATCHES",
        "ANY", "ALL", "YES", "NO", "NULL", "TRUEPREDICATE",
    ]
}
