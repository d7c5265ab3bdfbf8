import CoreData
import CoreDataImport
import Foundation

/// The first rows of an answer in SQL, for a screen.
package struct SQLTable: Sendable {
    package private(set) var columns: [String] = []
    package private(set) var rows: [[JSONValue]] = []
    /// True if there are more rows.
    package private(set) var isCut = false

    package init() {}

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - statement: `nil` for the tables and columns that statements can name.
    ///   - limit: the greatest number of rows to keep.
    /// - Throws: ``CommandError``, of misuse for a statement that SQLite refuses.
    package init(
        _ statement: String?, in coordinator: NSPersistentStoreCoordinator, limit: Int, interruption: any Interruption
    ) throws {
        let questions = try SQLAnswer.questions(of: coordinator)
        var receiver = Receiver(limit: limit)
        if let statement {
            try SQLAnswer.ask(statement, questions, interruption: interruption, to: &receiver)
        } else {
            try SQLAnswer.list(questions, to: &receiver)
        }
        (columns, rows, isCut) = (receiver.names, receiver.rows, receiver.isCut)
    }

    private struct Receiver: AnswerReceiver {
        let limit: Int
        var names: [String] = []
        var rows: [[JSONValue]] = []
        var isCut = false

        mutating func columns(_ names: [String]) throws { self.names = names }

        mutating func row(_ values: [Any?]) throws -> Bool {
            guard rows.count < limit else {
                isCut = true
                return false
            }
            rows.append(values.map(AnswerValue.json))
            return true
        }

        mutating func end() throws {}
    }

    /// The text of a value on one line.
    package func text(row: Int, column: Int) -> String { VisibleText.oneLine(ValueText.text(of: rows[row][column])) }

    /// True if the first values of a column are numbers.
    package func areNumbers(_ column: Int) -> Bool {
        let values = rows.prefix(100).compactMap { $0[column].isNull ? nil : $0[column] }
        return !values.isEmpty && values.allSatisfy { $0.size != nil }
    }

    /// Sorts the rows: null first, then numbers, then texts; equal ones keep their order.
    package mutating func sort(byColumn column: Int, ascending: Bool) {
        let keyed = rows.enumerated().map { (place: $0.offset, row: $0.element) }
        rows = keyed.sorted { left, right in
            let (a, b) = (left.row[column], right.row[column])
            if Self.precedes(a, b) { return ascending }
            if Self.precedes(b, a) { return !ascending }
            return left.place < right.place
        }.map(\.row)
    }

    private static func precedes(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if left.isNull || right.isNull { return left.isNull && !right.isNull }
        switch (left.size, right.size) {
        case (let left?, let right?): return left < right
        case (nil, nil):
            return ValueText.text(of: left).localizedStandardCompare(ValueText.text(of: right)) == .orderedAscending
        case (let left, _): return left != nil
        }
    }
}

extension ImportValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
    fileprivate var size: Double? { if case .number(let digits) = self { Double(digits) } else { nil } }
}
