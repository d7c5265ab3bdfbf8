import Foundation
import Testing

@testable import CoreData

/// Code that relies on the compiler's memory layout of values: one test for each place.
@Suite struct LayoutTests {
    private struct Large {
        let words = (1, 2, 3, 4, 5)
    }

    /// An object is found only in a value declared with the same class as the first one.
    @Test func anObjectIsFoundByItsDeclaredClass() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            func found(_ value: Any, by declared: DeclaredClass<NSManagedObject>) -> Bool {
                func reference<Value>(_ value: Value) -> Unretained<NSManagedObject>? { declared.reference(in: value) }
                return reference(value) == Unretained(team)
            }
            let values: [Any] = [
                team, team as NSManagedObject, team as NSObject, AnyHashable(team), Optional(team) as Any, 7, "text",
                Large(), NSManagedObject.self,
            ]
            for (row, value) in values.enumerated() {
                // A value declared with a class above managed objects may be anything, so no object is found in it.
                let declared = DeclaredClass<NSManagedObject>(of: value)
                for (column, other) in values.enumerated() {
                    #expect(found(other, by: declared) == (row == column && row < 2), "\(row), \(column)")
                }
            }
            #expect(!found(team, by: DeclaredClass(of: nil)))
        }
    }

    /// An object in a value of any type is found only by its exact class.
    @Test func anObjectIsOfExactlyOneClass() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team()
            func found(_ value: Any) -> Bool? {
                Unretained<NSManagedObject>.exactly(type(of: team), value).map { $0 == Unretained(team) }
            }
            for same: Any in [team, team as NSManagedObject, team as NSObject, team as AnyObject] {
                #expect(found(same) == true)
            }
            for other: Any in [context.make("Venue"), Optional(team) as Any, AnyHashable(team), 7, "text", Large()] {
                #expect(found(other) == nil)
            }
        }
    }

    /// A predicate caches the entity and declared type of its first object, and evaluates all others correctly.
    @Test func predicatesKnowTheirObjects() throws {
        try ClubStack().contextKeepingStack().use { context in
            let (team, other) = (context.team("Rovers"), context.team("United"))
            let venue = context.make("Venue", ["name": "Rovers"])
            let evaluator = LazyEvaluator()
            let tree = NSPredicate(format: "name == 'Rovers'").syntaxTree
            #expect(evaluator.evaluateKnown(team) == nil)
            #expect(evaluator.evaluate(tree, with: team, variables: nil))
            #expect(evaluator.evaluateKnown(team) == true && evaluator.evaluateKnown(other) == false)
            for stranger: Any? in [nil, team as NSObject, venue, 7, "Rovers", AnyHashable(team), Optional(team) as Any]
            {
                #expect(evaluator.evaluateKnown(stranger) == nil)
            }
            #expect(evaluator.evaluate(tree, with: venue, variables: nil))
            #expect(evaluator.evaluate(tree, with: team as NSObject, variables: nil))
        }
    }

    /// A predicate that outlives the models of its objects retains only the last ones.
    @Test func aPredicateKeepsFewEntities() throws {
        let evaluator = LazyEvaluator()
        let tree = NSPredicate(format: "name == 'Rovers'").syntaxTree
        weak var second: EntityLayout?
        for turn in 0..<100 {
            let entity = NSEntityDescription()
            entity.name = "Item"
            entity.properties = [Club.attribute("name", .stringAttributeType)]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let object = NSManagedObject(entity: entity, insertInto: nil)
            object.setValue(turn % 2 == 0 ? "Rovers" : "United", forKey: "name")
            #expect(evaluator.evaluate(tree, with: object, variables: nil) == (turn % 2 == 0))
            if turn == 1 { second = entity.layout }
        }
        #expect(second == nil)
    }

    /// An array has the same memory layout for any class of its objects; fetches return their lists that way.
    @Test func listsMayBeOfAnotherClass() throws {
        weak var gone: NSManagedObject?
        try ClubStack().contextKeepingStack().use { context in
            for name in ["aa", "bb", "cc", "dd"] { _ = context.team(name) }
            try context.save()
            let all: [NSManagedObject] = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
            #expect(FetchResults.objects(all).typed(as: ClubTeam.self)?.count == 4)
            #expect(FetchResults.objects(all).typed(as: NSManagedObjectID.self) == nil)
            var teams = all.recast(as: ClubTeam.self)
            var objects = all.recast(as: AnyObject.self)
            #expect(teams.map(\.name).sorted() == ["aa", "bb", "cc", "dd"])
            // Both arrays are changed, so each copies its memory first.
            teams.sort { $0.name > $1.name }
            teams.append(context.team("ee"))
            objects.removeFirst()
            objects.append(NSObject())
            #expect(teams.first?.name == "dd" && teams.last?.name == "ee" && objects.count == 4 && all.count == 4)
            gone = teams.first
            teams = []
            #expect(gone != nil, "the context's list has it still")
        }
        #expect(gone == nil, "each reference was given back")
    }

    /// `Unretained` has the layout of a reference: code that passes arrays without reference counting relies on it.
    @Test func anUnretainedReferenceIsAReference() {
        let object = NSObject()
        let words = withUnsafeBytes(of: object) { $0.load(as: UInt.self) }
        #expect(words == UInt(bitPattern: Unretained(object).address))
        #expect(MemoryLayout<Unretained<NSObject>>.size == MemoryLayout<NSObject>.size)
        #expect(MemoryLayout<Unretained<NSObject>?>.size == MemoryLayout<NSObject?>.size)
        #expect(withUnsafeBytes(of: Unretained<NSObject>?.none) { $0.load(as: UInt.self) } == 0)
    }

    /// Classes that are cast to another specialisation have the same fields at the same offsets and the same methods.
    @Test func specialisationsOfOneClassHaveTheSameLayout() throws {
        try ClubStack().contextKeepingStack().use { context in
            let team = context.team("Rovers")
            try context.save()
            let request = NSFetchRequest<ClubTeam>(entityName: "Team")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let erased: NSFetchRequest<NSFetchRequestResult> = respecialised(request)
            #expect(ObjectIdentifier(erased) == ObjectIdentifier(request))
            erased.fetchLimit = 3
            #expect(request.fetchLimit == 3 && erased.entityName == "Team" && erased.sortDescriptors?.count == 1)
            #expect(try context.fetch(respecialised(request, as: NSFetchRequest<NSManagedObject>.self)) == [team])

            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let other: NSFetchedResultsController<NSManagedObject> = respecialised(controller)
            try other.performFetch()
            #expect(controller.fetchedObjects == [team] && other.fetchedObjects == [team])
            #expect(other.sections?.first?.numberOfObjects == 1 && other.indexPath(forObject: team)?.item == 0)

            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: nil)
            let seen: NSAsynchronousFetchRequest<NSManagedObject> = respecialised(asynchronous)
            seen.estimatedResultCount = 7
            #expect(asynchronous.estimatedResultCount == 7 && seen.fetchRequest.entityName == "Team")
            let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<ClubTeam>)
            #expect(respecialised(result, as: NSAsynchronousFetchResult<NSManagedObject>.self).fetchRequest === seen)
        }
    }

    /// A property is identified by the address of its name's literal: constant, and different for another name.
    @Test func aNameIsAlwaysAtItsPlace() {
        func places() -> [UInt] { [ManagedProperty("name").address, ManagedProperty("number").address] }
        let first = places()
        #expect(first == places() && Set(first).count == 2)
    }

    /// A type's number is its address, which programs may have stored before.
    @Test func storeTypesAreNumbers() {
        let types = NSPersistentStoreCoordinator.registeredStoreTypes
        let number = (types[NSSQLiteStoreType] as? NSNumber)?.uintValue
        #expect(number == UInt(bitPattern: ObjectIdentifier(SQLiteStore.self)))
    }

    /// A large set has the members that the standard initialiser would insert, in any memory.
    @Test(arguments: [0, 1, 3_999, 4_000, 50_000]) func setsOfHeldObjects(count: Int) {
        let objects = (0..<count).map { _ in NSObject() }
        let made = Set(held: objects)
        #expect(made == Set(objects) && made.count == count)
    }
}
