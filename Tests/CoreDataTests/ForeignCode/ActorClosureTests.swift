import CoreData
import Dispatch
import Testing

/// Closures written on an actor that run on a context's queue. A nested closure (`map { … }`) must not be isolated to
/// the actor, because the runtime would stop the program.
@MainActor @Suite struct ActorClosureTests {
    private static let names = ["Ana", "Bo", "我"]

    private static func container() throws -> NSPersistentContainer {
        try NSPersistentContainer.open(
            "Actors", model: SwiftPredicateTests.model(), at: URL(fileURLWithPath: "/dev/null"))
    }

    nonisolated private static func add(_ names: [String], to context: NSManagedObjectContext) throws -> Int {
        for name in names { BandMember(context: context).name = name }
        try context.save()
        return try context.count(for: NSFetchRequest<BandMember>(entityName: "BandMember"))
    }

    @Test func theMainActorAwaitsWorkOfOtherQueues() async throws {
        let container = try Self.container()
        let (background, names) = (container.newBackgroundContext(), Self.names)
        let ids = try await background.perform {
            dispatchPrecondition(condition: .notOnQueue(.main))
            let members = names.map { name in
                let member = BandMember(context: background)
                member.name = name
                return member
            }
            try background.save()
            return members.map { $0.objectID }
        }
        #expect(ids.compactMap { (try? container.viewContext.existingObject(with: $0) as? BandMember)?.name } == names)
        let lengths = try await container.performBackgroundTask { context in
            let found = try context.fetch(NSFetchRequest<BandMember>(entityName: "BandMember"))
            return found.map { $0.name?.count ?? 0 }.sorted { $0 > $1 }
        }
        #expect(lengths == [3, 2, 1])
        let coordinator = container.persistentStoreCoordinator
        #expect(await coordinator.perform { coordinator.persistentStores.map { $0.type } } == [NSSQLiteStoreType])
        // If the caller is on the queue already, the closure runs in place.
        let counts = await container.viewContext.perform {
            dispatchPrecondition(condition: .onQueue(.main))
            return names.map { $0.count }
        }
        #expect(counts == [3, 2, 1])
    }

    @Test func theMainActorLeavesWorkToOtherQueues() throws {
        let container = try Self.container()
        let (background, names) = (container.newBackgroundContext(), Self.names)
        let done = DispatchSemaphore(value: 0)
        background.perform {
            names.forEach { BandMember(context: background).name = $0 }
            #expect((try? background.save()) != nil)
            done.signal()
        }
        done.wait()
        container.performBackgroundTask { context in
            let found = try? context.fetch(NSFetchRequest<BandMember>(entityName: "BandMember"))
            #expect(found?.map { $0.name }.count == 3)
            done.signal()
        }
        done.wait()
        container.persistentStoreCoordinator.perform {
            #expect(names.filter { !$0.isEmpty }.count == 3)
            done.signal()
        }
        done.wait()
    }

    @Test func theMainActorWaitsForAnyQueue() throws {
        let container = try Self.container()
        let background = container.newBackgroundContext()
        for context in [background, container.viewContext] {
            let added = try context.performAndWait {
                try Self.names.map { try Self.add([$0], to: context) }.count
            }
            #expect(added == 3)
        }
        let coordinator = container.persistentStoreCoordinator
        #expect(coordinator.performAndWait { coordinator.persistentStores.map { $0.type }.count } == 1)
    }

    /// An actor that uses contexts of any queue.
    private actor Clerk {
        let container: NSPersistentContainer
        init(_ container: NSPersistentContainer) { self.container = container }

        func count(in context: NSManagedObjectContext) async throws -> Int {
            try await context.perform {
                try ActorClosureTests.names(in: context).map { $0.count }.reduce(0) { $0 + $1 }
            }
        }

        func wait(in context: NSManagedObjectContext) throws -> Int {
            try context.performAndWait { try ActorClosureTests.names(in: context).map { $0.count }.count }
        }
    }

    nonisolated private static func names(in context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<BandMember>(entityName: "BandMember")).compactMap { $0.name }
    }

    @Test func otherActorsMayDoSo() async throws {
        let container = try Self.container()
        _ = try Self.add(Self.names, to: container.viewContext)
        let clerk = Clerk(container)
        for context in [container.viewContext, container.newBackgroundContext()] {
            #expect(try await clerk.count(in: context) == 6)
        }
        #expect(try await clerk.wait(in: container.newBackgroundContext()) == 3)
    }

    @Test func expressionsAreEvaluatedAnywhere() async throws {
        let container = try Self.container()
        _ = try Self.add(Self.names, to: container.viewContext)
        let length = NSExpression(
            block: { object, _, _ in [(object as? BandMember)?.name ?? ""].map { $0.count }[0] }, arguments: nil)
        let background = container.newBackgroundContext()
        let lengths = try await background.perform {
            try background.fetch(NSFetchRequest<BandMember>(entityName: "BandMember")).compactMap {
                length.expressionValue(with: $0, context: nil) as? Int
            }
        }
        #expect(lengths.sorted() == [1, 2, 3])
    }
}
