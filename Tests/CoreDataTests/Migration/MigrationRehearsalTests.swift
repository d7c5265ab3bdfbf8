import CoreData
import SQLiteAccess
import Testing

/// Reports the effects of a migration in place without changing anything.
@MainActor @Suite struct MigrationRehearsalTests {
    private let desk: MigrationDesk

    init() throws { desk = try MigrationDesk() }

    private func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, was: String? = nil
    ) -> NSAttributeDescription { MigrationDesk.attribute(name, type, was: was) }

    private func rehearsal(_ old: NSManagedObjectModel) throws -> LightweightMigrationRehearsal {
        try LightweightMigrationRehearsal(storeAt: desk.url, model: old)
    }

    @Test func tablesColumnsAndStatementsAreReported() throws {
        let old = MigrationDesk.model([
            MigrationDesk.entity(
                "Team", [attribute("name"), attribute("city"), attribute("size", .floatAttributeType)]),
            MigrationDesk.entity("Coach", [attribute("name"), attribute("born", .integer64AttributeType)]),
            MigrationDesk.entity("Ground", [attribute("name")]), MigrationDesk.entity("Other", [attribute("name")]),
        ])
        try desk.make(old) { desk.insert("Team", ["name": "Ajax"], $0) }
        let new = MigrationDesk.model([
            MigrationDesk.entity(
                "Team", [attribute("title", was: "name"), attribute("motto"), attribute("size", .floatAttributeType)]),
            MigrationDesk.entity("Coach", [attribute("name"), attribute("born", .decimalAttributeType)]),
            MigrationDesk.entity("Fan", [attribute("name")]), MigrationDesk.entity("Other", [attribute("name")]),
        ])
        let before = try Data(contentsOf: desk.url)
        let names = try FileManager.default.contentsOfDirectory(atPath: desk.folder.path).sorted()
        let plan = try rehearsal(old).migrate(to: new)
        let told = plan.tables.map { table in
            let columns = table.columns.map { "\($0.change) \($0.formerName ?? "-") \($0.name) \($0.type)" }
            return "\(table.work) \(table.formerName ?? "-") \(table.name) \(table.formerEntityNames) \(columns)"
        }
        #expect(
            told == [
                #"moved ZCOACH ZCOACH ["Coach"] ["rewritten - ZBORN DECIMAL"]"#,
                #"made - ZFAN [] ["added - ZNAME VARCHAR"]"#,
                #"kept ZOTHER ZOTHER ["Other"] []"#,
                #"altered ZTEAM ZTEAM ["Team"] ["added - ZMOTTO VARCHAR", "renamed ZNAME ZTITLE VARCHAR", "dropped ZCITY ZCITY VARCHAR"]"#,
                #"dropped ZGROUND ZGROUND ["Ground"] []"#,
            ])
        #expect(plan.statements.first == "BEGIN EXCLUSIVE" && plan.statements.last == "COMMIT")
        for statement in [
            "ALTER TABLE ZTEAM RENAME COLUMN ZNAME TO ZTITLE", "ALTER TABLE ZTEAM DROP COLUMN ZCITY",
            "ALTER TABLE ZTEAM ADD COLUMN ZMOTTO VARCHAR", "DROP TABLE Z_MIGRATING_ZGROUND",
            "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)",
        ] { #expect(plan.statements.contains(statement), "\(statement) is not in \(plan.statements)") }
        #expect(try Data(contentsOf: desk.url) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: desk.folder.path).sorted() == names)
        try desk.close(try desk.open(new))
    }

    /// Indexes that are tables, and triggers and views of other programs.
    @Test func otherContentsOfTheFileAreAccepted() throws {
        func model(_ name: String) -> NSManagedObjectModel {
            let places = ["latitude", "longitude"].map { attribute($0, .doubleAttributeType) }
            let team = MigrationDesk.entity("Team", [attribute(name, was: "name")] + places)
            team.indexes = ["at", "at_home"].map { index in
                NSFetchIndexDescription(
                    name: index, elements: places.map { .init(property: $0, collationType: .rTree) })
            }
            return MigrationDesk.model([team])
        }
        try desk.make(model("name")) { desk.insert("Team", ["name": "Ajax", "latitude": 52.3, "longitude": 4.9], $0) }
        let connection = try Connection(path: desk.url.path, access: .readWrite)
        try connection.execute("CREATE TABLE others (a)")
        try connection.execute("CREATE TRIGGER theirs AFTER INSERT ON ZTEAM BEGIN INSERT INTO others VALUES (1); END")
        try connection.execute("CREATE VIEW shown AS SELECT ZNAME FROM ZTEAM")
        connection.close()
        let plan = try rehearsal(model("name")).migrate(to: model("title"))
        #expect(plan.statements.count { $0.hasPrefix("CREATE VIRTUAL TABLE") } == 2)
        #expect(plan.statements.contains("ALTER TABLE ZTEAM RENAME COLUMN ZNAME TO ZTITLE"))
        #expect(plan.statements.contains { $0.hasPrefix("CREATE TRIGGER theirs") })
        let container = try desk.open(model("title"))
        #expect(try desk.all("Team", container.viewContext, by: "title").count == 1)
        try desk.close(container)
    }

    /// A search index of another program, whose tables are named like an entity's.
    @Test(arguments: ["ZNOTES", "Another"]) func aSearchIndexOfAnotherProgramIsIgnored(name: String) throws {
        let old = MigrationDesk.model([MigrationDesk.entity("Team", [attribute("name")])])
        try desk.make(old) { desk.insert("Team", ["name": "Ajax"], $0) }
        let connection = try Connection(path: desk.url.path, access: .readWrite)
        try connection.execute("CREATE VIRTUAL TABLE \(name) USING fts5(text)")
        try connection.execute("INSERT INTO \(name) VALUES ('a note')")
        connection.close()
        let new = MigrationDesk.model([MigrationDesk.entity("Team", [attribute("title", was: "name")])])
        let plan = try rehearsal(old).migrate(to: new)
        #expect(plan.statements.contains("ALTER TABLE ZTEAM RENAME COLUMN ZNAME TO ZTITLE"))
    }

    /// A statement reads the row for a value only if the row can have one.
    @Test func aNewDerivedAttributeIsComputedOnce() throws {
        func model(_ derived: [String: String]) -> NSManagedObjectModel {
            let attributes = derived.sorted { $0.key < $1.key }.map { name, expression in
                let made = NSDerivedAttributeDescription()
                (made.name, made.attributeType, made.isOptional) = (name, .stringAttributeType, true)
                made.derivationExpression = NSExpression(format: expression)
                return made
            }
            return MigrationDesk.model([MigrationDesk.entity("Team", [attribute("name")] + attributes)])
        }
        let models = [model([:]), model(["upper": "uppercase:(name)"]), model(["upper": "lowercase:(name)"])]
        try desk.make(models[0]) { desk.insert("Team", ["name": "Ajax"], $0) }
        let rehearsal = try rehearsal(models[0])
        func filling(_ plan: LightweightMigrationPlan) -> [String] {
            plan.statements.filter { $0.hasPrefix("UPDATE ZTEAM SET ZUPPER") }
        }
        let first = filling(try rehearsal.migrate(to: models[1]))
        #expect(first.count == 1 && first[0].split(separator: "(SELECT").count == 2, "\(first)")
        let second = filling(try rehearsal.migrate(to: models[2]))
        #expect(second.count == 1 && second[0].split(separator: "(SELECT").count == 3, "\(second)")
        for (model, value) in zip(models.dropFirst(), ["AJAX", "ajax"]) {
            let container = try desk.open(model)
            #expect(
                try desk.all("Team", container.viewContext, by: "name")[0].value(forKey: "upper") as? String == value)
            try desk.close(container)
        }
    }

    @Test func aStepByTheManagerMakesANewFile() throws {
        let models = [
            MigrationDesk.model([MigrationDesk.entity("Team", [attribute("name")])]),
            MigrationDesk.model([MigrationDesk.entity("Team", [attribute("name", .integer64AttributeType)])]),
            MigrationDesk.model([
                MigrationDesk.entity("Team", [attribute("number", .integer64AttributeType, was: "name")])
            ]),
        ]
        try desk.make(models[0]) { desk.insert("Team", ["name": "7"], $0) }
        let rehearsal = try rehearsal(models[0])
        let error = #expect(throws: NSError.self) { try rehearsal.migrate(to: models[1]) }
        #expect(error?.code == 134190)
        let made = try rehearsal.migrateByManager(to: models[1])
        #expect(made.tables.isEmpty)
        #expect(made.statements.contains { $0.hasPrefix("CREATE TABLE ZTEAM") && $0.contains("ZNAME INTEGER") })
        // The next step continues with this schema.
        let last = try rehearsal.migrate(to: models[2])
        #expect(last.statements.contains("ALTER TABLE ZTEAM RENAME COLUMN ZNAME TO ZNUMBER"))
    }

    @Test func aFileThatIsNotAStoreIsReported() throws {
        let model = MigrationDesk.model([MigrationDesk.entity("Team", [attribute("name")])])
        #expect(#expect(throws: NSError.self) { try rehearsal(model) }?.code == 260)
        try Data("no database at all, but a text".utf8).write(to: desk.url)
        #expect(#expect(throws: NSError.self) { try rehearsal(model) }?.code == 259)
    }
}
