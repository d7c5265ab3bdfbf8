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
        (RecordQuery(predicate: "wins >"), "does not parse"),
        (RecordQuery(predicate: "winz > 3"), "no property “winz”"),
        (RecordQuery(predicate: "homeVenue.towns == 'x'"), "no property “towns”"),
        (RecordQuery(sort: [SortKey(keyPath: "Wins")]), "did you mean wins?"),
        (RecordQuery(section: "zone"), "no property “zone”"), (RecordQuery(section: "homeVenue"), "make sections by"),
        (RecordQuery(section: "teamName.x"), "nothing can follow it"),
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
}
