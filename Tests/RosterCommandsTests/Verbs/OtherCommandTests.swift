import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

@Suite struct OtherCommandTests {
    private let sample: SampleStore
    private let surroundings = TestSurroundings()

    init() throws { sample = try SampleStore() }

    private func show(_ object: String, format: OutputFormat = .table) throws -> [String] {
        let surroundings = TestSurroundings()
        try ShowCommand(store: sample.location, object: object, format: format).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    // MARK: show, count

    @Test func showsByKeyByNumberAndByURI() throws {
        let lines = try show("Team:Japan", format: .json)
        let line = try #require(lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let uri = try #require(object["object"] as? String)
        #expect(try show(uri, format: .json) == lines)
        let place = uri.split(separator: "/").suffix(2).joined(separator: "/")
        #expect(try show(place, format: .json) == lines)
    }

    @Test func showsRelationshipsOfBothKinds() throws {
        let lines = try show("Venue:Wembley Stadium")
        #expect(lines.first?.hasPrefix("Wembley Stadium  x-coredata://") == true)
        #expect(lines.contains { $0.hasPrefix("teams") && $0.hasSuffix("1 Team") })
        #expect(try show("Venue:Al Bayt Stadium").contains { $0.hasPrefix("teams") && $0.hasSuffix("0 Teams") })
        #expect(lines.contains { $0.contains("→ England (Team/p") })
        #expect(lines.contains { $0.hasPrefix("location") && $0.contains("→ Location/p") })
    }

    @Test(arguments: [
        ("Team:Atlantis", CommandError.Kind.failure), ("Team/p99999", .failure), ("Japan", .misuse),
        ("Tem:Japan", .misuse), ("x-coredata://nowhere/Team/p1", .failure), ("", .misuse),
    ]) func refusesValuesThatAreNotRecords(object: String, kind: CommandError.Kind) throws {
        let error = #expect(throws: CommandError.self) { try show(object) }
        #expect(error?.kind == kind, "\(error?.message ?? "")")
    }

    @Test func counts() throws {
        #expect(try sample.count("Team", where: "titles > 0") == 8)
        #expect(try sample.count("Team", where: "teamName BEGINSWITH[cd] 'c'") == 9)
        #expect(try sample.count("Venue", where: "ANY teams.titles > 2") == 4)
    }

    // MARK: Numbers of any size

    @Test func aRateOrATimeOfAnySizeStopsNothing() throws {
        for rate in [1e-300, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            let surroundings = TestSurroundings()
            surroundings.raisesAfterLooks = 1
            let error = #expect(throws: CommandError.self) {
                try SimulateCommand(store: sample.location, rate: rate, count: 5, seed: 1).run(
                    in: surroundings.surroundings())
            }
            #expect(error?.message.contains("interrupted") == true)
        }
        #expect(Duration.given(seconds: .infinity) == Duration.given(seconds: 1e300))
        #expect(Duration.given(seconds: 0.25) == .milliseconds(250))
    }

    /// A number at the limit of its type is an error, not an overflow (issue 24, point 3).
    @Test(arguments: ["wins = 9223372036854775807", "goalsFor = 9223372036854775807"])
    func aSeasonOfTeamsAtTheirLimitsIsAnError(setting: String) throws {
        let connection = try Connection(path: sample.location.store, access: .readWrite)
        try connection.execute("UPDATE ZTEAM SET Z\(setting)")
        connection.close()
        let error = #expect(throws: (any Error).self) {
            try SimulateCommand(store: sample.location, count: 50, seed: 1).run(in: surroundings.surroundings())
        }
        #expect("\(error as Any)".contains("\(setting.prefix { $0 != " " }) cannot grow any more"))
    }

    // MARK: A store that lacks a column

    /// `list` reports once what it does not show, `check` reports the error, and filtering by such a property fails.
    @Test func unreadablePropertiesAreReported() throws {
        let connection = try Connection(path: sample.location.store, access: .readWrite)
        try connection.execute("ALTER TABLE ZTEAM RENAME COLUMN ZTITLES TO ZOLD")
        connection.close()
        try ListCommand(store: sample.location, entity: "Team", columns: ["teamName", "titles"], format: .csv).run(
            in: surroundings.surroundings())
        #expect(surroundings.lines.contains("Japan,"))
        #expect(surroundings.notes.count == 1)
        let reason = "the table ZTEAM has no column ZTITLES"
        #expect(surroundings.notes.first?.hasPrefix("Team.titles: \(reason)") == true)
        #expect {
            try sample.count("Team", where: "titles > 0")
        } throws: { error in
            (error as NSError).code == 134020 && error.localizedDescription.contains("Team.titles")
        }
        let checking = TestSurroundings()
        let error = #expect(throws: CommandError.self) {
            try CheckCommand(store: sample.location).run(in: checking.surroundings())
        }
        #expect(error?.message.hasPrefix("1 finding") == true)
        #expect(checking.lines == ["schema: Team.titles cannot be read: \(reason)"])
    }

    @Test func errorsAreRepairedAndACopyIsKept() throws {
        var lines: [String] = []
        func check(_ location: StoreLocation, repairs: Bool = false, format: OutputFormat = .table) throws -> [String] {
            let surroundings = TestSurroundings()
            defer { lines = surroundings.lines }
            try CheckCommand(store: location, repairs: repairs, format: format).run(in: surroundings.surroundings())
            return surroundings.lines
        }
        let store = sample.location.store
        let connection = try Connection(path: store, access: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Team'")
        try connection.execute("UPDATE ZTEAM SET ZHOMEVENUE = 9999 WHERE Z_PK = 3")
        connection.close()
        let error = try #require(throws: CommandError.self) { try check(sample.location, format: .json) }
        #expect(error.message.hasSuffix("--repair copies the store and repairs 2 of them"))
        #expect(lines.count == 2 && lines[0].hasPrefix(#"{"kind":"counter","message":"#))
        let repaired = try check(sample.location, repairs: true)
        #expect(repaired.count == 3 && repaired[1].hasPrefix("reference: row 3 of the table ZTEAM"))
        let end = " is a copy from before the repair"
        let last = try #require(repaired.last)
        #expect(last.hasPrefix("repaired 2 findings; ") && last.hasSuffix(end))
        let copy = String(last.dropFirst("repaired 2 findings; ".count).dropLast(end.count))
        #expect(throws: CommandError.self) { try check(StoreLocation(store: copy)) }
        #expect(lines.count == 2)
        #expect(try check(sample.location) == ["found no damage in \(store)"])
        #expect(try sample.count("Team") == 80)
    }

    // MARK: create, model

    @Test func createRefusesAnExistingFile() throws {
        let error = #expect(throws: CommandError.self) {
            try CreateCommand(store: sample.location.store, model: SampleFiles.model).run(
                in: surroundings.surroundings())
        }
        #expect(error?.message.contains("already") == true)
        #expect(try sample.count("Team") == 80)
    }

    @Test func modelOfAStoreAndOfAFileAreTheSame() throws {
        try ModelCommand(path: sample.location.store, format: .json).run(in: surroundings.surroundings())
        let other = TestSurroundings()
        try ModelCommand(path: SampleFiles.model, format: .json).run(in: other.surroundings())
        #expect(surroundings.lines == other.lines)
        #expect(surroundings.lines.count == 3)
        #expect(surroundings.lines[1].contains(#""unique":[["teamName"]]"#))
        let text = TestSurroundings()
        try ModelCommand(path: sample.location.store).run(in: text.surroundings())
        #expect(text.lines.contains("  wins             Integer 32, required, default 0, must be SELF >= 0"))
        #expect(text.lines.contains("  homeVenue        → Venue.teams, to one, delete rule nullify"))
    }

    // MARK: simulate

    private func simulate(_ location: StoreLocation, seed: UInt64, count: Int = 30) throws -> [String] {
        let surroundings = TestSurroundings()
        try SimulateCommand(store: location, count: count, seed: seed).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    @Test func theSameSeedPlaysTheSameMatches() throws {
        let other = try SampleStore()
        let matches = try simulate(sample.location, seed: 1)
        #expect(try simulate(other.location, seed: 1) == matches)
        #expect(matches.count == 30)
        let columns = ["teamName", "wins", "draws", "losses", "goalsFor", "goalsAgainst"]
        #expect(try sample.list(columns: columns) == other.list(columns: columns))
        #expect(try simulate(other.location, seed: 2) != matches)
    }

    @Test func everyMatchHasAWinnerAndALoserOrTwoDraws() throws {
        _ = try simulate(sample.location, seed: 3)
        let rows = try sample.list(columns: ["wins", "draws", "losses", "goalsFor", "goalsAgainst"]).dropFirst()
        var sums = [0, 0, 0, 0, 0]
        for row in rows {
            for (index, value) in row.split(separator: ",").enumerated() { sums[index] += Int(value) ?? 0 }
        }
        #expect(sums[0] == sums[2])
        #expect(sums[3] == sums[4])
        #expect(sums[0] + sums[1] / 2 == 964 + 30)
    }

    @Test func aStoreWithoutTeamsCannotPlay() throws {
        let empty = StoreLocation(store: sample.folder.path("empty.sqlite"))
        try CreateCommand(store: empty.store, model: SampleFiles.model).run(in: surroundings.surroundings())
        let error = #expect(throws: CommandError.self) { try simulate(empty, seed: 1) }
        #expect(error?.kind == .failure)
    }

    // MARK: Invalid stores

    @Test func refusesAFileThatIsNotAStore() throws {
        let text = StoreLocation(
            store: try sample.folder.file("text.sqlite", "not a database, but long enough to be read"))
        let nothing = StoreLocation(store: sample.folder.path("nothing.sqlite"))
        for location in [text, nothing, StoreLocation(store: sample.folder.url.path)] {
            let error = #expect(throws: (any Error).self) {
                try CountCommand(store: location, entity: "Team").run(in: surroundings.surroundings())
            }
            let line = CommandError.line(for: try #require(error))
            #expect(!line.isEmpty && !line.contains("\n"))
        }
        #expect(!FileManager.default.fileExists(atPath: nothing.store))
        let error = #expect(throws: CommandError.self) {
            try CountCommand(store: StoreLocation(store: "https://example.org/x"), entity: "Team")
                .run(in: surroundings.surroundings())
        }
        #expect(error?.kind == .misuse)
    }
}
