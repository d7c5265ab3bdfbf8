import CoreData
import Foundation
import Testing

/// Constants of every shape on either side of every operator: a fetch from an SQLite store finds the objects for which
/// `evaluate(with:)` holds, and the negated predicate all others.
///
/// `ROSTER_LONG_TESTS=10` tries 30,000 predicates.
@Suite struct ConstantAgreementTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
    private static let count = 3_000 * (factor ?? 1)

    /// The objects that a fetch finds; `nil` where the predicate is refused.
    private static func fetched(_ predicate: NSPredicate, _ world: ConstantWorld) throws -> Set<NSManagedObject>? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = predicate
        do {
            return Set(try world.context.fetch(request))
        } catch let error as CocoaError where error.errorCode == 134060 {
            return nil
        }
    }

    @Test func randomConstantsOnEitherSide() throws {
        let world = try ConstantWorld()
        var (checked, refused, selective) = (0, 0, 0)
        try world.context.performAndWait { () throws in
            var made = ConstantPredicates(world, seed: 41)
            for round in 0..<Self.count {
                let (format, arguments) = made.next()
                let label = "round \(round): \(format) \(arguments)"
                let predicate = try NSPredicate.parse(format: format, arguments: arguments)
                guard let found = try Self.fetched(predicate, world) else {
                    refused += 1
                    continue
                }
                checked += 1
                let expected = Set(world.teams.filter { predicate.evaluate(with: $0) })
                if !expected.isEmpty && expected.count < world.teams.count { selective += 1 }
                let others = try Self.fetched(NSCompoundPredicate(notPredicateWithSubpredicate: predicate), world)
                #expect(found == expected, "\(label)")
                #expect(others == Set(world.teams).subtracting(expected), "NOT of \(label)")
                if found != expected || others != Set(world.teams).subtracting(expected) { return }
            }
        }
        if Self.factor != nil {
            print(
                "\(checked) predicates with constants of any shape agree, \(refused) are refused, \(selective) tell apart"
            )
        }
        #expect(checked > Self.count / 3 && selective > Self.count / 20, "\(checked) checked, \(selective) selective")
    }

    /// The forms in which a collection stands on the left of CONTAINS.
    @Test func constantCollectionsContainValues() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            let (first, second) = (world.teams[0], world.teams[1])
            for (predicate, expected) in [
                (NSPredicate(format: "%@ CONTAINS SELF", [first, second]), [first, second]),
                (NSPredicate(format: "%@ CONTAINS SELF", NSSet(array: [first.objectID])), [first]),
                (NSPredicate(format: "%@ CONTAINS name", ["a", "b"]), [first, world.teams[2]]),
                (NSPredicate(format: "{'a', 'b'} CONTAINS name"), [first, world.teams[2]]),
                (NSPredicate(format: "{'a', 'b'} CONTAINS[c] name"), [first, second, world.teams[2]]),
                (NSPredicate(format: "%@ CONTAINS wins", [1, 2]), [1, 2, 5, 6].map { world.teams[$0] }),
                (NSPredicate(format: "$names CONTAINS name").withSubstitutionVariables(["names": ["a"]]), [first]),
                (NSPredicate(format: "%@ CONTAINS venue", [world.venues[1]]), [second, world.teams[5]]),
                (NSPredicate(format: "name ==[c] {}"), world.teams.filter { $0.value(forKey: "name") == nil }),
            ] {
                let found = try Self.fetched(predicate, world)
                #expect(found == Set(expected), "\(predicate)")
                #expect(Set(world.teams.filter { predicate.evaluate(with: $0) }) == Set(expected), "\(predicate)")
            }
        }
    }

    @Test func whatIsNotInACollectionIsDeleted() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            let kept = [world.teams[0], world.teams[1]]
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
            fetch.predicate = NSPredicate(format: "NOT %@ CONTAINS SELF", kept)
            try world.context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            #expect(try world.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Team")) == 2)
        }
    }

    @Test func numbersMatchTexts() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            let (team, other) = (world.teams[0], world.teams[1])
            team.setValue("9", forKey: "name")
            other.setValue("10", forKey: "name")
            try world.context.save()
            #expect(try Self.fetched(NSPredicate(format: "name IN {9, 10}"), world) == [team, other])
            #expect(try Self.fetched(NSPredicate(format: "name IN %@", [9, 11]), world) == [team])
            #expect(try Self.fetched(NSPredicate(format: "{9} CONTAINS name"), world) == [team])
            #expect(try Self.fetched(NSPredicate(format: "name == 10"), world) == [other])
            #expect(try Self.fetched(NSPredicate(format: "name == 9 OR name ==[c] 10"), world) == [team, other])
            let others = try Self.fetched(NSPredicate(format: "name != %@", 9 as NSNumber), world)
            #expect(others?.contains(team) == false)
        }
    }

    @Test func listsKeepWhatTheirFetchFound() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.predicate = NSPredicate(format: "wins == '2' OR name == 9")
            request.sortDescriptors = [NSSortDescriptor(key: "wins", ascending: true)]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: world.context, sectionNameKeyPath: nil, cacheName: nil)
            let delegate = Silent()
            list.delegate = delegate
            try list.performFetch()
            #expect(list.fetchedObjects?.contains(world.teams[2]) == true)
            world.teams[2].setValue(2.5, forKey: "rating")
            world.teams[0].setValue("9", forKey: "name")
            world.context.processPendingChanges()
            #expect(list.fetchedObjects?.contains(world.teams[2]) == true)
            #expect(list.fetchedObjects?.contains(world.teams[0]) == true)
        }
    }

    private final class Silent: NSObject, NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }
}

/// Teams with values of each kind, some without, their venues, players and tags.
final class ConstantWorld: @unchecked Sendable {
    let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private(set) var teams: [NSManagedObject] = []
    private(set) var venues: [NSManagedObject] = []
    private(set) var players: [NSManagedObject] = []
    private(set) var tags: [NSManagedObject] = []

    static let texts = ["", "a", "A", "ä", "b", "ab", "abc", "Ab", "x"]
    static let integers = [-1, 0, 1, 2, 3, 7]
    static let reals = [-0.5, 0, 0.5, 1, 2.5]
    static let dates = [0.0, 86_400, -1.5].map { Date(timeIntervalSinceReferenceDate: $0) }
    static let codes = ["3CEF7AEA-11C2-48AB-B289-C3C02E6A38A6", "00000000-0000-0000-0000-000000000001"].map {
        UUID(uuidString: $0) ?? UUID()
    }
    static let blobs = [Data(), Data([1]), Data([1, 2])]

    init() throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try fill() }
    }

    private func make(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private func fill() throws {
        venues = ["a", "b", nil].map { make("Venue", ["name": $0]) }
        tags = ["a", "B", nil].map { make("Tag", ["word": $0]) }
        let names: [String?] = ["a", "A", "b", "ä", nil, "abc", "", "Ab"]
        for (place, name) in names.enumerated() {
            let isBare = place == 4
            let team = make(
                "Team",
                [
                    "name": name, "wins": isBare ? nil : Self.integers[place % 4 + 1],
                    "rating": isBare ? nil : Self.reals[place % 5], "isOpen": isBare ? nil : place.isMultiple(of: 2),
                    "founded": place % 3 == 2 ? nil : Self.dates[place % 3],
                    "code": isBare ? nil : Self.codes[place % 2],
                    "blob": isBare ? nil : Self.blobs[place % 3],
                    "venue": isBare ? nil : venues[place < 2 ? place : place % 4 % 3],
                ])
            for number in 0..<(place % 3) {
                players.append(
                    make(
                        "Player", ["name": number == 1 ? nil : Self.texts[place], "age": place - number, "team": team]))
            }
            team.setValue(NSSet(array: place % 4 == 3 ? [] : Array(tags.prefix(place % 4 + 1))), forKey: "tags")
            teams.append(team)
        }
        try context.save()
    }

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType) = (name, type)
                return attribute
            }
            return entity
        }
        func relate(
            _ owner: NSEntityDescription, _ name: String, many: Bool, _ other: NSEntityDescription, _ back: String,
            many backMany: Bool
        ) {
            let (there, home) = (NSRelationshipDescription(), NSRelationshipDescription())
            (there.name, there.destinationEntity, there.maxCount) = (name, other, many ? 0 : 1)
            (home.name, home.destinationEntity, home.maxCount) = (back, owner, backMany ? 0 : 1)
            (there.inverseRelationship, home.inverseRelationship) = (home, there)
            owner.properties += [there]
            other.properties += [home]
        }
        let team = entity(
            "Team",
            [
                ("name", .stringAttributeType), ("wins", .integer32AttributeType), ("rating", .doubleAttributeType),
                ("isOpen", .booleanAttributeType), ("founded", .dateAttributeType), ("code", .UUIDAttributeType),
                ("blob", .binaryDataAttributeType),
            ])
        let venue = entity("Venue", [("name", .stringAttributeType)])
        let player = entity("Player", [("name", .stringAttributeType), ("age", .integer16AttributeType)])
        let tag = entity("Tag", [("word", .stringAttributeType)])
        relate(team, "venue", many: false, venue, "teams", many: true)
        relate(team, "players", many: true, player, "team", many: false)
        relate(team, "tags", many: true, tag, "teams", many: true)
        let model = NSManagedObjectModel()
        model.entities = [team, venue, player, tag]
        return model
    }
}

/// Makes predicates about teams whose constants have any shape.
private struct ConstantPredicates {
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

    /// Mostly of `kind`: what does not fit an attribute is refused.
    private mutating func constant(_ kind: Kind, depth: Int = 2) -> Any? {
        guard depth > 0, random.chance(50) else { return single(random.chance(95) ? kind : random.pick(Kind.allCases)) }
        let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            constant(kind, depth: random.chance(85) ? 0 : depth - 1) ?? NSNull()
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return NSSet(array: elements)
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
