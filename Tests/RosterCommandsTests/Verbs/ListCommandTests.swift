import Foundation
import Testing

@testable import RosterCommands

@Suite struct ListCommandTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private let grouped = RecordQuery(
        sort: [SortKey(keyPath: "wins", ascending: false), SortKey(keyPath: "teamName")], section: "qualifyingZone")

    @Test func sectionsHaveTrueCounts() throws {
        #expect(
            try sample.list("Team", grouped, sectionsOnly: true) == [
                "name,count", "AFC,12", "CAF,13", "CONCACAF,11", "CONMEBOL,9", "OFC,1", "UEFA,34",
            ])
    }

    @Test func tablePutsRecordsUnderTheirSections() throws {
        let lines = try sample.list("Team", grouped, columns: ["teamName", "wins"], format: .table)
        #expect(lines.count == 1 + 6 + 80)
        #expect(lines.prefix(3) == ["  teamName                wins", "AFC (12)", "  Japan                      7"])
        #expect(lines.contains("UEFA (34)"))
        let start = try #require(lines.firstIndex(of: "CONMEBOL (9)"))
        #expect(lines[start + 1] == "  Brazil                    76")
    }

    @Test func jsonIsOneObjectALine() throws {
        let lines = try sample.list(
            "Team", RecordQuery(predicate: "teamName == 'Japan'"), format: .json)
        let line = try #require(lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["localName"] as? String == "日本")
        #expect(object["wins"] as? Int == 7)
        #expect(object["favorite"] as? Bool == true)
        #expect(object["firstAppearance"] as? String == "1998-06-14T00:00:00Z")
        #expect(object["homeVenue"] as? String == "Saitama Stadium 2002")
        #expect((object["object"] as? String)?.hasPrefix("x-coredata://") == true)
        #expect(lines.count == 1)
    }

    @Test func columnsFollowRelationships() throws {
        let query = RecordQuery(predicate: "homeVenue.city == 'Tokyo' OR homeVenue.city == 'Oslo'")
        #expect(
            try sample.list("Team", query, columns: ["teamName", "homeVenue.city", "homeVenue.location.latitude"]) == [
                "teamName,homeVenue.city,homeVenue.location.latitude", "Norway,Oslo,59.9489",
            ])
    }

    @Test func limitAndOffsetCutTheList() throws {
        let all = try sample.list("Team", RecordQuery(sort: [SortKey(keyPath: "teamName")]), columns: ["teamName"])
        let cut = try sample.list(
            "Team", RecordQuery(sort: [SortKey(keyPath: "teamName")], limit: 3, offset: 10), columns: ["teamName"])
        #expect(cut.dropFirst() == all.dropFirst(11).prefix(3))
    }

    @Test func toManyIsAListOfLabels() throws {
        let query = RecordQuery(predicate: "name == 'Wembley Stadium'")
        #expect(
            try sample.list("Venue", query, columns: ["name", "teams"], format: .json) == [
                #"{"name":"Wembley Stadium","teams":["England"]}"#
            ])
    }

    @Test func aSectionMayCrossARelationship() throws {
        let query = RecordQuery(predicate: "homeVenue.opened > 2016", section: "homeVenue.opened")
        let lines = try sample.list("Team", query, sectionsOnly: true)
        #expect(lines.first == "name,count")
        #expect(lines.count > 2)
        #expect(lines.dropFirst() == lines.dropFirst().sorted()[...])
    }

    @Test(arguments: [
        (RecordQuery(predicate: "wins >"), "invalid predicate"),
        (RecordQuery(predicate: "winz > 3"), "no property “winz”"),
        (RecordQuery(predicate: "homeVenue.towns == 'x'"), "no property “towns”"),
        (RecordQuery(sort: [SortKey(keyPath: "Wins")]), "did you mean wins?"),
        (RecordQuery(section: "zone"), "no property “zone”"), (RecordQuery(section: "homeVenue"), "make sections by"),
        (RecordQuery(section: "teamName.x"), "only a to-one relationship can precede a dot"),
    ]) func refusesWhatTheEntityDoesNotHave(query: RecordQuery, reason: String) throws {
        let error = #expect(throws: CommandError.self) { try sample.list("Team", query) }
        #expect(error?.kind == .misuse)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func refusesAnUnknownEntity() throws {
        let error = #expect(throws: CommandError.self) { try sample.list("team") }
        #expect(error?.kind == .misuse)
        #expect(error?.message == "the model has no entity “team”; did you mean Team?")
    }

    @Test func sectionsOnlyNeedsASection() throws {
        let error = #expect(throws: CommandError.self) { try sample.list(sectionsOnly: true) }
        #expect(error?.kind == .misuse)
    }

    // MARK: Kinds of sections

    @Test func sectionsByYearWithWhatIsComputedOfThem() throws {
        let query = RecordQuery(
            section: "firstAppearance:year", aggregates: AggregateQuery(sum: ["goalsFor"], avg: ["wins"]))
        let lines = try sample.list("Team", query, sectionsOnly: true, format: .json)
        let first = try #require(lines.first)
        #expect(first.hasPrefix(#"{"name":"1930","count":13,"sum":{"goalsFor":"#), "\(first)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
        let teams = try sample.list(
            "Team", RecordQuery(predicate: "firstAppearance < '1931-01-01T00:00:00Z'"),
            columns: ["goalsFor", "wins"]
        ).dropFirst().map { $0.split(separator: ",").compactMap { Int($0) } }
        #expect(teams.count == 13)
        let goals: Int = teams.reduce(0) { $0 + $1[0] }
        let wins: Int = teams.reduce(0) { $0 + $1[1] }
        let sum = try #require((object["sum"] as? [String: Int])?["goalsFor"])
        let average = try #require((object["avg"] as? [String: Double])?["wins"])
        let error: Double = average - Double(wins) / 13
        #expect(sum == goals)
        #expect(abs(error) < 1e-9)
    }

    @Test func sectionsByLetterSizeAndLevels() throws {
        let letters = try sample.list("Team", RecordQuery(section: "teamName:letter:desc"), sectionsOnly: true)
        #expect(letters.count > 10)
        let initials: [String] = letters.dropFirst().map { String($0.prefix(1)) }
        #expect(initials == initials.sorted(by: >))
        let sizes = try sample.list("Venue", RecordQuery(section: "capacity:bucket(10000)"), sectionsOnly: true)
        #expect(sizes.contains { $0.hasPrefix("40000–49999,") })
        #expect(
            try sample.list("Venue", RecordQuery(section: "opened:year"), sectionsOnly: true).contains {
                $0.hasPrefix("1930,")
            })
        let levels = try sample.list(
            "Team", RecordQuery(section: "qualifyingZone/titles:desc", aggregates: AggregateQuery(max: ["wins"])),
            sectionsOnly: true)
        #expect(levels[0] == "name,count,max wins")
        #expect(levels[1].hasPrefix("AFC,12,"))
        #expect(levels[2].hasPrefix("AFC/0,12,"))
        let json = try sample.list(
            "Team", RecordQuery(section: "qualifyingZone/titles"), sectionsOnly: true, format: .json)
        #expect(json.first == #"{"name":"AFC","count":12,"sections":[{"name":"0","count":12}]}"#)
        let table = try sample.list(
            "Team", RecordQuery(section: "qualifyingZone/titles"), sectionsOnly: true, format: .table)
        #expect(table[2].hasPrefix("  0"))
    }

    @Test func recordsAreListedUnderTheirSections() throws {
        let query = RecordQuery(
            predicate: "teamName BEGINSWITH 'S'", sort: [SortKey(keyPath: "teamName")],
            section: "wins:bucket(10)", aggregates: AggregateQuery(sum: ["wins"], min: ["teamName"]))
        let lines = try sample.list("Team", query, columns: ["teamName"], format: .table)
        let first = try #require(lines.dropFirst().first)
        #expect(first.hasPrefix("0–9 ("), "\(first)")
        #expect(first.contains("), sum wins "), "\(first)")
        #expect(first.contains(", min teamName S"), "\(first)")
        let total = try sample.list(
            "Team", RecordQuery(aggregates: AggregateQuery(sum: ["titles"])), sectionsOnly: true, format: .json)
        #expect(total == [#"{"name":"","count":80,"sum":{"titles":22}}"#])
    }

    @Test(arguments: [
        ("teamName:year", "not a date"), ("teamName:bucket(10)", "not a number"), ("wins:letter", "not text"),
        ("wins:bucket(0)", "greater than 0"), ("wins:bucket(x)", "greater than 0"), ("wins:weekly", "Use year"),
        ("wins/", "no key"), (":year", "no key"), ("wins/zone:year", "no property"),
    ]) func refusesInvalidSections(section: String, reason: String) throws {
        let error = #expect(throws: CommandError.self) {
            try sample.list("Team", RecordQuery(section: section), sectionsOnly: true)
        }
        #expect(error?.kind == .misuse)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func aggregatesNeedSectionsAndNumbers() throws {
        let wrong: [(RecordQuery, Bool)] = [
            (RecordQuery(aggregates: AggregateQuery(sum: ["wins"])), false),
            (RecordQuery(section: "titles", aggregates: AggregateQuery(sum: ["winz"])), true),
            (RecordQuery(section: "titles", aggregates: AggregateQuery(sum: ["teamName"])), true),
        ]
        for (query, isOnly) in wrong {
            let error = #expect(throws: CommandError.self) { try sample.list("Team", query, sectionsOnly: isOnly) }
            #expect(error?.kind == .misuse)
        }
    }
}
