import CoreData
import Foundation

/// The question which records of a list show a pattern in their columns.
///
/// Design note. The store finds texts, and the titles of related records. Numbers, dates and other values are found as
/// shown, in the format of their column: the store returns their different values first, and the predicate contains
/// those whose text matches. A word that no such column can show, such as one of letters, needs no values. If the
/// values are too many for a predicate, rows are compared in memory.
nonisolated struct FindQuery {
    /// The way to find matching records.
    enum Method {
        case predicate(NSPredicate)
        /// The texts of each row have to be read.
        case texts
        /// No record can match.
        case none
    }

    /// Matching values of a column. Neighbours in the order of all values, such as the moments of a month, are a range.
    struct Found {
        var values: [Any] = []
        var ranges: [[Any]] = []
    }

    /// For each term, the matching values by the key of their column.
    typealias Values = [[String: Found]]

    let pattern: FindPattern
    let entity: NSEntityDescription
    private let columns: [PropertyColumn]

    init(_ pattern: FindPattern, _ display: EntityDisplay) {
        (self.pattern, entity, columns) = (pattern, display.entity, display.columns)
    }

    /// True if the other query has the same pattern and columns.
    func isSame(as other: FindQuery) -> Bool {
        pattern == other.pattern && columns.map(\.key) == other.columns.map(\.key)
    }

    /// True if a column can be searched.
    var canFind: Bool { columns.contains { Self.textKey($0) != nil || Self.hasValues($0) } }

    /// The keys of relationships whose records are named in a column.
    var relationshipKeys: [String] {
        columns.filter { $0.property is NSRelationshipDescription && Self.textKey($0) != nil }.map(\.key)
    }

    /// True if the list shows the pattern in the row of a record.
    func matches(_ object: NSManagedObject) -> Bool {
        pattern.matches(
            columns.filter { Self.textKey($0) != nil || Self.hasValues($0) }.map { $0.text(of: object) })
    }

    // MARK: Columns

    /// The key path of the text that a column shows; `nil` if it shows other values.
    private static func textKey(_ column: PropertyColumn) -> String? {
        if let attribute = column.property as? NSAttributeDescription {
            let isText = attribute.attributeType == .stringAttributeType || attribute.attributeType == .URIAttributeType
            return isText && !attribute.isTransient ? attribute.name : nil
        }
        guard let relationship = column.property as? NSRelationshipDescription, !relationship.isToMany else {
            return nil
        }
        return relationship.destinationEntity.flatMap { EntityDisplay.label(of: $0) }
            .map { "\(relationship.name).\($0.name)" }
    }

    /// True for a column of values that are not texts.
    private static func hasValues(_ column: PropertyColumn) -> Bool {
        guard let attribute = column.property as? NSAttributeDescription else { return false }
        return attribute.isSortable && textKey(column) == nil
    }

    /// True if a column may show the term as a part of a value.
    private static func mayShow(_ term: FindTerm, _ column: PropertyColumn) -> Bool {
        if term.isExpression || column.format != nil { return true }
        switch (column.property as? NSAttributeDescription)?.attributeType {
        case .UUIDAttributeType: return term.text.allSatisfy { $0.isHexDigit || $0 == "-" }
        case .booleanAttributeType: return "✓·".contains(term.text)
        case .dateAttributeType: return term.text.allSatisfy { $0.isASCII && ($0.isNumber || "-: zZ".contains($0)) }
        default: return term.text.allSatisfy { $0.isASCII && ($0.isNumber || "-+.eE".contains($0)) }
        }
    }

    // MARK: Values

    /// The different values of a column, in order, with their texts.
    struct ShownColumn {
        let key: String
        fileprivate let values: [Any]
        fileprivate let texts: [String]
    }

    /// True if the values of columns have to be read.
    var needsValues: Bool {
        columns.contains { column in
            Self.hasValues(column) && pattern.terms.contains { Self.mayShow($0, column) }
        }
    }

    /// The keys of all columns of values.
    var valueKeys: [String] { columns.filter(Self.hasValues).map(\.key) }

    func shown(_ key: String, _ values: [Any]) -> ShownColumn {
        let column = columns.first { $0.key == key }
        let numbers = values.map { ValueBuckets.number($0) ?? 0 }
        let sorted = values.indices.sorted { numbers[$0] < numbers[$1] }.map { values[$0] }
        return ShownColumn(key: key, values: sorted, texts: sorted.map { column?.text(ofValue: $0) ?? "" })
    }

    /// The values whose text contains a term.
    func found(in shown: [ShownColumn]) -> Values {
        pattern.terms.map { term in
            var found: [String: Found] = [:]
            for part in shown {
                guard let column = columns.first(where: { $0.key == part.key }), Self.mayShow(term, column) else {
                    continue
                }
                found[part.key] = Self.found(in: part) { term.isIn($0) }
            }
            return found
        }
    }

    private static func found(in column: ShownColumn, _ matches: (String) -> Bool) -> Found {
        var found = Found()
        var run: [Any] = []
        func end() {
            if run.count > 3, let first = run.first, let last = run.last, ValueBuckets.number(first) != nil {
                found.ranges.append([first, last])
            } else {
                found.values += run
            }
            run = []
        }
        for (value, text) in zip(column.values, column.texts) {
            if matches(text) { run.append(value) } else { end() }
        }
        end()
        return found
    }

    /// More values and ranges of a column than these are not put into a predicate.
    private static let mostValues = 5000
    private static let mostRanges = 100

    func method(_ found: Values) -> Method {
        var terms: [NSPredicate] = []
        // Long words match few records, so that the others are seldom compared.
        for (index, term) in pattern.terms.enumerated().sorted(by: { $0.element.text.count > $1.element.text.count }) {
            var parts = columns.compactMap(Self.textKey).map(term.predicate)
            for (key, found) in found.indices.contains(index) ? found[index] : [:] {
                let (values, ranges) = (found.values, found.ranges)
                guard values.count <= Self.mostValues, ranges.count <= Self.mostRanges else { return .texts }
                if !values.isEmpty { parts.append(NSPredicate(format: "%K IN %@", key, values)) }
                parts += ranges.map { NSPredicate(format: "%K BETWEEN %@", key, $0) }
            }
            guard !parts.isEmpty else { return .none }
            terms.append(NSCompoundPredicate(orPredicateWithSubpredicates: parts))
        }
        return terms.isEmpty ? .none : .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: terms))
    }
}

/// The values that the columns of a list show, read by the first search that needs them.
// SAFETY: the lock guards the columns, which do not change any more once they are read.
nonisolated final class ShownValues: @unchecked Sendable {
    private let lock = NSLock()
    private var columns: [FindQuery.ShownColumn]?

    /// The columns, which `read` reads once.
    func columns(
        _ keys: [String], _ read: () throws -> [FindQuery.ShownColumn]
    ) rethrows -> [FindQuery.ShownColumn] {
        try lock.withLock {
            if let columns, columns.map(\.key) == keys { return columns }
            let new = try read()
            columns = new
            return new
        }
    }
}
