import CSQLite3Raw
import Foundation

/// Parents and children as a Swift program without a framework would store them.
final class RawGraph {
    private struct Child {
        let key: Int64
        let name: String
        let goals: Int64
    }

    private let database: RawDatabase
    private let parents: Int
    private let children: Int

    init(_ url: URL, parents: Int, children: Int) {
        self.parents = parents
        self.children = children
        database = RawDatabase(path: url.path)
        database.execute(
            """
            CREATE TABLE ZCLUB (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
            CREATE TABLE ZPLAYER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZGOALS INTEGER, ZCLUB INTEGER,
              ZNAME VARCHAR);
            CREATE INDEX ZPLAYER_ZCLUB_INDEX ON ZPLAYER (ZCLUB);
            """)
    }

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func insert() {
        database.execute("BEGIN IMMEDIATE")
        database.with("INSERT INTO ZCLUB VALUES (?, 1, 1, ?)") { club in
            database.with("INSERT INTO ZPLAYER VALUES (?, 2, 1, ?, ?, ?)") { player in
                for number in 0..<parents {
                    sqlite3_bind_int64(club, 1, Int64(number + 1))
                    sqlite3_bind_text(club, 2, "Club number \(number)", -1, Self.transient)
                    runRaw(club)
                    for member in 0..<children {
                        sqlite3_bind_int64(player, 1, Int64(number * children + member + 1))
                        sqlite3_bind_int64(player, 2, Int64(member))
                        sqlite3_bind_int64(player, 3, Int64(number + 1))
                        sqlite3_bind_text(player, 4, "Player \(number) \(member)", -1, Self.transient)
                        runRaw(player)
                    }
                }
            }
        }
        database.execute("COMMIT")
    }

    /// Reads the parents, and the children of each with its own query.
    func walk() {
        var goals: Int64 = 0
        database.with("SELECT Z_PK, ZNAME, ZGOALS FROM ZPLAYER WHERE ZCLUB = ?") { statement in
            for (key, _) in clubs() {
                var players: [Child] = []
                sqlite3_bind_int64(statement, 1, key)
                while sqlite3_step(statement) == SQLITE_ROW { players.append(Self.child(statement)) }
                sqlite3_reset(statement)
                for player in players { goals += player.goals }
            }
        }
        check(goals)
    }

    /// Reads the parents, and all children with one more query.
    func walkPrefetched() {
        var players: [Int64: [Child]] = [:]
        let clubs = clubs()
        database.forEachRow("SELECT Z_PK, ZNAME, ZGOALS, ZCLUB FROM ZPLAYER") { statement in
            players[sqlite3_column_int64(statement, 3), default: []].append(Self.child(statement))
        }
        var goals: Int64 = 0
        for (key, _) in clubs { for player in players[key] ?? [] { goals += player.goals } }
        check(goals)
    }

    /// Reads the same into objects: one per row, found by its key, and the children of each parent in a set. This is
    /// the minimum that a framework has to do.
    func walkPrefetchedAsObjects() {
        let clubs = clubs().map { PlainClub(key: $0.key, name: $0.name) }
        var clubOfKey: [Int64: Int] = [:]
        for (number, club) in clubs.enumerated() { clubOfKey[club.key] = number }
        var lists: [[PlainPlayer]] = Array(repeating: [], count: clubs.count)
        var playerOfKey: [PlainPlayer?] = Array(repeating: nil, count: parents * children + 1)
        let columns = "Z_PK, ZNAME, ZGOALS, ZCLUB, Z_ENT, Z_OPT"
        database.forEachRow("SELECT \(columns) FROM ZPLAYER") { statement in
            let owner = sqlite3_column_int64(statement, 3)
            let player = PlainPlayer(PlainPlayer.Row(statement, owner: owner))
            playerOfKey[Int(sqlite3_column_int64(statement, 0))] = player
            if let club = clubOfKey[owner] { lists[club].append(player) }
        }
        for (number, players) in lists.enumerated() { clubs[number].players = Set(players) }
        var goals: Int64 = 0
        for club in clubs { for player in club.players { goals += player.row.goals } }
        check(goals)
        withExtendedLifetime(playerOfKey) {}
    }

    private func check(_ goals: Int64) { precondition(goals == Int64(parents * children * (children - 1) / 2)) }

    private func clubs() -> [(key: Int64, name: String)] {
        var clubs: [(Int64, String)] = []
        database.forEachRow("SELECT Z_PK, ZNAME FROM ZCLUB ORDER BY ZNAME") { statement in
            clubs.append((sqlite3_column_int64(statement, 0), String(cString: sqlite3_column_text(statement, 1))))
        }
        return clubs
    }

    private static func child(_ statement: OpaquePointer) -> Child {
        Child(
            key: sqlite3_column_int64(statement, 0), name: String(cString: sqlite3_column_text(statement, 1)),
            goals: sqlite3_column_int64(statement, 2))
    }
}

private class PlainObject: Hashable {
    static func == (left: PlainObject, right: PlainObject) -> Bool { left === right }
    final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private final class PlainClub: PlainObject {
    let key: Int64
    let name: String
    var players: Set<PlainPlayer> = []

    init(key: Int64, name: String) {
        self.key = key
        self.name = name
    }
}

private final class PlainPlayer: PlainObject {
    /// Separate from the object, because it can be released and read again.
    final class Row {
        let entity: Int64
        let version: Int64
        let name: String
        let goals: Int64
        let owner: Int64

        init(_ statement: OpaquePointer, owner: Int64) {
            entity = sqlite3_column_int64(statement, 4)
            version = sqlite3_column_int64(statement, 5)
            name = String(cString: sqlite3_column_text(statement, 1))
            goals = sqlite3_column_int64(statement, 2)
            self.owner = owner
        }
    }

    var row: Row

    init(_ row: Row) { self.row = row }
}
