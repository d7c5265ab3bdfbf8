import CoreData
import Foundation
import Testing

private final class OwnCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {}

/// What programs write and must compile (18.23). Only the public interface.
@MainActor @Suite struct SpellingTests {
    @Test func p23_coordinatorsAreMadeOfAMetatype() {
        let type: NSPersistentStoreCoordinator.Type = OwnCoordinator.self
        let coordinator = type.init(managedObjectModel: NSManagedObjectModel())
        #expect(coordinator is OwnCoordinator)
    }

    @Test func p23_optionsThatMeanNothingHereAreTaken() throws {
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

    @Test func p23_sortDescriptorsOfSwiftSortFetches() throws {
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

    @Test func p21_requestsAreErasedAndTyped() throws {
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
        // Whatever takes an erased request takes any.
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        #expect(try context.count(for: erased) == 0 && context.count(for: request) == 0)
        try desk.close(container)
    }
}

final class SpelledCustomer: NSManagedObject {
    @Managed var name: String?
}
