import CoreData
import Foundation
import RosterCommands
import Translation

/// The sections of a list in the syntax of the command line: `qualifyingZone:desc`, `opened:year`,
/// `dateCreated:month/kind`. The direction of the outermost level is separate, because the user can reverse it.
struct SectionChoice: Equatable {
    var keyPath: String
    /// The text after the key path, without the direction; `nil` for sections by value.
    var form: String?
    var ascends = true

    init(keyPath: String, form: String? = nil, ascends: Bool = true) {
        (self.keyPath, self.form, self.ascends) = (keyPath, form, ascends)
    }

    /// Parses a text. Use `sectionBy(for:)` to check whether it fits an entity.
    init(_ text: String) {
        let levels = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var words = (levels.first ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        keyPath = words.isEmpty ? "" : words.removeFirst().trimmingCharacters(in: .whitespaces)
        ascends = words.last { ["asc", "desc"].contains($0) } != "desc"
        words.removeAll { ["asc", "desc", "value"].contains($0) }
        let form = words.map { ":" + $0 }.joined() + (levels.count > 1 ? "/" + levels[1] : "")
        self.form = form.isEmpty ? nil : form
    }

    var text: String {
        let levels = (form ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return keyPath + (levels.first ?? "") + (ascends ? "" : ":desc") + (levels.count > 1 ? "/" + levels[1] : "")
    }

    /// The sections for a results controller. Days are in UTC, as displayed dates are.
    ///
    /// - Throws: ``CommandError`` of kind misuse if the text does not fit the entity.
    @discardableResult
    func sectionBy(for entity: NSEntityDescription) throws -> SectionBy {
        try SectionText.sectionBy(text, for: entity)
    }

    /// A readable title: `Date created (month) / Kind`.
    var title: String {
        (keyPath + (form ?? "")).split(separator: "/").map { level in
            let words = level.split(separator: ":").map(String.init)
            let kinds = words.dropFirst().filter { $0 != "last" }.map { tr(Self.names[$0] ?? $0) }
            return PropertyTitle.title(words.first ?? "") + (kinds.isEmpty ? "" : " (\(kinds.joined(separator: ", ")))")
        }.joined(separator: " / ")
    }

    private static let names = [
        "letter": "first letter", "desc": "↓", "year": "year, UTC", "month": "month, UTC", "week": "week, UTC",
        "day": "day, UTC",
    ]

    /// The kinds of sections for an attribute, other than its values.
    static func kinds(of attribute: NSAttributeDescription?) -> [String] {
        switch attribute?.attributeType {
        case .dateAttributeType: ["year", "month", "week", "day"]
        case .stringAttributeType: ["letter"]
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            ["bucket(10)", "bucket(100)", "bucket(1000)", "bucket(10000)"]
        default: []
        }
    }
}
