import Testing

@testable import RosterCommands

@Suite struct SortKeyTests {
    private static let keys = [SortKey(keyPath: "wins", ascending: false), SortKey(keyPath: "venue.name")]

    @Test(arguments: [
        "wins:desc,venue.name", "wins:desc, venue.name:asc", "wins desc, venue.name", "-wins venue.name",
        "-wins,+venue.name", "wins descending venue.name ascending", "wins :desc venue.name",
    ])
    func keysAreWrittenInAnyWay(_ text: String) throws { #expect(try SortKey.parse(text) == Self.keys) }

    /// A key may have the name of a direction.
    @Test func theFirstWordIsAKey() throws {
        #expect(try SortKey.parse("desc desc, asc").map(\.keyPath) == ["desc", "asc"])
    }

    @Test(arguments: ["", "wins,", ",wins", "-", "wins:", "wins:down", ":desc"])
    func otherTextsAreRefused(_ text: String) { #expect(throws: CommandError.self) { try SortKey.parse(text) } }
}
