import CoreData
import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

/// SQLite files of other programs: tables are entities, foreign keys relationships, and the file is never touched.
@Suite struct PlainTablesTests {
    private let folder: TemporaryFolder
    private let path: String
    private var location: StoreLocation { StoreLocation(store: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("shop.db")
    }

    private func make(_ script: String, leavesLog: Bool = false) throws {
        let connection = try Connection(path: path, access: .create)
        try connection.executeScript(script)
        connection.close()
    }

    private func list(
        _ entity: String, _ query: RecordQuery = RecordQuery(), columns: [String]? = nil,
        _ surroundings: TestSurroundings = TestSurroundings()
    ) throws -> [String] {
        try ListCommand(store: location, entity: entity, query: query, columns: columns, format: .csv)
            .run(in: surroundings.surroundings())
        return surroundings.lines
    }

    private static let shop = """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT REFERENCES countries(code));
        CREATE TABLE countries (code TEXT PRIMARY KEY, title TEXT);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, total REAL, paid BOOLEAN);
        INSERT INTO countries VALUES ('NO', 'Norway'), ('JP', 'Japan');
        INSERT INTO customers VALUES (1, 'Ada', 'NO'), (2, 'Bob', 'JP'), (3, 'Cleo', NULL), (4, 'Dan', 'XX');
        INSERT INTO orders VALUES (10, 1, 9.5, 1), (11, 1, 20, 0), (12, 2, 7.25, 1), (13, 99, 1, NULL);
        CREATE VIEW big AS SELECT id, total FROM orders WHERE total > 8;
        CREATE INDEX of_customers ON orders (customer_id);
        """

    @Test func tablesAreEntitiesAndAreOnlyRead() throws {
        try make(Self.shop)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let surroundings = TestSurroundings()
        #expect(
            try list("customers", RecordQuery(sort: [SortKey(keyPath: "name")]), columns: ["id", "name"], surroundings)
                == ["id,name", "1,Ada", "2,Bob", "3,Cleo", "4,Dan"])
        #expect(surroundings.notes.first?.contains("its tables are entities, and are only read") == true)
        #expect(try list("big", columns: ["id", "total"]) == ["id,total", "10,9.5", "11,20"])
        #expect(try list("orders", columns: ["paid"]) == ["paid", "true", "false", "true"])
        let counted = TestSurroundings()
        try CountCommand(store: location, entity: "orders", predicate: "total > 8").run(in: counted.surroundings())
        #expect(counted.lines == ["2"])
        #expect(throws: (any Error).self) {
            try DeleteCommand(store: location, entity: "orders", predicate: "TRUEPREDICATE")
                .run(in: TestSurroundings().surroundings())
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["shop.db"])
    }

    @Test func foreignKeysAreRelationships() throws {
        try make(Self.shop)
        #expect(
            try list(
                "orders", RecordQuery(predicate: "customer.name == 'Ada'", sort: [SortKey(keyPath: "id")]),
                columns: ["id", "customer.name"])
                == ["id,customer.name", "10,Ada", "11,Ada"])
        // Not by number: the key of a country is a text.
        let byCountry = RecordQuery(predicate: "countries.title == 'Japan'")
        #expect(
            try list("customers", byCountry, columns: ["name", "countries.title"]) == [
                "name,countries.title", "Bob,Japan",
            ])
        #expect(
            try list("customers", RecordQuery(predicate: "orders.@count == 2"), columns: ["name"]) == ["name", "Ada"])
        let shown = TestSurroundings()
        try ShowCommand(store: location, object: "customers:1", format: .table).run(in: shown.surroundings())
        #expect(shown.text.contains("Ada"))
        // A key that leads nowhere.
        #expect(try list("orders", RecordQuery(predicate: "id == 13")).count == 2)
    }

    @Test func questionsInSQLNameTheTables() throws {
        try make(Self.shop)
        let surroundings = TestSurroundings()
        try SQLCommand(
            store: location,
            statement:
                "SELECT name, SUM(total) AS sum FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY 1",
            format: .csv
        ).run(in: surroundings.surroundings())
        #expect(surroundings.lines == ["name,sum", "Ada,29.5", "Bob,7.25"])
        let tables = TestSurroundings()
        try SQLCommand(store: location, format: .csv).run(in: tables.surroundings())
        #expect(tables.lines.contains("orders,customer_id,INTEGER"))
        #expect(throws: CommandError.self) {
            try SQLCommand(store: location, statement: "DELETE FROM orders").run(in: surroundings.surroundings())
        }
    }

    @Test func valuesOfAnyTypeStandInAnyColumn() throws {
        try make(
            """
            CREATE TABLE odd (a INTEGER, b TEXT, c, d BLOB, e REAL, f DATETIME);
            INSERT INTO odd VALUES (1, 'x', 1, x'00ff', 1.5, '2026-01-02 03:04:05'), ('two', x'41', 2.5, 'text', NULL, 7),
              (NULL, NULL, NULL, NULL, NULL, NULL), (3.5, 4, 'three', 5, 6, NULL);
            """)
        let lines = try list("odd")
        #expect(
            lines == [
                "a,b,c,d,e,f", "1,x,1,x'00FF',1.5,2026-01-02 03:04:05", "two,x'41',2.5,text,,7", ",,,,,",
                "3.5,4,three,5,6,",
            ])
    }

    @Test func namesOfEveryKindWork() throws {
        try make(
            """
            CREATE TABLE "order details" ("unit price" REAL, "description" TEXT, "名前" TEXT, "a.b" INTEGER, "2nd" INTEGER, "select" INTEGER);
            INSERT INTO "order details" VALUES (1.5, 'd', '東京', 2, 3, 4);
            CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, ZNAME TEXT);
            INSERT INTO ZITEM VALUES (1, 'not of Core Data');
            CREATE TABLE "Größe" (x); CREATE TABLE "GRÖSSE" (y); INSERT INTO "Größe" VALUES (1); INSERT INTO "GRÖSSE" VALUES (2);
            """)
        let surroundings = TestSurroundings()
        #expect(
            try list("order details", RecordQuery(predicate: "unitPrice > 1"), surroundings)
                == ["unitPrice,description2,名前,aB,column2nd,select", "1.5,d,東京,2,3,4"])
        #expect(surroundings.notes.contains { $0.contains("order details.unit price is called unitPrice") })
        #expect(try list("ZITEM", columns: ["ZNAME"]) == ["ZNAME", "not of Core Data"])
        #expect(try list("Größe", columns: ["x"]) == ["x", "1"])
        #expect(try list("GRÖSSE2", columns: ["y"]) == ["y", "2"])
    }

    @Test func tablesWithoutRowNumbersAndWithSeveralKeysWork() throws {
        try make(
            """
            CREATE TABLE words (word TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
            INSERT INTO words VALUES ('b', 2), ('a', 1), ('c', 3);
            CREATE TABLE grades (student INTEGER, course TEXT, grade INTEGER, PRIMARY KEY (student, course));
            INSERT INTO grades VALUES (1, 'x', 5), (1, 'y', 4);
            CREATE TABLE notes (student INTEGER, course TEXT, text, FOREIGN KEY (student, course) REFERENCES grades);
            INSERT INTO notes VALUES (1, 'y', 'good');
            CREATE TABLE made (a INTEGER, twice INTEGER GENERATED ALWAYS AS (a * 2), kept INTEGER AS (a + 1) STORED);
            INSERT INTO made (a) VALUES (21);
            """)
        let query = RecordQuery(predicate: "n > 1", sort: [SortKey(keyPath: "word", ascending: false)])
        #expect(try list("words", query) == ["word,n", "c,3", "b,2"])
        #expect(try list("notes", columns: ["text", "grades.grade"]) == ["text,grades.grade", "good,4"])
        #expect(try list("made") == ["a,twice,kept", "21,42,22"])
    }

    @Test func damagedAndEncryptedFilesAreOneLine() throws {
        try make(Self.shop)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in 4096..<(bytes.count) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        try bytes.write(to: URL(fileURLWithPath: path))
        let damaged = #expect(throws: (any Error).self) { try list("customers") }
        #expect(damaged.map { !CommandError.line(for: $0).contains("\n") } == true)
        try Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }).write(to: URL(fileURLWithPath: path))
        let encrypted = #expect(throws: (any Error).self) { try list("customers") }
        #expect(encrypted.map { CommandError.line(for: $0).contains("encrypted") } == true)
        try FileManager.default.removeItem(atPath: path)
        try make("CREATE TABLE x (a); DROP TABLE x")
        let empty = #expect(throws: (any Error).self) { try list("customers") }
        #expect(empty.map { CommandError.line(for: $0).contains("shop.db") } == true)
    }

    @Test func aLogIsReadAndLeftAsItIs() throws {
        try make("PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)")
        let writer = try Connection(path: path, access: .readWrite)
        try writer.executeScript("INSERT INTO t VALUES (2)")
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let main = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try list("t") == ["a", "1", "2"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == log)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == main)
        writer.close()
    }

    @Test func stacksOfCoreDataStillRefuseSuchFiles() throws {
        try make(Self.shop)
        let url = URL(fileURLWithPath: path)
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        }
        #expect(error?.code.rawValue == 259)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        }
    }
}
