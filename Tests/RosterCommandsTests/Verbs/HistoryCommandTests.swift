import Foundation
import Testing

@testable import RosterCommands

@Suite struct HistoryCommandTests {
    private let sample: SampleStore

    init() throws { sample = try SampleStore() }

    private func history(
        since: String? = nil, author: String? = nil, entity: String? = nil, format: OutputFormat = .json
    ) throws -> [String] {
        let surroundings = TestSurroundings()
        try HistoryCommand(
            store: sample.location, since: since.map { try HistoryCommand.Place($0) }, author: author, entity: entity,
            format: format
        ).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    private func objects(_ lines: [String]) throws -> [[String: Any]] {
        try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    private func delete(before place: String) throws -> [String] {
        let surroundings = TestSurroundings()
        try HistoryCommand.delete(before: HistoryCommand.Place(place), in: sample.location, surroundings.surroundings())
        return surroundings.lines
    }

    private func numbers(_ lines: [String]) throws -> [Int] {
        try objects(lines).compactMap { $0["transaction"] as? Int }
    }

    @Test func printsTransactionsWithTheirChanges() throws {
        try sample.importFile("new.json", #"{"teamName":"Japan","wins":9}"#)
        let all = try objects(try history())
        let last = try #require(all.last)
        let changes = try #require(last["changes"] as? [[String: Any]])
        #expect(changes.first?["change"] as? String == "update")
        #expect((changes.first?["properties"] as? [String])?.contains("wins") == true)
        #expect((changes.first?["object"] as? String)?.contains("/Team/p") == true)

        let number = try #require(last["transaction"] as? Int)
        #expect(try numbers(try history(since: "\(number - 1)")) == [number])
        #expect(try history(since: "2999-01-01T00:00:00Z").isEmpty)
        #expect(try history(author: "nobody").isEmpty)
        let table = try history(since: "\(number - 1)", entity: "Team", format: .table)
        #expect(table.count == 2 && table[1].contains("update") && table[1].contains("wins"))
        #expect(try history(since: "\(number - 1)", entity: "Venue").isEmpty)
        #expect(try history(since: "\(number - 1)", format: .csv).count == 2)
    }

    @Test func removesTheBeginning() throws {
        try sample.importFile("new.json", #"{"teamName":"Japan","wins":9}"#)
        let before = try numbers(try history())
        let last = try #require(before.last)
        #expect(try delete(before: "\(last)") == ["removed \(before.count - 1) transactions"])
        #expect(try numbers(try history()) == [last])
        let error = #expect(throws: CommandError.self) { try delete(before: "\(last + 1)") }
        #expect(error?.message.contains("nothing was deleted") == true)
        #expect(try delete(before: "2999-01-01T00:00:00Z") == ["removed 1 transaction"])
        #expect(try history().isEmpty)
        #expect(try sample.count("Team") == 80)
    }

    @Test(arguments: ["yesterday", "-1", ""]) func refusesInvalidPositions(text: String) {
        let error = #expect(throws: CommandError.self) { try HistoryCommand.Place(text) }
        #expect(error?.kind == .misuse)
    }
}
