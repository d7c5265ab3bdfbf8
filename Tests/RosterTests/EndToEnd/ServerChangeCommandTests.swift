import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// The verbs on a server store that becomes unreachable or gets another version.
@Suite(.needs(.server)) struct ServerChangeCommandTests {
    #if PostgreSQL
        private func run(_ arguments: String...) throws -> RosterProcess.Outcome {
            let outcome = try RosterProcess.run(arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome
        }

        private static let isThere = PostgreSQLCluster.shared != nil

        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed")) func aDryRunPrintsItsSQL() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "dry_\(UInt32.random(in: 0 ... .max))"
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(schema)
            defer {
                _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
                try? FileManager.default.removeItem(at: folder)
            }
            let next = folder.appendingPathComponent("Next.xcdatamodel")
            try FileManager.default.createDirectory(at: next, withIntermediateDirectories: true)
            let path = SampleFolder.model + "/WorldCup.xcdatamodel/contents"
            let name = "<attribute name=\"teamName\""
            let added = "<attribute name=\"motto\" optional=\"YES\" attributeType=\"String\"/>"
            try String(contentsOfFile: path, encoding: .utf8).replacingOccurrences(of: name, with: added + name)
                .write(to: next.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            let store = cluster.url(schema: schema).absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            let plan = try run("migrate", store, "--to", next.path, "--dry-run").lines
            let statement = "ALTER TABLE \"\(schema)\".\"Team\" ADD \"motto\" text COLLATE \"C\""
            #expect(plan.contains { $0.hasSuffix(statement + ";") }, "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("     SELECT") })
            let column =
                "SELECT count(*) FROM information_schema.columns WHERE column_name = 'motto' AND table_schema = '\(schema)'"
            #expect(try cluster.psql(column) == "0")
            _ = try run("migrate", store, "--to", next.path)
            #expect(try cluster.psql(column + " AND table_name = 'Team'") == "1")
        }

        /// Only records that were read are printed: none while the server is unreachable, the missed ones later.
        @Test(.needs(.server), .enabled(if: isThere, "PostgreSQL is not installed"))
        func watchPrintsNothingThatItCannotRead() throws {
            let cluster = try #require(PostgreSQLCluster.make(isDurable: true))
            let store = cluster.url(schema: "outage").absoluteString
            _ = try run("create", store, "--model", SampleFolder.model)
            _ = try run("insert", store, "Team", "teamName=Japan", "qualifyingZone=AFC", "wins=1")
            let process = try LiveProcess(roster: [
                "watch", store, "Team", "--sort", "wins", "--format", "json", "--timeout", "120",
            ])
            defer { process.killAtOnce() }
            try #require(process.wait(20) { !$0.isEmpty }, "\(process.errorLines)")
            for round in 2...4 {
                _ = try run(
                    "insert", store, "Team", "teamName=New \(round)", "qualifyingZone=AFC", "wins=\(round * 10)")
                _ = try run("update", store, "Team", "--where", "teamName == 'Japan'", "wins=\(round)")
                try cluster.stop()
                try cluster.start()
                #expect(
                    process.wait(30) { lines in
                        lines.contains { $0.contains("\"wins\":\(round),") || $0.contains("\"wins\":\(round)}") }
                            && lines.contains { $0.contains("New \(round)") }
                    }, "\(process.lines) \(process.errorLines)")
            }
            _ = try run("delete", store, "Team", "--where", "teamName BEGINSWITH 'New'")
            #expect(process.wait(30) { $0.count { $0.contains("delete") } >= 3 }, "\(process.lines)")
            #expect(!process.lines.contains { $0.contains("\"teamName\":null") }, "\(process.lines)")
        }
    #endif
}
