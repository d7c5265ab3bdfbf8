import CoreData
import Foundation
import Translation

/// `sql`: answers a question in SQL, or lists the tables that questions can name.
public struct SQLCommand: Sendable {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The statement, `-` for standard input; `nil` lists the tables.
    public var statement: String?
    /// Path of the file to write; `nil` for the output.
    public var file: String?
    /// Format of the output; `nil` for that of the file's extension, otherwise a table.
    public var format: OutputFormat?

    /// Creates the command; see the properties.
    public init(store: StoreLocation, statement: String? = nil, file: String? = nil, format: OutputFormat? = nil) {
        self.store = store
        self.statement = statement
        self.file = file
        self.format = format
    }

    /// - Throws: ``CommandError``, of misuse for a statement that SQLite refuses; or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let written = try file.map { try FileOutput(OutputPlace($0, readingFrom: store.store)) }
        let output: any TextOutput = written ?? surroundings.output
        let session = try StoreSession(store, for: .reading, in: surroundings)
        let questions = try SQLAnswer.questions(of: session.coordinator)
        let format =
            format ?? file.flatMap { OutputFormat(pathExtension: URL(fileURLWithPath: $0).pathExtension) } ?? .table
        var writer = AnswerWriter(format, to: output, written == nil ? surroundings.textStyle : nil)
        if let statement = try statement.map(Self.text) {
            try SQLAnswer.ask(statement, questions, interruption: surroundings.interruption, to: &writer)
        } else {
            try SQLAnswer.list(questions, to: &writer)
            for note in questions.notes { surroundings.note(VisibleText.shown(note)) }
        }
        try output.flush()
        try written?.finish()
    }

    private static func text(_ statement: String) throws -> String {
        guard statement == "-" else { return statement }
        let data = try FileHandle.standardInput.readToEnd() ?? Data()
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandError.failure("standard input: the statement is not UTF-8")
        }
        return text
    }

}

/// Receives the result of a question: first the columns, then the rows, then the end.
package protocol AnswerReceiver {
    mutating func columns(_ names: [String]) throws
    /// Returns false to receive no more rows.
    mutating func row(_ values: [Any?]) throws -> Bool
    mutating func end() throws
}

/// Questions in SQL, with errors for users.
package enum SQLAnswer {
    /// Opens the coordinator's store for questions.
    ///
    /// - Throws: ``CommandError`` of misuse for a store that is not an SQLite file.
    package static func questions(of coordinator: NSPersistentStoreCoordinator) throws -> StoreQuestions {
        try coordinator.performAndWait {
            guard let store = coordinator.persistentStores.first else {
                throw CommandError.failure("the store is closed")
            }
            do {
                return try store.questions { ISO8601Text.text(of: $0, omitsMidnight: true) }
            } catch let error as CocoaError where error.code == .coreData {
                let name = StorePlace(url: store.url ?? URL(fileURLWithPath: "/")).name
                throw CommandError.misuse(
                    store.url?.isFileURL == false
                        ? "\(name) is on a server, and only SQLite files answer questions in SQL: use psql"
                        : "only SQLite files answer questions in SQL, and \(name) is another kind of store: roster copy makes an SQLite file of it"
                )
            }
        }
    }

    /// Runs one statement and passes its result to `receiver`.
    ///
    /// - Throws: ``CommandError``, of misuse for a statement that SQLite refuses.
    package static func ask(
        _ statement: String, _ questions: StoreQuestions, interruption: any Interruption,
        to receiver: inout some AnswerReceiver
    ) throws {
        do {
            var answer = receiver
            try questions.ask(statement, isCancelled: { interruption.isRaised }) { columns, row in
                if let columns { try answer.columns(ColumnNames.distinct(columns)) }
                return try row.map { try answer.row($0) } ?? true
            }
            try answer.end()
            receiver = answer
        } catch let error as InvalidQuestion {
            throw CommandError.misuse("the SQL does not run: \(error.message)\(hint(error.message, questions))")
        } catch let error as CocoaError where error.code == .userCancelled {
            throw CommandError.interrupted
        }
    }

    /// Passes the tables and columns that statements can name to `receiver`.
    package static func list(_ questions: StoreQuestions, to receiver: inout some AnswerReceiver) throws {
        try receiver.columns(["table", "column", "contents"])
        for view in questions.views {
            for column in view.columns {
                let row = [StoreView.written(view.name), StoreView.written(column.name), column.contents]
                guard try receiver.row(row) else { break }
            }
        }
        try receiver.end()
    }

    /// The existing names, for a name that does not exist.
    private static func hint(_ message: String, _ questions: StoreQuestions) -> String {
        guard message.hasPrefix("no such table: ") else { return "" }
        let names = questions.views.map { StoreView.written($0.name) }
        return names.isEmpty ? "" : "; " + sentence("valid names: \(names.joined(separator: ", "))")
    }
}

/// The names of a result's columns.
enum ColumnNames {
    /// Makes names distinct, so that each is a key of a JSON object: the second `name` is `name2`.
    static func distinct(_ names: [String]) -> [String] {
        var taken: Set<String> = []
        return names.map { wanted in
            var name = wanted
            var number = 2
            while !taken.insert(name).inserted {
                name = "\(wanted)\(number)"
                number += 1
            }
            return name
        }
    }
}
