import CoreData
import Foundation
import Testing

/// An actor on the queue of its context.
private actor Repository {
    let context: NSManagedObjectContext
    nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
    private var newest: BandMember?

    init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }

    func add(_ name: String, age: Int64) throws {
        let member = BandMember(context: context)
        member.name = name
        member.age = age
        newest = member
        try context.save()
    }

    func nameOfNewest() -> String? { newest?.name }

    func count() throws -> Int {
        context.assertIsOnQueue()
        return try context.count(BandMember.self)
    }
}

extension NSManagedObjectContext {
    fileprivate func assertIsOnQueue() { checkIsolated() }
}

/// Additions to Apple's interface: creating a stack in one call, fetches and aggregates in one line, actors on a
/// context.
@MainActor @Suite struct ConvenienceTests {
    private func container() throws -> NSPersistentContainer {
        try NSPersistentContainer.open(
            "Bands", model: SwiftPredicateTests.model(), at: URL(fileURLWithPath: "/dev/null"))
    }

    @Test func opensFetchesAndComputes() throws {
        let context = try container().viewContext
        try SwiftPredicateTests.fill(context)
        #expect(try context.count(BandMember.self) == 40)
        #expect(try context.count(BandMember.self, where: #Predicate { $0.isLead }) == 14)
        let oldest = try context.fetch(BandMember.self, sort: [SortDescriptor(\.age, order: .reverse)], limit: 2)
        #expect(oldest.map(\.age) == [35, 34])
        let sorted = try context.fetch(BandMember.self, sort: \.isLead, \.age)
        #expect(
            sorted.map(\.age) == sorted.filter { !$0.isLead }.map(\.age).sorted()
                + sorted.filter(\.isLead).map(\.age).sorted())
        let pay = try context.aggregate(.sum, of: \BandMember.pay) as? Double
        #expect(pay == 1_170)
        #expect(try context.aggregate(.maximum, of: \BandMember.age) as? Int == 35)
        #expect(
            try context.aggregate(.minimum, of: \BandMember.band?.founded, where: #Predicate { $0.age > 0 }) as? Int
                == 1960)
        #expect(try context.aggregate(.average, of: \BandMember.age, where: #Predicate { $0.age > 1000 }) == nil)
    }

    @Test func sayWhyAStoreCannotBeOpened() throws {
        let desk = try MigrationDesk()
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentContainer.open("Bands", model: SwiftPredicateTests.model(), at: desk.folder)
        }
        #expect(error.code.rawValue >= 256)
    }

    @Test func actorsLiveOnAContext() async throws {
        let container = try container()
        let repository = Repository(container)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { try await repository.add("m\(number)", age: Int64(number)) } }
            try await group.waitForAll()
        }
        #expect(try await repository.count() == 20)
        #expect(await repository.nameOfNewest()?.hasPrefix("m") == true)
        #expect(try container.viewContext.count(BandMember.self) == 20)
        let context = repository.context
        context.performAndWait { repository.assumeIsolated { #expect($0.context === context) } }
    }
}
