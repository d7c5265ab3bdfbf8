import Foundation
import SQLiteAccess
import Testing

@Suite struct StatementTests {
    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:", access: .create)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
    }

    @Test(arguments: [
        SQLiteValue.null, .integer(.min), .integer(.max), .real(-0.1), .real(.infinity), .text(""), .text("naïve 漢字 🇧🇷"),
        .text("with\0nul"), .blob(Data()), .blob(Data([0, 1, 255])),
    ])
    func aValueReadsBackAsBound(_ value: SQLiteValue) throws {
        try connection.execute("INSERT INTO t (v) VALUES (?)", [value])
        #expect(try connection.value("SELECT v FROM t") == value)
    }

    @Test func uuidsAreSixteenBytes() throws {
        let uuid = UUID()
        let insert = try connection.prepare("INSERT INTO t (v) VALUES (?)")
        try insert.bind(uuid, at: 1)
        try insert.run()
        let select = try connection.prepare("SELECT v FROM t")
        #expect(try select.step())
        #expect(select.uuid(at: 0) == uuid)
        #expect(select.data(at: 0).count == 16)
    }

    /// Texts that SQLite does not copy read back unchanged, also if there are more than the statement's buffer holds.
    @Test func uncopiedTextsReadBackAsBound() throws {
        let places = 20
        let marks = repeatElement("(?)", count: places).joined(separator: ", ")
        let insert = try connection.prepare("INSERT INTO t (v) VALUES \(marks)")
        var texts: [String] = []
        for run in 0..<3 {
            for place in 1...places {
                texts.append(place == 1 ? "" : String(repeating: "漢\(run)", count: place * 20))
                try insert.bindForOneRun(texts[texts.count - 1], at: place)
            }
            try insert.run()
        }
        #expect(try connection.rows("SELECT v FROM t ORDER BY id") == texts.map { [.text($0)] })
    }

    @Test func nestedUseOfOneTextGetsTwoStatements() throws {
        try connection.execute("INSERT INTO t (v) VALUES (1), (2)")
        var pairs = 0
        try connection.withStatement("SELECT v FROM t") { outer in
            while try outer.step() {
                try connection.withStatement("SELECT v FROM t") { inner in
                    while try inner.step() { pairs += 1 }
                }
            }
        }
        #expect(pairs == 4)
    }

    @Test func manyDifferentStatementsDoNotFillMemory() throws {
        for number in 0..<1000 { #expect(try connection.integer("SELECT \(number)") == Int64(number)) }
    }

    @Test func aWrongCountOfArgumentsIsAnError() {
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t (v) VALUES (?)", []) }
    }

    @Test func anErrorNamesTheStatement() {
        #expect {
            try connection.execute("SELECT missing FROM t")
        } throws: { error in
            let error = error as? SQLiteError
            return error?.kind == .statement && error?.sql == "SELECT missing FROM t"
                && error?.description.contains("no such column") == true
        }
    }

    @Test func uniqueAndOtherConstraintsDiffer() throws {
        try connection.executeScript("CREATE TABLE u (a UNIQUE, b NOT NULL); INSERT INTO u VALUES (1, 1)")
        #expect { try connection.execute("INSERT INTO u VALUES (1, 2)") } throws: {
            ($0 as? SQLiteError)?.kind == .uniqueConstraint
        }
        #expect { try connection.execute("INSERT INTO u VALUES (2, NULL)") } throws: {
            ($0 as? SQLiteError)?.kind == .constraint
        }
    }
}
