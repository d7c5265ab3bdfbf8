import Foundation

@testable import CoreData

/// Generates random predicates about the teams of a ``PredicateWorld`` as text and arguments.
struct PredicateGenerator {
    let world: PredicateWorld
    var random: SeededGenerator

    struct Made {
        var format: String
        var arguments: [Any?] = []

        static func + (left: Made, right: Made) -> Made {
            Made(format: left.format + right.format, arguments: left.arguments + right.arguments)
        }

        static func + (left: Made, right: String) -> Made { left + Made(format: right) }
        static func + (left: String, right: Made) -> Made { Made(format: left) + right }
    }

    init(_ world: PredicateWorld, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
    }

    mutating func predicate(depth: Int = 2) -> Made {
        if depth > 0, random.chance(55) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return "NOT (" + predicate(depth: depth - 1) + ")"
            case 1: return "(" + predicate(depth: depth - 1) + " AND " + predicate(depth: depth - 1) + ")"
            default: return "(" + predicate(depth: depth - 1) + " OR " + predicate(depth: depth - 1) + ")"
            }
        }
        return leaf()
    }

    private mutating func leaf() -> Made {
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: return text(of: random.pick(["name", "homeVenue.label", "lowercase:(name)", "site"]))
        case 2, 3: return number(of: numberPath())
        case 4:
            return order(
                of: "founded", argument(Date(timeIntervalSinceReferenceDate: random.pick(PredicateWorld.dates))))
        case 5: return order(of: "price", argument(NSDecimalNumber(string: random.pick(PredicateWorld.decimals))))
        case 6: return other()
        case 7: return isIn()
        case 8, 9: return toMany()
        case 10: return count()
        case 11: return arithmetic()
        case 12: return twoKeys()
        default: return objects()
        }
    }

    // MARK: Values

    private mutating func argument(_ value: Any?) -> Made {
        random.chance(8) ? Made(format: "nil") : Made(format: "%@", arguments: [value])
    }

    private mutating func textArgument() -> Made { argument(random.pick(PredicateWorld.texts)) }
    private mutating func options() -> String { random.chance(50) ? "" : random.pick(["[c]", "[d]", "[cd]", "[n]"]) }
    private mutating func sign() -> String { random.pick(["==", "!=", "<", "<=", ">", ">="]) }

    private mutating func numberPath() -> String {
        random.pick(["wins", "points", "rating", "favorite", "homeVenue.capacity", "homeVenue.size", "SELF.wins"])
    }

    private mutating func numberArgument() -> Made {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: argument(random.pick(PredicateWorld.longs))
        case 1: argument(random.pick(PredicateWorld.reals))
        case 2: argument(random.chance(50))
        default: argument(random.pick(PredicateWorld.integers))
        }
    }

    // MARK: Comparisons

    private mutating func text(of path: String) -> Made {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return "\(path) \(sign())\(options()) " + textArgument()
        case 1: return "\(path) BETWEEN\(options()) {" + textArgument() + ", " + textArgument() + "}"
        case 2: return "\(path) LIKE\(options()) " + Made(format: "%@", arguments: [likePattern()])
        case 3:
            let pattern = random.pick([".*", "[a-z]+", "(a|b).*", "\\w{2}", "中.?", "zu.*", ".", "(?s).*b.*"])
            return "\(path) MATCHES\(random.pick(["", "[c]", "[d]", "[cd]"])) "
                + Made(format: "%@", arguments: [pattern])
        default:
            let word = random.pick(["BEGINSWITH", "ENDSWITH", "CONTAINS"])
            return "\(path) \(word)\(options()) " + Made(format: "%@", arguments: [random.pick(PredicateWorld.texts)])
        }
    }

    private mutating func likePattern() -> String {
        let text = random.pick(PredicateWorld.texts)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "*" + text + "*"
        case 1: return text + "*"
        case 2: return "?" + text.dropFirst()
        default: return text
        }
    }

    private mutating func number(of path: String) -> Made {
        if random.chance(25) {
            return "\(path) BETWEEN {" + numberArgument() + ", " + numberArgument() + "}"
        }
        return order(of: path, numberArgument())
    }

    private mutating func order(of path: String, _ value: Made) -> Made {
        random.chance(80) ? "\(path) \(sign()) " + value : value + " \(sign()) \(path)"
    }

    private mutating func other() -> Made {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return order(of: "code", argument(UUID(uuidString: random.pick(PredicateWorld.uuids))))
        case 1: return order(of: "blob", argument(Data(random.pick([[1], [1, 2], []]))))
        case 2: return Made(format: random.pick(["favorite", "NOT favorite", "extra == nil", "extra != nil"]))
        case 3:
            return Made(format: random.pick(["TRUEPREDICATE", "FALSEPREDICATE", "1 + 1 == 2", "nil == 1", "nil != 1"]))
        case 4: return "TERNARY(" + predicate(depth: 0) + ", wins, homeVenue.capacity) > 2"
        case 5: return Made(format: "length:(name) \(sign()) 3")
        default: return Made(format: "uppercase:(name) ==[d] canonical:(homeVenue.label)")
        }
    }

    private mutating func isIn() -> Made {
        let count = random.chance(20) ? 40 : Int.random(in: 0...5, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let list: [Any?] = (0..<count).map { _ in random.pick(PredicateWorld.integers) }
            return Made(format: "\(numberPath()) IN %@", arguments: [list.map { $0 ?? NSNull() }])
        case 1:
            var list: [Any] = (0..<count).map { _ in random.pick(PredicateWorld.texts) }
            if random.chance(30) { list.append(NSNull()) }
            return Made(format: "name IN\(random.pick(["", "[c]", "[cd]"])) %@", arguments: [list])
        case 2:
            let list: [Any] = (0..<count).map { _ in random.pick(PredicateWorld.reals) }
            return Made(format: "rating IN %@", arguments: [list])
        case 3: return "name IN {homeVenue.label, " + textArgument() + "}"
        default: return textArgument() + " IN name"
        }
    }

    private mutating func toMany() -> Made {
        let modifier = random.pick(["ANY", "ALL", "NONE", "SOME"])
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return "\(modifier) players.name \(sign())\(options()) " + textArgument()
        case 1: return "\(modifier) players.age \(sign()) " + numberArgument()
        case 2:
            return "\(modifier) tags.word CONTAINS\(options()) "
                + Made(format: "%@", arguments: [random.pick(PredicateWorld.texts)])
        case 3: return "\(modifier) homeVenue.teams.players.age > " + numberArgument()
        case 4: return Made(format: "\(modifier) tags.taggedTeams.wins == wins")
        case 5: return Made(format: "\(modifier) players.age IN %@", arguments: [[1, 2, 3]])
        default: return "\(modifier) players.team.homeVenue.capacity \(sign()) " + numberArgument()
        }
    }

    private mutating func count() -> Made {
        let number = "\(sign()) \(Int.random(in: 0...4, using: &random))"
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Made(format: "\(random.pick(["players", "tags", "homeVenue.teams"])).@count \(number)")
        case 1: return "SUBQUERY(players, $p, $p.age > " + numberArgument() + " AND $p.name != nil).@count \(number)"
        case 2:
            return Made(
                format:
                    "SUBQUERY(tags, $t, $t.taggedTeams.@count > 5 AND ANY $t.taggedTeams.wins > $t.taggedTeams.@count).@count \(number)"
            )
        case 3: return Made(format: "SUBQUERY(players, $p, $p.age > wins).@count == players.@count")
        case 4: return Made(format: "players.\(random.pick(["@sum", "@avg", "@min", "@max"])).age \(number)")
        case 5: return Made(format: "players.\(random.pick(["@min", "@max"])).score \(number)")
        case 6: return union(number)
        default: return "players.@max.name \(sign()) " + textArgument()
        }
    }

    /// A predicate with an operator that returns a collection.
    private mutating func union(_ number: String) -> Made {
        let kind = random.pick(["@unionOf", "@distinctUnionOf"])
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Made(format: "\(random.pick(["ANY", "ALL", "NONE"])) players.\(kind)Objects.age \(number)")
        case 1: return "tags.\(kind)Objects.word CONTAINS " + textArgument()
        case 2: return Made(format: "count:(homeVenue.teams.\(kind)Sets.players) \(number)")
        default: return Made(format: "count:(players.\(kind)Objects.age) \(number)")
        }
    }

    private mutating func arithmetic() -> Made {
        let (left, right) = (
            random.pick(["wins", "points", "rating", "homeVenue.capacity"]),
            random.pick(["wins", "points", "rating", "2", "0", "-1", "0.5"])
        )
        let sign = random.pick(["+", "-", "*", "/", "&", "|", "<<", ">>"])
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return "modulus:by:(\(left), \(right)) \(self.sign()) " + numberArgument()
        case 1: return "abs:(\(left)) \(self.sign()) " + numberArgument()
        case 2: return "founded + 86400 \(self.sign()) founded / 3 + \(left)" + Made(format: "")
        case 3: return "~wins \(self.sign()) -\(left)" + Made(format: "")
        default: return "(\(left) \(sign) \(right)) \(self.sign()) " + numberArgument()
        }
    }

    private mutating func twoKeys() -> Made {
        let pairs = [
            ("name", "homeVenue.label"), ("wins", "points"), ("wins", "rating"), ("points", "rating"),
            ("founded", "homeVenue.opened"),
            ("price", "rating"), ("price", "wins"), ("price", "points"), ("favorite", "wins"), ("founded", "wins"),
            ("name", "site"),
        ]
        let (left, right) = random.pick(pairs)
        if left == "name" && random.chance(50) {
            return Made(
                format:
                    "\(left) \(random.pick(["CONTAINS", "BEGINSWITH", "LIKE", "ENDSWITH", "IN"]))\(options()) \(right)")
        }
        return Made(format: "\(left) \(sign())\(left == "name" ? options() : "") \(right)")
    }

    private mutating func objects() -> Made {
        let venue = random.pick(world.places)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return Made(format: "homeVenue \(random.pick(["==", "!="])) %@", arguments: [venue])
        case 1: return Made(format: "homeVenue == \(random.pick(["nil", "nil OR wins > 1"]))")
        case 2: return Made(format: "SELF \(random.pick(["==", "!="])) %@", arguments: [random.pick(world.teams)])
        case 3:
            return Made(
                format: "SELF IN %@", arguments: [Array(world.teams.prefix(Int.random(in: 0...40, using: &random)))])
        case 4: return Made(format: "tags CONTAINS %@", arguments: [random.pick(world.tags)])
        case 5: return Made(format: "%@ IN players", arguments: [random.pick(world.players)])
        case 6: return Made(format: "ANY tags == %@", arguments: [random.pick(world.tags).objectID])
        case 7: return Made(format: "homeVenue.entity == %@", arguments: [random.pick([world.venue, world.stadium])])
        case 8: return Made(format: random.pick(["tags == nil", "players != nil", "tags.word CONTAINS 'a'"]))
        // An object of another entity with the same number is a different object.
        default:
            return Made(format: "homeVenue == %@ OR tags CONTAINS %@", arguments: [world.tags[0], world.players[0]])
        }
    }
}
