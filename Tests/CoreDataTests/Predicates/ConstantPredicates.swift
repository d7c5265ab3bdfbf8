import CoreData
import Foundation
import Testing

/// Generates predicates about teams with constants of any shape.
struct ConstantPredicates {
    private let world: ConstantWorld
    private var random: SeededGenerator

    init(_ world: ConstantWorld, seed: UInt64) {
        self.world = world
        random = SeededGenerator(seed: seed)
    }

    private enum Kind: CaseIterable { case text, integer, real, truth, date, code, blob, object, place, nothing }

    mutating func next() -> (format: String, arguments: [Any?]) {
        if random.chance(10) {
            let (collection, keys) = random.pick([
                ("players", ["$p.name", "$p.age", "$p", "$p.team"]), ("tags", ["$p.word", "$p", "$p.teams"]),
            ])
            let key = random.pick(keys)
            let (format, arguments) = comparison(key, kind(of: key))
            return ("SUBQUERY(\(collection), $p, \(format)).@count \(random.pick(["> 0", "== 1", "== 0"]))", arguments)
        }
        let key = random.pick([
            "name", "name", "wins", "rating", "isOpen", "founded", "code", "blob", "SELF", "venue", "venue.name",
            "players",
            "players.name", "players.age", "tags", "tags.word", "venue.teams", "tags.@count", "length:(name)",
        ])
        return comparison(key, kind(of: key))
    }

    private func kind(of key: String) -> Kind {
        switch key.split(separator: ".").last.map(String.init) {
        case "name", "word": .text
        case "wins", "age", "@count", "length:(name)": .integer
        case "rating": .real
        case "isOpen": .truth
        case "founded": .date
        case "code": .code
        case "blob": .blob
        default: .object
        }
    }

    private mutating func comparison(_ key: String, _ kind: Kind) -> (String, [Any?]) {
        let sign =
            random.pick([
                "==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "IN", "CONTAINS", "CONTAINS", "BEGINSWITH",
                "ENDSWITH", "LIKE",
                "MATCHES",
            ]) + random.pick(["", "", "", "[c]", "[d]", "[cd]"])
        let modifier = random.chance(70) ? "" : random.pick(["ANY ", "ALL ", "NONE ", "SOME "])
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: return ("\(modifier)\(key) \(sign) %@", [constant(kind)])
        case 4..<7: return ("\(modifier)%@ \(sign) \(key)", [constant(kind)])
        case 7: return ("\(modifier){%@, \(key)} \(sign) %@", [constant(kind), constant(kind)])
        case 8: return ("\(modifier)%@ \(sign) {%@, \(key)}", [constant(kind), constant(kind)])
        default: return ("\(modifier)%@ \(sign) %@ OR \(key) != nil", [constant(kind), constant(kind)])
        }
    }

    /// Mostly of `kind`, because a constant that does not fit the attribute is refused.
    private mutating func constant(_ kind: Kind, depth: Int = 2) -> Any? {
        guard depth > 0, random.chance(50) else { return single(random.chance(95) ? kind : random.pick(Kind.allCases)) }
        let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            constant(kind, depth: random.chance(85) ? 0 : depth - 1) ?? NSNull()
        }
        switch Int.random(in: 0..<4, using: &random) {
        // Within another collection, Foundation traps at a set of elements that are equal in Swift.
        case 0 where depth == 2: return NSSet(array: elements)
        case 1: return NSOrderedSet(array: elements)
        default: return elements
        }
    }

    private mutating func single(_ kind: Kind) -> Any? {
        if random.chance(10) { return random.chance(50) ? nil : NSNull() }
        switch kind {
        case .text: return random.pick(ConstantWorld.texts)
        case .integer: return random.pick(ConstantWorld.integers)
        case .real: return random.pick(ConstantWorld.reals)
        case .truth: return random.chance(50)
        case .date: return random.pick(ConstantWorld.dates)
        case .code: return random.pick(ConstantWorld.codes)
        case .blob: return random.pick(ConstantWorld.blobs)
        case .object, .place:
            let object = random.pick(world.teams + world.venues + world.players + world.tags)
            return random.chance(50) ? object : object.objectID
        case .nothing: return nil
        }
    }
}
