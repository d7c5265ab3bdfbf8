import CoreData
import Foundation

/// Collects the statements of migrations of a store.
final class ServerRehearsal {
    private let opening: ServerOpening
    private let connection: any ServerConnection
    private var model: NSManagedObjectModel
    private var numbers: [String: Int64]

    init(storeAt url: URL, model: NSManagedObjectModel) throws {
        let opening = try ServerOpening(url, options: nil)
        self.opening = opening
        self.model = model
        let connection = try opening.connect()
        self.connection = connection
        numbers = try opening.errors.translating(.opening) {
            _ = try opening.metadata(connection)
            return try opening.numbers(on: connection)
        }
    }

    func statements(migratingTo model: NSManagedObjectModel) throws -> [String] {
        let recorder = StatementRecorder(connection)
        try opening.errors.translating(.migrating) {
            let source = self.model.entitiesInLayoutOrder.filter { numbers[$0.name ?? ""] != nil }
            let layout = try ServerMigrationWork(
                from: source, numbers, to: model.entitiesInLayoutOrder, opening, recorder
            ).run()
            numbers = Dictionary(
                layout.entities.map { ($0.name ?? "", layout.number(of: $0)) }, uniquingKeysWith: { first, _ in first })
        }
        self.model = model
        return recorder.statements
    }
}

/// A connection that records statements. It runs only queries of the server's catalog whose results are statements.
private final class StatementRecorder: ServerConnection {
    private let connection: any ServerConnection
    private(set) var statements: [String] = []

    init(_ connection: any ServerConnection) { self.connection = connection }

    /// A result without rows; any number read from it is zero.
    private final class Nothing: ServerResult {
        var rowCount: Int { 0 }
        var command: String { "" }
        func value(_ row: Int, _ column: Int) -> SQLValue { .integer(0) }
        func integers(inColumn column: Int) -> [Int64]? { [] }
    }

    func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
        try statements.map { statement in
            if statement.text.hasPrefix("SELECT format(") || statement.text.hasPrefix("SELECT DISTINCT format(") {
                // Tables that the migration would create do not exist in a rehearsal.
                do { return try connection.run([statement]).first ?? Nothing() } catch let error as ServerError
                    where error.isOfMissingTable
                { return Nothing() }
            }
            let isQuestion = statement.text.hasPrefix("SELECT ") && !statement.text.hasPrefix("SELECT setval(")
            if !isQuestion { self.statements.append(TracedConnection.text(of: statement)) }
            return Nothing()
        }
    }

    func copy(_ rows: [[SQLValue]], into table: String, columns: [(name: String, type: ServerType)]) {}
    func cancelling<Result>(when isCancelled: @escaping () -> Bool, _ body: () throws -> Result) rethrows -> Result {
        try body()
    }
    func takeMessages() -> Int { 0 }
    func whenMessagesCome(on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void) {}
    var isInTransaction: Bool { false }
}
