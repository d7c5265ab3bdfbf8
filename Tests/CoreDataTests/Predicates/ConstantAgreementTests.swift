import CoreData
import Foundation
import Testing

/// Constants of every shape on either side of every operator: a fetch from a SQLite store finds the objects for which
/// `evaluate(with:)` is true, and the negated predicate finds all others.
///
/// `ROSTER_LONG_TESTS=10` runs 30,000 predicates.
@Suite struct ConstantAgreementTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
    private static let count = factor.map { $0 * 3_000 } ?? 1_000

    private static func request(_ predicate: NSPredicate) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
        request.predicate = predicate
        return request
    }

    /// The objects that a fetch finds; `nil` if the predicate is refused.
    private static func fetched(_ predicate: NSPredicate, _ world: ConstantWorld) throws -> Set<NSManagedObject>? {
        do {
            return Set(try world.context.fetch(request(predicate)))
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

    /// Forms with a collection on the left of CONTAINS.
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

    /// Foundation's sets distinguish elements that are equal in Swift.
    @Test func setsOfEqualElementsAreAccepted() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            for (first, second) in [
                (NSNull(), NSNull()), (NSArray(), NSSet()), (NSArray(object: 1), NSArray(object: 1.0)),
                (NSSet(object: NSNull()), NSSet(object: NSNull())), (NSNumber(value: true), NSNumber(value: 1)),
                (NSData(), NSData()),
            ] as [(Any, Any)] {
                let set = NSSet(array: [first, second])
                let predicate = NSPredicate(format: "name IN %@ OR name == 'a'", set)
                #expect(predicate.evaluate(with: world.teams[0]), "\(set)")
                #expect(!predicate.formatString.isEmpty && predicate == predicate)
                _ = try? world.context.fetch(Self.request(predicate))
            }
        }
    }

    @Test func collectionsAreEqualBothWays() {
        let (bare, full): ([Any], [Any]) = ([NSNull(), NSNull()], [NSNull(), Data([1])])
        for (left, right) in [(bare, full), (full, bare)] {
            #expect(!NSPredicate(format: "%@ == %@", left, right).evaluate(with: nil))
            #expect(!NSPredicate(format: "%@ IN {%@, SELF}", left, right).evaluate(with: 1))
        }
        #expect(NSPredicate(format: "%@ == %@", full, Array(full.reversed())).evaluate(with: nil))
    }

    /// A number cannot be searched in or for as text, and a to-many key is not a pair of bounds.
    @Test func senselessConstantsAreRefused() throws {
        let world = try ConstantWorld()
        try world.context.performAndWait { () throws in
            for format in ["name IN 0", "SOME name IN[cd] NO", "5 IN name", "SOME {'a', 'b'} BETWEEN tags.word"] {
                #expect(try Self.fetched(NSPredicate(format: format), world) == nil, "\(format)")
            }
            #expect(try Self.fetched(NSPredicate(format: "9 IN players.name"), world) == [])
        }
    }

    @Test func aBatchDeletesObjectsOutsideACollection() throws {
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

/// Teams with values of each kind, some without values, with venues, players and tags.
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
