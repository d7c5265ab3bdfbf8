import CoreData
import Foundation
import Testing

private final class OwnCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {}

/// Source of programs that must compile (issue 18, point 23). Uses only the public interface.
@MainActor @Suite struct SpellingTests {
    @Test func coordinatorsAreCreatedFromAMetatype() {
        let type: NSPersistentStoreCoordinator.Type = OwnCoordinator.self
        let coordinator = type.init(managedObjectModel: NSManagedObjectModel())
        #expect(coordinator is OwnCoordinator)
    }

    @Test func optionsWithoutMeaningOnLinuxAreAccepted() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Spelling-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let options: [AnyHashable: Any] = [
            NSBinaryStoreSecureDecodingClasses: Set<AnyHashable>(),
            NSBinaryStoreInsecureDecodingCompatibilityOption: true, NSPersistentStoreConnectionPoolMaxSizeKey: 3,
            NSPersistentStoreFileProtectionKey: "none", NSValidateXMLStoreOption: true,
            NSPersistentStoreOSCompatibility: 1040, NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
        ]
        for type in [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType] {
            let model = MigrationDesk.model([MigrationDesk.entity("Note", [MigrationDesk.attribute("text")])])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: folder.appendingPathComponent(type), options: options)
            #expect(store.metadata[NSPersistentStoreModelVersionChecksumKey] is String)
        }
    }

    @Test func sortDescriptorsOfSwiftSortFetches() throws {
        let desk = try MigrationDesk()
        let order = MigrationDesk.entity("ShopCustomer", [MigrationDesk.attribute("name")])
        order.managedObjectClassName = "CoreDataTests.SpelledCustomer"
        let container = try desk.open(MigrationDesk.model([order]))
        let context = container.viewContext
        for name in ["b", "ä", "a"] { SpelledCustomer(context: context).name = name }
        try context.save()
        let request = NSFetchRequest<SpelledCustomer>(entityName: "ShopCustomer")
        request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\SpelledCustomer.name, order: .reverse))]
        #expect(request.sortDescriptors?.first?.key == "name")
        #expect(try context.fetch(request).map(\.name) == ["ä", "b", "a"])
        try desk.close(container)
    }

    @Test func transformersHaveInitialisersOfTheirOwn() {
        #expect(PrefixTransformer(prefix: "a").transformedValue("b") as? String == "ab")
    }

    @Test func comparisonsCanBeSubclassed() {
        let one = NSExpression(forConstantValue: 1)
        let loose = LooseComparison(
            leftExpression: one, rightExpression: NSExpression(forConstantValue: 2), modifier: .direct, type: .equalTo)
        #expect(loose.evaluate(with: nil) && loose.calls == 1)
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: loose).evaluate(with: nil) == false)
    }

    @Test func protocolsRefineTheResultsOfRequests() throws {
        let desk = try MigrationDesk()
        let entity = MigrationDesk.entity("ShopCustomer", [MigrationDesk.attribute("name")])
        entity.managedObjectClassName = "CoreDataTests.SpelledCustomer"
        let container = try desk.open(MigrationDesk.model([entity]))
        SpelledCustomer(context: container.viewContext).name = "a"
        try container.viewContext.save()
        let customers: [SpelledCustomer] = try named("ShopCustomer", in: container.viewContext)
        #expect(customers.map(\.name) == ["a"])
        try desk.close(container)
    }

    private func named<Result: NamedResult>(
        _ entity: String, in context: NSManagedObjectContext
    ) throws -> [Result] {
        let request = NSFetchRequest<Result>(entityName: entity)
        return try context.fetch(request).filter { $0.name != nil }
    }

    @Test func requestsAreErasedAndTyped() throws {
        let desk = try MigrationDesk()
        let entity = MigrationDesk.entity("ShopCustomer", [MigrationDesk.attribute("name")])
        entity.managedObjectClassName = "CoreDataTests.SpelledCustomer"
        let container = try desk.open(MigrationDesk.model([entity]))
        let context = container.viewContext
        for name in ["a", "b", "c"] { SpelledCustomer(context: context).name = name }
        try context.save()
        let request = NSFetchRequest<SpelledCustomer>(entityName: "ShopCustomer")
        request.predicate = NSPredicate(format: "name > 'a'")
        let erased: NSFetchRequest<NSFetchRequestResult> = request.erased
        #expect(erased === request)
        let typed: NSFetchRequest<SpelledCustomer> = erased.typed(as: SpelledCustomer.self)
        #expect(try Set(context.fetch(typed).map(\.name)) == ["b", "c"])
        let plain = request.typed(as: NSManagedObject.self)
        #expect(try context.fetch(plain).count == 2)
        // A parameter for an erased request accepts any request.
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        #expect(try context.count(for: erased) == 0 && context.count(for: request) == 0)
        try desk.close(container)
    }
}

protocol NamedResult: NSFetchRequestResult {
    var name: String? { get }
}

/// A program's subclass of a comparison.
private final class LooseComparison: NSComparisonPredicate {
    private(set) var calls = 0

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        calls += 1
        return !super.evaluate(with: object, substitutionVariables: bindings)
    }
}

private final class PrefixTransformer: ValueTransformer, @unchecked Sendable {
    private let prefix: String

    init(prefix: String) {
        self.prefix = prefix
        super.init()
    }

    override func transformedValue(_ value: Any?) -> Any? { prefix + (value as? String ?? "") }
}

final class SpelledCustomer: NSManagedObject, NamedResult {
    @Managed var name: String?
}
