import CoreData
import Foundation

/// Sections, as written on the command line: `qualifyingZone`, `opened:year`, `name:letter:desc`,
/// `capacity:bucket(10000)`, `homeVenue.country/qualifyingZone`.
///
/// Each part is a key path, then the kind of section (`value`, `year`, `month`, `week`, `day`, `letter`,
/// `bucket(SIZE)`), then `desc` for descending order and `last` to put records without a value last. A slash begins a
/// subsection. Years, months, weeks and days are in UTC, weeks as in ISO 8601. A whole number is a year by itself.
package enum SectionText {
    /// True if `text` is a plain key path.
    package static func isKeyPath(_ text: String) -> Bool { !text.contains { $0 == ":" || $0 == "/" } }

    /// The sections that `text` describes, checked against the entity.
    ///
    /// - Throws: ``CommandError`` of misuse.
    package static func sectionBy(
        _ text: String, for entity: NSEntityDescription
    ) throws -> SectionBy {
        let levels = try text.split(separator: "/", omittingEmptySubsequences: false).map {
            try level(String($0), for: entity)
        }
        return levels.count == 1 ? levels[0] : .levels(levels)
    }

    private static func level(_ text: String, for entity: NSEntityDescription) throws -> SectionBy {
        var words = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let keyPath = words.removeFirst().trimmingCharacters(in: .whitespaces)
        guard !keyPath.isEmpty else {
            throw CommandError.misuse("section “\(text)” has no key: write KEY[:KIND][:desc]")
        }
        let attribute = try EntityKeys.attribute(at: keyPath, of: entity, for: "make sections by")
        var section = SectionBy.value(keyPath)
        if let word = words.first, let kind = try kind(word, keyPath, calendar) {
            // A whole number is taken as the year itself, so the sections are made by its value.
            if word != "year" || !attribute.isWholeNumber {
                try require(attribute, fits: word, keyPath)
                section = kind
            }
            words.removeFirst()
        }
        for word in words {
            switch word {
            case "desc": section = section.descending()
            case "asc": break
            case "last": section = section.missing(.last)
            default:
                throw CommandError.misuse(
                    "section “\(text)”: unknown “\(word)”. Use year, month, week, day, letter, bucket(SIZE), value, desc or last"
                )
            }
        }
        return section
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func kind(_ word: String, _ keyPath: String, _ calendar: Calendar) throws -> SectionBy? {
        switch word {
        case "value": return .value(keyPath)
        case "year": return .year(keyPath, calendar: calendar)
        case "month": return .month(keyPath, calendar: calendar)
        case "week": return .week(keyPath, calendar: calendar)
        case "day": return .day(keyPath, calendar: calendar)
        case "letter": return .firstLetter(keyPath, locale: Locale(identifier: "en_US_POSIX"))
        default:
            guard word.hasPrefix("bucket(") else { return nil }
            guard word.hasSuffix(")"), let size = Decimal(string: String(word.dropFirst(7).dropLast()), locale: nil),
                size > 0, Double(word.dropFirst(7).dropLast()) != nil
            else { throw CommandError.misuse("invalid “\(word)”: write bucket(SIZE) with a number greater than 0") }
            return .bucket(keyPath, size: size)
        }
    }

    private static func require(_ attribute: NSAttributeDescription, fits word: String, _ keyPath: String) throws {
        switch (word, attribute.attributeType) {
        case ("value", _), ("year", .dateAttributeType), ("month", .dateAttributeType), ("week", .dateAttributeType),
            ("day", .dateAttributeType), ("letter", .stringAttributeType):
            return
        case ("year", _), ("month", _), ("week", _), ("day", _):
            throw CommandError.misuse("cannot make sections by the \(word) of “\(keyPath)”: it is not a date")
        case ("letter", _):
            throw CommandError.misuse("cannot make sections by the letter of “\(keyPath)”: it is not text")
        default:
            guard attribute.isNumber else {
                throw CommandError.misuse("cannot make sections by the size of “\(keyPath)”: it is not a number")
            }
        }
    }
}

extension NSAttributeDescription {
    fileprivate var isWholeNumber: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: true
        default: false
        }
    }

    var isNumber: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            true
        default: false
        }
    }
}
