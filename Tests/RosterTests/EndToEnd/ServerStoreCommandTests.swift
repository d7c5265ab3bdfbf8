import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// The verbs on a server store.
@Suite(.needs(.server)) struct ServerStoreCommandTests {
    #if PostgreSQL
        private func run(_ arguments: String...) throws -> RosterProcess.Outcome {
            let outcome = try RosterProcess.run(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome
        }

        private static let isThere = PostgreSQLCluster.shared != nil

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func verbsWorkOnAServer() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let sample = try SampleFolder()
            let schema = "verbs_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            // From a file to the server, from there to other files, and back.
            let copied = try run("copy", sample.store, store)
            #expect(copied.lines.contains { $0.hasPrefix("Team: 80 records") })
            let team = copied.lines.first { $0.hasPrefix("Team:") }
            #expect(try run("copy", store, sample.path("back.sqlite")).lines.contains { $0 == team })
            #expect(try run("copy", store, sample.path("back.xml")).lines.contains { $0 == team })
            // An XML store does not contain a model.
            let again = try run(
                "copy", sample.path("back.xml"), sample.path("again.sqlite"), "--model", SampleFolder.model)
            #expect(again.lines.contains { $0 == team })
            let twice = try RosterProcess.run(["copy", sample.store, store])
            #expect(twice.status == 1 && twice.errorLines.count == 1 && twice.errors.contains("already"))

            #expect(
                try run("count", store, "Team", "--where", "wins > 10").output
                    == run("count", sample.store, "Team", "--where", "wins > 10").output)
            let list = ["Team", "--section", "qualifyingZone", "--sort", "wins:desc,teamName", "--limit", "20"]
            #expect(
                try RosterProcess.run(["list", store] + list).output
                    == RosterProcess.run(["list", sample.store] + list).output)
            _ = try run("update", store, "Team", "--where", "teamName == 'Japan'", "wins=99")
            #expect(try run("count", store, "Team", "--where", "wins == 99").output.contains("1"))
            _ = try run("delete", store, "Team", "--where", "teamName == 'Iran'")
            _ = try run("insert", store, "Team", "teamName=Atlantis", "qualifyingZone=UEFA")
            let history = try run("history", store, "--format", "json").lines
            let signature = "\"role\":\"roster\",\"host\":\"[local]\""
            #expect(history.count >= 4 && history.allSatisfy { $0.contains(signature) })
            #expect(try run("history", store, "--format", "csv").lines.first?.hasSuffix(",what,role,host") == true)
            #expect(try run("check", store).output.hasPrefix("found no damage"))
            #expect(try run("export", store, "Team", sample.path("teams.json")).errors == "")
            #expect(try run("model", store).output == run("model", sample.store).output)
        }

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func undividedTablesAreReported()
            throws
        {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "divided_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString + "&partitions=4"
            let made = try run("create", store, "--model", SampleFolder.model)
            #expect(
                made.output.hasSuffix("; not partitioned because they have unique values: Team, Venue"),
                "\(made.output)")
        }

        private static let league = """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Team">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="size" optional="YES" attributeType="Integer 32" derived="YES" \
            derivationExpression="players.@count"/>
                    <relationship name="players" optional="YES" toMany="YES" deletionRule="Nullify" \
            destinationEntity="Player" inverseName="team" inverseEntity="Player"/>
                </entity>
                <entity name="Player">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="teamName" optional="YES" attributeType="String" derived="YES" \
            derivationExpression="uppercase:(team.name)"/>
                    <attribute name="changed" optional="YES" attributeType="Date" derived="YES" \
            derivationExpression="now()"/>
                    <relationship name="team" optional="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="Team" inverseName="players" inverseEntity="Team"/>
                </entity>
            </model>
            """

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func derivedAttributesGoAlong()
            throws
        {
            let cluster = try #require(PostgreSQLCluster.shared)
            let sample = try SampleFolder()
            let schema = "derived_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            let model = URL(fileURLWithPath: sample.path("League.xcdatamodel"))
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            try Data(Self.league.utf8).write(to: model.appendingPathComponent("contents"))
            let file = sample.path("league.sqlite")
            _ = try run("create", file, "--model", model.path)
            _ = try run("insert", file, "Team", "name=Žižkov")
            for name in ["a", "b"] { _ = try run("insert", file, "Player", "name=\(name)", "team=Team/p1") }
            _ = try run("copy", file, store)
            let list = { (place: String) in try self.run("list", place, "Team", "--format", "csv").output }
            #expect(try list(store) == list(file))
            _ = try run("insert", store, "Player", "name=c", "team=Team/p1")
            #expect(try list(store).contains("Žižkov,3"))
            let players = try run("list", store, "Player", "--format", "csv").lines
            #expect(players.count == 4 && players.dropFirst().allSatisfy { $0.contains("ŽIŽKOV") })
            #expect(try run("check", store).output.hasPrefix("found no damage"))
            #expect(try run("model", store).output == run("model", file).output)
            _ = try run("copy", store, sample.path("back.sqlite"))
            _ = try cluster.psql("UPDATE \"\(schema)\".\"Team\" SET size = 7")
            let wrong = try RosterProcess.run(["check", store])
            #expect(wrong.status != 0 && (wrong.output + wrong.errors).contains("Team.size"))
        }

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func watchFollowsAServer() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "watch_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            _ = try run("insert", store, "Team", "teamName=Japan", "qualifyingZone=AFC", "wins=1")
            let process = try LiveProcess(roster: [
                "watch", store, "Team", "--sort", "wins", "--format", "json", "--timeout", "60",
            ])
            defer { process.killAtOnce() }
            try #require(process.wait(60) { !$0.isEmpty }, "\(process.errorLines)")
            _ = try run("update", store, "Team", "--where", "teamName == 'Japan'", "wins=2")
            #expect(
                process.wait(60) { $0.contains { $0.contains(#""wins":2"#) } }, "\(process.lines) \(process.errorLines)"
            )
        }

        /// The printed lines are valid input for psql, and they give a role the rights that the verbs need.
        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed"))
        func grantsAreTheRightsThatVerbsNeed() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let number = UInt32.random(in: 0 ... .max)
            let (schema, reader, writer) = ("granted_\(number)", "reader_\(number)", "writer_\(number)")
            defer {
                _ = try? cluster.psql(
                    "DROP SCHEMA IF EXISTS \(schema) CASCADE; DROP ROLE \(reader); DROP ROLE \(writer)")
            }
            let store = cluster.url(schema: schema).absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            _ = try run("insert", store, "Team", "teamName=Japan", "qualifyingZone=AFC", "wins=1")
            for role in [reader, writer] { try cluster.psql("CREATE ROLE \(role) LOGIN PASSWORD 's3cret'") }
            try cluster.psql(try run("grants", store, "--role", reader, "--read").output)
            try cluster.psql(try run("grants", store, "--role", writer).output)
            #expect(try run("grants", store).output.contains(" TO :\"role\";"))
            func url(_ role: String) -> String {
                cluster.networkURL(schema: schema, user: role, password: "s3cret").absoluteString
            }
            for role in [reader, writer] {
                #expect(try run("count", url(role), "Team").output == "1")
                _ = try run("list", url(role), "Team", "--section", "qualifyingZone")
                #expect(try run("check", url(role)).output.hasPrefix("found no damage"))
                _ = try run("history", url(role))
            }
            let refused = try RosterProcess.run(["update", url(reader), "Team", "--where", "wins == 1", "wins=2"])
            #expect(refused.status == 1 && refused.errorLines.count == 1, "\(refused.errors)")
            _ = try run("insert", url(writer), "Team", "teamName=Iran", "qualifyingZone=AFC", "wins=1")
            _ = try run("update", url(writer), "Team", "--where", "wins == 1", "wins=2")
            _ = try run("delete", url(writer), "Team", "--where", "teamName == 'Iran'")
            let file = try RosterProcess.run(["grants", SampleFolder().store, "--role", reader])
            #expect(file.status == 1 && file.errorLines.count == 1, "\(file.errors)")
        }

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed"))
        func statementsToAServerAreWrittenDown() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let sample = try SampleFolder()
            let schema = "statements_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            let inserted = try run(
                "insert", store, "Team", "teamName=Ruritania?", "qualifyingZone=AFC", "wins=8", "--sql")
            let insert = try #require(inserted.errorLines.first { $0.contains("INSERT INTO \"\(schema)\".\"Team\"") })
            #expect(insert.hasPrefix("CoreData: sql: INSERT") && insert.contains("ARRAY['Ruritania?']"))
            #expect(insert.firstMatch(of: /\[0 rows, \d+\.\d{3} ms for \d+ statements\]$/) != nil, "\(insert)")
            let log = sample.path("statements.log")
            let counted = try run("count", store, "Team", "--where", "wins > 7", "--sql=\(log)")
            #expect(counted.errors == "")
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            let count = try #require(lines.first { $0.contains("COUNT(") && $0.contains("\"\(schema)\".\"Team\"") })
            #expect(count.contains("> 7") && count.contains("[1 rows, "))
            let wrong = cluster.networkURL(schema: schema, user: "no_such_user", password: "s3cret").absoluteString
            let refused = try RosterProcess.run(["count", wrong, "Team", "--sql"])
            #expect(refused.status == 1 && !refused.errors.contains("s3cret"))
        }

        /// A role that may read the tables, but not their sequences.
        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func aReaderMayCheck() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let number = UInt32.random(in: 0 ... .max)
            let (schema, role) = ("readable_\(number)", "reader_\(number)")
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE; DROP ROLE IF EXISTS \(role)") }
            let store = cluster.url(schema: schema).absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            _ = try run("insert", store, "Team", "teamName=Japan", "qualifyingZone=AFC", "wins=1")
            try cluster.psql(
                "CREATE ROLE \(role) LOGIN PASSWORD 's3cret'; GRANT USAGE ON SCHEMA \(schema) TO \(role); "
                    + "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
            let reader = cluster.networkURL(schema: schema, user: role, password: "s3cret").absoluteString
            #expect(try run("check", reader).output.hasPrefix("found no damage"))
            // Errors are found; reassigned keys only by a role that may read the sequence.
            try cluster.psql("UPDATE \(schema)._store SET changes = changes + 3")
            try cluster.psql("UPDATE \(schema).\"Team\" SET _id = _id + 1000000")
            for (place, findsKeys) in [(reader, false), (store, true)] {
                let wrong = try RosterProcess.run(["check", place])
                let said = wrong.output + wrong.errors
                #expect(wrong.status != 0 && said.contains("3 transactions of the history"), "\(said)")
                #expect(said.contains("will use again") == findsKeys && !said.contains("s3cret"), "\(said)")
            }
        }

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed"))
        func mistakesAreOneLineWithoutThePassword() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let wrong = cluster.networkURL(schema: "x", user: "no_such_user", password: "s3cret").absoluteString
            for arguments in [
                ["count", wrong, "Team"], ["create", wrong, "--model", SampleFolder.model], ["model", wrong],
                ["count", cluster.url(schema: "empty").absoluteString, "Team"],
            ] {
                let outcome = try RosterProcess.run(arguments)
                #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(arguments): \(outcome.errors)")
                #expect(!outcome.errors.contains("s3cret"))
            }
        }

        /// Each statement may be a round trip: their number is limited, whatever the number of records.
        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func verbsAskAHandfulOfTimes()
            throws
        {
            let cluster = try #require(PostgreSQLCluster.shared)
            let sample = try SampleFolder()
            let schema = "handful_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            let log = sample.path("statements.log")
            func statements(_ arguments: String...) throws -> [Substring] {
                try? FileManager.default.removeItem(atPath: log)
                let outcome = try RosterProcess.run(arguments + ["--sql=\(log)"])
                #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
                return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            }
            _ = try run("copy", sample.store, store)
            let count = try statements("count", store, "Team")
            #expect(count.count <= 4, "\(count)")
            let list = try statements("list", store, "Team")
            #expect(list.count <= 7, "\(list)")
            let copy = try statements("copy", store, sample.path("copied.sqlite")).filter {
                $0.contains("\"\(schema)\"")
            }
            #expect(copy.count <= 23, "\(copy)")
        }

        /// Other users of the machine can list the arguments of a process.
        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed"))
        func theProcessListShowsNoPassword() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let number = UInt32.random(in: 0 ... .max)
            let (schema, role) = ("listed_\(number)", "listed_\(number)")
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE; DROP ROLE IF EXISTS \(role)") }
            _ = try run("create", cluster.url(schema: schema).absoluteString, "--model", SampleFolder.model)
            try cluster.psql(
                "CREATE ROLE \(role) LOGIN PASSWORD 's3cret'; GRANT USAGE ON SCHEMA \(schema) TO \(role); "
                    + "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
            let store = cluster.networkURL(schema: schema, user: role, password: "s3cret").absoluteString
            let process = try LiveProcess(roster: ["watch", store, "Team", "--timeout", "60"])
            defer { process.killAtOnce() }
            try #require(process.wait(60) { !$0.isEmpty }, "\(process.errorLines)")
            let arguments = try String(contentsOfFile: "/proc/\(process.identifier)/cmdline", encoding: .utf8)
            #expect(arguments.contains(role) && arguments.contains("******@") && !arguments.contains("s3cret"))
        }
    #else
        @Test func withoutTheTraitOneLineShowsHowToBuild() throws {
            let outcome = try RosterProcess.run(["count", "postgresql://me:s3cret@localhost/db", "Team"])
            #expect(outcome.status == 1 && outcome.errorLines.count == 1)
            #expect(outcome.errors.contains("--traits PostgreSQL") && !outcome.errors.contains("s3cret"))
        }
    #endif

    @Test(arguments: [
        "postgers://me:s3cret@db.example/production", "postgresql:/me:s3cret@db.example/production",
        "postgresql:me:s3cret@db.example", "Postgresql://me:s3cret@db.example/production",
        "pg://db.example/production?user=me&password=s3cret",
        "postgresql://me:s3/cret@db.example/x", "postgresql://me:s3cret@db.example:port/x",
    ])
    func mistypedURLsAreReportedWithoutTheirPassword(url: String) throws {
        for arguments in [["count", url, "Team"], [url], [url, "x"], ["copy", url, "/nowhere/x"], ["model", url]] {
            let outcome = try RosterProcess.run(arguments)
            #expect(outcome.status != 0 && outcome.errorLines.count == 1, "\(arguments): \(outcome.errors)")
            #expect(!outcome.errors.contains("cret"), "\(outcome.errors)")
        }
    }
}
