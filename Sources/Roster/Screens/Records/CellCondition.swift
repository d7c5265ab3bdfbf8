import CoreData
import Foundation
import RosterCommands
import Translation

/// The relation of records to a value, which a key of the list adds to the filter. The limits include the value.
nonisolated enum CellRelation {
    case equal, different, atMost, atLeast

    var isLimit: Bool { self == .atMost || self == .atLeast }

    fileprivate var comparison: NSComparisonPredicate.Operator {
        switch self {
        case .equal: .equalTo
        case .different: .notEqualTo
        case .atMost: .lessThanOrEqualTo
        case .atLeast: .greaterThanOrEqualTo
        }
    }
}

/// Predicates made from cells and sections of a list.
nonisolated struct CellCondition {
    let relation: CellRelation

    // MARK: Cells

    /// - Parameter property: the property of the column; `nil` for the column of the record itself.
    /// - Throws: ``CommandError`` if records cannot be compared with the value.
    func predicate(of object: NSManagedObject, _ property: NSPropertyDescription?) throws -> NSPredicate {
        switch property {
        case let attribute as NSAttributeDescription:
            return try predicate(attribute.name, attribute, object.value(forKey: attribute.name))
        case let relationship as NSRelationshipDescription:
            let value = object.value(forKey: relationship.name)
            if relationship.isToMany {
                let count = ValueDisplay.count(of: value ?? NSSet())
                return comparison("\(relationship.name).@count", count as NSNumber)
            }
            return try predicate(relationship, value as? NSManagedObject)
        default: throw CommandError.failure("this column is not stored: move to another one with h l")
        }
    }

    /// Compares related records by their titles, which a predicate's text can contain.
    private func predicate(
        _ relationship: NSRelationshipDescription, _ related: NSManagedObject?
    ) throws -> NSPredicate {
        guard let related else { return try nothing(relationship.name) }
        let label = relationship.destinationEntity.flatMap { EntityDisplay.label(of: $0) }
        guard let label, let title = related.value(forKey: label.name) as? String, !title.isEmpty else {
            let name = RecordName.short(related)
            throw CommandError.failure("\(name) has no title to compare with: \\ filters by its other values")
        }
        return comparison("\(relationship.name).\(label.name)", title)
    }

    private func predicate(_ key: String, _ attribute: NSAttributeDescription, _ value: Any?) throws -> NSPredicate {
        guard let value, !(value is NSNull) else { return try nothing(key) }
        let title = PropertyTitle.title(key)
        guard attribute.isSortable else {
            throw CommandError.failure("the values of \(title) cannot be compared: only “no value” filters here")
        }
        let hasOrder = attribute.attributeType != .booleanAttributeType && attribute.attributeType != .UUIDAttributeType
        guard hasOrder || !relation.isLimit else {
            throw CommandError.failure("the values of \(title) have no order. Use = or !")
        }
        if let number = value as? NSNumber, number.doubleValue.isNaN {
            throw CommandError.failure("\(title) is not a number here and equals nothing")
        }
        return comparison(key, Self.constant(value))
    }

    private func nothing(_ key: String) throws -> NSPredicate {
        guard !relation.isLimit else {
            throw CommandError.failure("no value that could be a limit. = and ! filter by “no value”")
        }
        return comparison(key, nil)
    }

    private func comparison(_ keyPath: String, _ value: Any?) -> NSPredicate {
        Self.comparison(keyPath, relation.comparison, value)
    }

    private static func comparison(
        _ keyPath: String, _ type: NSComparisonPredicate.Operator, _ value: Any?
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: keyPath), rightExpression: NSExpression(forConstantValue: value),
            modifier: .direct, type: type)
    }

    /// A constant that a predicate's text shows readably: dates of whole seconds, UUIDs and URIs are texts.
    private static func constant(_ value: Any) -> Any {
        switch value {
        case let date as Date:
            let text = DateDisplay.exact(date)
            let isWhole = date.timeIntervalSinceReferenceDate == date.timeIntervalSinceReferenceDate.rounded()
            return isWhole && text.prefix(while: \.isNumber).count == 4 ? text : date
        case let id as UUID: return id.uuidString
        case let url as URL: return url.absoluteString
        default: return value
        }
    }

    // MARK: Sections

    /// A level of the sections: its key path, the attribute there, and the value that the records have in common.
    struct Level {
        let keyPath: String
        let attribute: NSAttributeDescription
        let value: SectionValue
        /// True for sections by first letter.
        var isByLetter = false
    }

    /// - Parameter levels: the levels of the section, the outermost first.
    /// - Throws: ``CommandError`` if the section has no limits.
    func predicate(of levels: [Level]) throws -> NSPredicate {
        if relation.isLimit {
            guard levels.count == 1, !levels[0].isByLetter else {
                throw CommandError.failure("nested sections and first letters are no limits. Use = or !")
            }
            return try limit(levels[0])
        }
        let parts = try levels.map(Self.part)
        let whole = parts.count == 1 ? parts[0] : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        guard relation == .different else { return whole }
        if let simple = whole as? NSComparisonPredicate, simple.predicateOperatorType == .equalTo {
            return NSComparisonPredicate(
                leftExpression: simple.leftExpression, rightExpression: simple.rightExpression, modifier: .direct,
                type: .notEqualTo)
        }
        return NSCompoundPredicate(notPredicateWithSubpredicate: whole)
    }

    private func limit(_ level: Level) throws -> NSPredicate {
        if let range = Self.range(level.value, level.attribute) {
            return relation == .atLeast
                ? Self.comparison(level.keyPath, .greaterThanOrEqualTo, range.from)
                : Self.comparison(level.keyPath, .lessThan, range.end)
        }
        return try predicate(level.keyPath, level.attribute, Self.value(level.value))
    }

    private static func part(_ level: Level) throws -> NSPredicate {
        let key = level.keyPath
        if level.isByLetter { return letter(level.value, key) }
        if let range = range(level.value, level.attribute) {
            return NSCompoundPredicate(andPredicateWithSubpredicates: [
                comparison(key, .greaterThanOrEqualTo, range.from), comparison(key, .lessThan, range.end),
            ])
        }
        guard let value = value(level.value) else {
            // The section of records without a text also contains those with an empty one.
            let isText = level.attribute.attributeType == .stringAttributeType
            let nothing = comparison(key, .equalTo, nil)
            guard isText else { return nothing }
            return NSCompoundPredicate(orPredicateWithSubpredicates: [nothing, comparison(key, .equalTo, "")])
        }
        return try CellCondition(relation: .equal).predicate(key, level.attribute, value)
    }

    /// The bounds of a period or a bucket; the upper one is excluded.
    private static func range(
        _ value: SectionValue, _ attribute: NSAttributeDescription
    ) -> (from: Any, end: Any)? {
        switch value {
        case .period(let period): return (constant(period.start), constant(period.end))
        case .numbers(let from, let to):
            func number(_ decimal: Decimal) -> NSNumber {
                let number = NSDecimalNumber(decimal: decimal)
                if Decimal(number.int64Value) == decimal { return number.int64Value as NSNumber }
                return attribute.attributeType == .decimalAttributeType ? number : number.doubleValue as NSNumber
            }
            return (number(from), number(to))
        default: return nil
        }
    }

    private static func value(_ value: SectionValue) -> Any? {
        switch value {
        case .boolean(let flag): flag as NSNumber
        case .integer(let number): number as NSNumber
        case .real(let number): number as NSNumber
        case .decimal(let number): NSDecimalNumber(decimal: number)
        case .text(let text): text
        case .date(let date): date
        case .uuid(let id): id
        case .missing, .period, .numbers, .levels: nil
        }
    }

    /// The records in a section by first letter, which ignores spaces at the beginning, case and diacritics.
    private static func letter(_ value: SectionValue, _ keyPath: String) -> NSPredicate {
        switch value.text {
        case nil: NSPredicate(format: "%K == nil OR %K MATCHES %@", keyPath, keyPath, "\\s*")
        case "#": NSPredicate(format: "%K MATCHES %@", keyPath, "(?s)\\s*[^\\s\\p{L}].*")
        case let letter?: NSPredicate(format: "%K MATCHES[cd] %@", keyPath, "(?s)\\s*\(letter).*")
        }
    }
}
