import Foundation
import Testing

/// The sample's facts are consistent: one team's wins are others' losses, and every match had a venue.
@Suite struct SampleDataTests {
    private let teams: [[String: Any]]
    private let venues: [[String: Any]]

    init() throws {
        teams = try Self.records(in: "teams.json")
        venues = try Self.records(in: "venues.json")
    }

    @Test func theRecordsAddUpToTheTournaments() throws {
        #expect(teams.count == 80)
        let (wins, draws, losses) = (try sum("wins"), try sum("draws"), try sum("losses"))
        #expect(wins == losses)
        #expect(draws.isMultiple(of: 2))
        #expect(wins + draws / 2 == 964)
        #expect(try sum("goalsFor") == 2720)
        #expect(try sum("goalsAgainst") == 2720)
        #expect(try sum("titles") == 22)
    }

    @Test func everyMatchHadAVenue() throws {
        #expect(venues.count { ($0["specialCount"] as? Int ?? 0) > 0 } >= 60)
        #expect(try venues.reduce(0) { try $0 + #require($1["specialCount"] as? Int) } == 964)
    }

    @Test func champions() throws {
        for team in teams {
            let name = try #require(team["teamName"] as? String)
            let (titles, best) = (try #require(team["titles"] as? Int), try #require(team["bestFinish"] as? String))
            let years = best.split(separator: ",").count
            #expect(titles == (best.hasPrefix("Winners") ? years : 0), "\(name)")
        }
    }

    @Test func everyTeamNamesItsOwnVenue() throws {
        let names = try venues.map { try #require($0["name"] as? String) }
        #expect(Set(names).count == names.count)
        let homes = try teams.map { try #require($0["homeVenue"] as? String) }
        #expect(Set(homes).count == homes.count)
        #expect(Set(homes).isSubset(of: names))
    }

    @Test func zonesAndDatesAreWellFormed() throws {
        let zones = ["AFC", "CAF", "CONCACAF", "CONMEBOL", "OFC", "UEFA"]
        #expect(try Set(teams.map { try #require($0["qualifyingZone"] as? String) }) == Set(zones))
        for team in teams {
            let day = try #require(team["firstAppearance"] as? String)
            let date = try Date(day + "T00:00:00Z", strategy: .iso8601)
            #expect(date >= (try Date("1930-07-13T00:00:00Z", strategy: .iso8601)), "\(team)")
            #expect(date <= (try Date("2022-12-18T00:00:00Z", strategy: .iso8601)), "\(team)")
        }
    }

    @Test func distancesAreThoseFromTheCentenario() throws {
        for venue in venues {
            let place = try #require(venue["location"] as? [String: Any])
            let latitude = try #require(place["latitude"] as? Double)
            let longitude = try #require(place["longitude"] as? Double)
            let distance = try #require(place["distance"] as? Double)
            #expect(abs(latitude) <= 90 && abs(longitude) <= 180)
            let computed = Self.kilometres(fromLatitude: -34.8945, longitude: -56.1528, to: latitude, longitude)
            #expect(abs(computed - distance) < 0.06, "\(venue["name"] ?? "")")
        }
    }

    private func sum(_ key: String) throws -> Int {
        try teams.reduce(0) { try $0 + #require($1[key] as? Int) }
    }

    private static func records(in file: String) throws -> [[String: Any]] {
        let data = try Data(contentsOf: SampleFiles.folder.appendingPathComponent(file))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    private static func kilometres(
        fromLatitude: Double, longitude: Double, to toLatitude: Double, _ toLongitude: Double
    ) -> Double {
        let radians = Double.pi / 180
        let (a, b) = (fromLatitude * radians, toLatitude * radians)
        let half = sin((b - a) / 2)
        let across = sin((toLongitude - longitude) * radians / 2)
        return 2 * 6371.0088 * asin((half * half + cos(a) * cos(b) * across * across).squareRoot())
    }
}
