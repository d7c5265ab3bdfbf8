import Foundation
import SQLiteAccess

/// Questions in SQL about the rows of a store, through a connection of its own that can only read.
///
/// Each entity is a view with the names of the model (``views``). Use it on one thread at a time.
package final class StoreQuestions {
    package let views: [StoreView]
    /// Names that differ from the model's, one line each.
    package let notes: [String]
    private let connection: Connection
    private let errors: SQLiteStoreErrors
    /// Columns whose numbers are Booleans or of single precision: table and column in upper case, and the type.
    private var types: [String: NSAttributeType] = [:]

    /// - Parameter layout: `nil` for a file that is not a store, whose tables have their own names.
    init(_ file: StoreFile, _ layout: TableLayout?, dateText: @escaping (Date) -> String) throws {
        errors = file.errors
        let connection = try file.open()
        self.connection = connection
        var planning = layout.map(StoreViewPlanning.init)
        do {
            views = try file.errors.translating(.opening) {
                guard let planned = planning?.views() else { return try FileTableReader(connection).views() }
                try connection.setPragma("temp_store", to: "MEMORY")
                try QuestionFunctions(externalData: ExternalData(storePath: file.path), dateText: dateText)
                    .register(on: connection)
                for view in planned { try connection.execute(view.creation) }
                return planned
            }
            notes = planning?.notes ?? []
            try file.errors.translating(.opening) { try connection.allowOnlyReading() }
        } catch {
            connection.close()
            throw error
        }
        for table in layout?.tables ?? [] {
            for column in table.columns {
                guard let type = column.attribute?.attributeType else { continue }
                guard [.booleanAttributeType, .floatAttributeType].contains(type) else { continue }
                types["\(table.name).\(column.name)".uppercased()] = type
            }
        }
    }

    deinit { connection.close() }

    /// Runs one statement.
    ///
    /// - Parameters:
    ///   - isCancelled: called on this thread while SQLite works.
    ///   - receive: receives the names of the result's columns, once, then the values of each row: `Int64`, `Double`,
    ///     `Float`, `Bool`, `String`, `Data` or `nil`. Returns false to receive no more.
    /// - Throws: ``InvalidQuestion`` for a statement that SQLite refuses or that does not only read; 3072 if cancelled;
    ///   errors of `receive`; otherwise a `CocoaError` of the store.
    package func ask(
        _ sql: String, isCancelled: @escaping () -> Bool,
        _ receive: (_ columns: [String]?, _ row: [Any?]?) throws -> Bool
    ) throws {
        do {
            try connection.cancelling(when: { _ in isCancelled() }) {
                let statement = try connection.prepareOnly(sql)
                guard statement.isReadOnly else { throw InvalidQuestion.writes }
                guard statement.argumentCount == 0 else {
                    throw InvalidQuestion(message: "the statement has places for arguments (?), and there are none")
                }
                let range = 0..<statement.columnCount
                let types = range.map { type(of: $0, in: statement) }
                guard try receive(range.map(statement.columnName), nil) else { return }
                while try statement.step() {
                    guard try receive(nil, range.map({ Self.value(at: $0, of: statement, types[$0]) })) else { return }
                }
            }
        } catch let error as SQLiteError where error.kind == .statement {
            throw InvalidQuestion(message: error.message)
        } catch let error as SQLiteError where error.isRefusal {
            throw InvalidQuestion.writes
        } catch let error as SQLiteError {
            throw errors.make(error, .reading)
        }
    }

    private func type(of column: Int, in statement: Statement) -> NSAttributeType? {
        guard let origin = statement.columnOrigin(at: column) else { return nil }
        return types["\(origin.table).\(origin.column)".uppercased()]
    }

    private static func value(at column: Int, of statement: Statement, _ type: NSAttributeType?) -> Any? {
        switch (statement.kind(at: column), type) {
        case (.null, _): nil
        case (.integer, .booleanAttributeType): statement.integer(at: column) != 0
        case (.integer, _): statement.integer(at: column)
        case (.real, .floatAttributeType): Float(statement.real(at: column))
        case (.real, _): statement.real(at: column)
        case (.text, _): statement.text(at: column)
        case (.blob, _): statement.data(at: column)
        }
    }
}

/// A statement that cannot be run as a question.
package struct InvalidQuestion: Error {
    /// The reason, without the statement.
    package let message: String

    static let writes = InvalidQuestion(
        message: "it does not only read: questions are SELECT, WITH, VALUES and EXPLAIN, and a store is never changed")
}

extension SQLiteError {
    /// True if the connection does not allow the statement.
    fileprivate var isRefusal: Bool { code == 23 || kind == .readOnly }
}

extension NSPersistentStore {
    /// Opens the store for questions in SQL.
    ///
    /// - Parameter dateText: the text of a date.
    /// - Throws: 134060 for a store that is not an SQLite file; otherwise an error of opening it.
    package func questions(dateText: @escaping (Date) -> String) throws -> StoreQuestions {
        guard let store = self as? SQLiteStore, let url = store.fileURL, !url.isMemoryPlace,
            let layout = store.session?.layout
        else {
            throw CoreDataError.make(
                134060, "The store \(placeName) cannot be asked in SQL: it is not an SQLite file.")
        }
        let file = try StoreFile(url: url, options: StoreOptions(options), isReadOnly: true)
        let hasPlainTables = persistentStoreCoordinator?.managedObjectModel.showsPlainTables == true
        return try StoreQuestions(file, hasPlainTables ? nil : layout, dateText: dateText)
    }
}
