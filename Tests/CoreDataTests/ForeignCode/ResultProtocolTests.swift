import CoreData
import Foundation
import Testing

/// The protocol that a well-known book on Core Data uses for its classes. Uses only the public interface.
private protocol BookManaged: AnyObject, NSFetchRequestResult {
    static var bookEntityName: String { get }
    static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension BookManaged {
    static var defaultSortDescriptors: [NSSortDescriptor] { [] }
    fileprivate static var sortedFetchRequest: NSFetchRequest<Self> {
        let request = NSFetchRequest<Self>(entityName: bookEntityName)
        request.sortDescriptors = defaultSortDescriptors
        return request
    }
}

extension BookManaged where Self: NSManagedObject {
    fileprivate static func findOrCreate(
        in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
    ) throws -> Self {
        for object in context.registeredObjects where !object.isFault {
            if let found = object as? Self, predicate.evaluate(with: found) { return found }
        }
        let request = NSFetchRequest<Self>(entityName: bookEntityName)
        request.predicate = predicate
        if let found = try context.fetch(request).first { return found }
        let made = Self(context: context)
        configure(made)
        return made
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    fileprivate static func all(in context: NSManagedObjectContext) throws -> [Self] {
        try context.fetch(NSFetchRequest<Self>(entityName: entity().name ?? ""))
    }
}

final class ShelfBook: NSManagedObject, BookManaged {
    @Managed var name: String?
    static var bookEntityName: String { "ShelfBook" }
    static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "name", ascending: false)] }
}

@MainActor @Suite struct ResultProtocolTests {
    func open() throws -> NSManagedObjectContext {
        let entity = MigrationDesk.entity("ShelfBook", [MigrationDesk.attribute("name")])
        entity.managedObjectClassName = "CoreDataTests.ShelfBook"
        return try NSPersistentContainer.open(
            "Shelf", model: MigrationDesk.model([entity]), at: URL(fileURLWithPath: "/dev/null")
        ).viewContext
    }

    @Test func protocolsOfObjectsRefineTheResults() throws {
        let context = try open()
        for name in ["a", "b", "a"] {
            _ = try ShelfBook.findOrCreate(in: context, matching: NSPredicate(format: "name == %@", name)) {
                $0.name = name
            }
        }
        try context.save()
        #expect(try context.fetch(ShelfBook.sortedFetchRequest).map(\.name) == ["b", "a"])
        #expect(try ShelfBook.all(in: context).count == 2)
    }

    @Test func anErasedRequestIsOneOfResults() throws {
        let context = try open()
        ShelfBook(context: context).name = "a"
        let erased: NSFetchRequest<any NSFetchRequestResult> = ShelfBook.fetchRequest()
        let found: [any NSFetchRequestResult] = try context.fetch(erased)
        #expect((found as? [ShelfBook])?.map(\.name) == ["a"])
        let results: [NSFetchRequestResult] = [context, NSNumber(value: 1)].compactMap { $0 as? NSNumber }
        #expect(results.count == 1)
        let any: Any = erased
        #expect(any as? NSFetchRequest<NSFetchRequestResult> === erased)
        #expect(any as? NSFetchRequest<ShelfBook> == nil)
    }
}

extension ResultProtocolTests {
    @Test func resultsAreCastToWhatBridgesToThem() throws {
        let context = try open()
        for name in ["a", "b"] { ShelfBook(context: context).name = name }
        try context.save()
        let request: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "ShelfBook")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        #expect(try context.fetch(request).first as? [String: String] == ["name": "a"])
        #expect(try (context.fetch(request) as? [[String: String]])?.map { $0["name"] } == ["a", "b"])
        request.resultType = .countResultType
        #expect(try context.fetch(request).first as? Int == 2)
    }

    @Test func coordinatorsTakeClosuresOfTheCallersActor() async throws {
        let context = try open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        #expect(await coordinator.perform { coordinator.persistentStores.count } == 1)
    }
}
