import CoreData
import Foundation
import RosterCommands
import TerminalKit

/// The filter as the user types it.
enum FilterText {
    /// The predicate that a text means; `nil` for an empty text.
    ///
    /// - Throws: where the text does not parse or names what the entity does not have.
    static func predicate(_ text: String, for entity: NSEntityDescription) throws -> NSPredicate? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : try PredicateText.predicate(trimmed, for: entity)
    }

    /// What is wrong with a text and where; `nil` for a filter that can be used.
    static func problem(_ text: String, for entity: NSEntityDescription) -> Prompt.Problem? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        guard !trimmed.isEmpty else { return nil }
        let indent = text.prefix { $0.isWhitespace }.count
        do {
            _ = try NSPredicate.parse(format: trimmed)
            _ = try PredicateText.predicate(trimmed, for: entity)
            return nil
        } catch let error as PredicateFormatError {
            return Prompt.Problem(error.message, at: indent + error.characterOffset)
        } catch {
            let line = CommandError.line(for: error)
            return Prompt.Problem(line, at: place(ofNameIn: line, text: text))
        }
    }

    /// Where the name that a message quotes first stands in the text.
    private static func place(ofNameIn message: String, text: String) -> Int? {
        guard let start = message.firstIndex(of: "“"), let end = message[start...].firstIndex(of: "”") else {
            return nil
        }
        let name = message[message.index(after: start)..<end]
        return text.range(of: name).map { text.distance(from: text.startIndex, to: $0.lowerBound) }
    }

    /// What may stand for the word before the cursor: keys of the entity, also behind a relationship, and the words of
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
