import Testing

@testable import ManagedExpansion

/// Expansion of `@ManagedMethod`, and its errors where it is not allowed.
@Suite struct ManagedMethodMacroTests {
    private func expansion(_ text: String) -> Expansion {
        ManagedMethodMacro.expand(text, in: Surroundings(["extension Team {}"]), attributeOffset: 0)
    }

    @Test(arguments: [
        ("func addToPlayers(_ value: Player)", "self[members: \"players\"].add(value)"),
        ("public func removeFromPlayers(_ values: NSSet)", "self[members: \"players\"].remove(values)"),
        ("func insertIntoPlayers(_ value: Player, at idx: Int)", "self[members: \"players\"].insert(value, at: idx)"),
        (
            "func insertIntoP(_ values: [Player], at indexes: NSIndexSet)",
            "self[members: \"p\"].insert(values, at: indexes)"
        ),
        ("func removeFromPlayers(at idx: Int)", "self[members: \"players\"].remove(at: idx)"),
        (
            "func replacePlayers(at idx: Int, with value: Player)",
            "self[members: \"players\"].replace(at: idx, with: value)"
        ),
        ("func addPlayersObject(_ value: Player)", "self[members: \"players\"].add(value)"),
        ("func addPlayersObject(value: Player)", "self[members: \"players\"].add(value)"),
        ("func removePlayersObject(_ value: Player)", "self[members: \"players\"].remove(value)"),
        ("func addPlayers(_ values: Set<Player>)", "self[members: \"players\"].add(values)"),
        ("func removePlayers(_ values: NSSet)", "self[members: \"players\"].remove(values)"),
        (
            "func insertObject(_ v: Player, inPlayersAtIndex i: Int)", "self[members: \"players\"].insert(v, at: i)"
        ),
        ("func removeObjectFromPlayersAtIndex(_ i: Int)", "self[members: \"players\"].remove(at: i)"),
        (
            "func replaceObjectInPlayersAtIndex(_ i: Int, withObject v: Player)",
            "self[members: \"players\"].replace(at: i, with: v)"
        ),
        ("func insertPlayers(_ v: [Player], atIndexes i: NSIndexSet)", "self[members: \"players\"].insert(v, at: i)"),
        ("func removePlayersAtIndexes(_ i: NSIndexSet)", "self[members: \"players\"].remove(at: i)"),
        (
            "func replacePlayersAtIndexes(_ i: NSIndexSet, withPlayers v: [Player])",
            "self[members: \"players\"].replace(at: i, with: v)"
        ),
        ("func addToURLs(_ `in`: Link)", "self[members: \"uRLs\"].add(`in`)"),
    ])
    func theBodyGoesByTheName(text: String, body: String) {
        #expect(expansion("@ManagedMethod " + text) == .code("{\n    \(body)\n}"))
    }

    @Test(arguments: [
        ("@ManagedMethod static func addToPlayers(_ value: Player)", "static", "cannot be 'static'"),
        ("@ManagedMethod func addToPlayers(_ value: Player) throws", "throws", "cannot be 'throws'"),
        ("@ManagedMethod func addToPlayers(_ value: Player) async", "async", "cannot be 'async'"),
        ("@ManagedMethod func addToPlayers(_ value: Player) -> Int", "->", "have no result"),
        ("@ManagedMethod func addToPlayers(_ value: Player) { }", "{", "generates the body"),
        ("@ManagedMethod func cheer(_ value: Player)", "cheer", "'cheer(_:)'"),
        ("@ManagedMethod func addToPlayers()", "addToPlayers", "'addToPlayers()'"),
        ("@ManagedMethod func addToPlayers(_ a: Player, b: Int)", "addToPlayers", "'addToPlayers(_:b:)'"),
        ("@ManagedMethod func addToPlayers(_: Player)", "addToPlayers", "names for all parameters"),
        ("@ManagedMethod init(value: Int)", "init", "is for methods"),
    ])
    func whatCannotBeIsSaidWithItsPlace(text: String, place: String, message: String) throws {
        guard case .mistakes(let mistakes) = expansion(text) else { Issue.record("no mistake"); return }
        let mistake = try #require(mistakes.first)
        #expect(mistakes.count == 1 && mistake.message.contains(message), "\(mistake.message)")
        let found = String(decoding: Array(text.utf8)[mistake.offset...], as: UTF8.self)
        #expect(found.hasPrefix(place), "\(found)")
    }
}
