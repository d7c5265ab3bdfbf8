import CoreData
import Testing

/// A mapping model that Apple's compiler made, with the versions of the model that it leads between.
@MainActor @Suite(.enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusMappingTests {
    private let desk: MigrationDesk
    private let folder: URL

    init() throws {
        desk = try MigrationDesk()
        folder = try #require(ModelCorpus.root).appendingPathComponent("stores/coredataplus-samplemodel-v1/model")
    }

    private func model(_ name: String) throws -> NSManagedObjectModel {
        try #require(NSManagedObjectModel(contentsOf: folder.appendingPathComponent("SampleModel.momd/\(name).mom")))
    }

    private func mapping() throws -> NSMappingModel {
        try NSMappingModel.read(from: folder.appendingPathComponent("V2toV3.cdm"))
    }

    @Test func itIsReadWhole() throws {
        let mapping = try mapping()
        #expect(
            Set(mapping.entityMappings.compactMap(\.name)) == [
                "CarToCar", "SportCarToSportCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "Maker",
            ])
        let car = try #require(mapping.entityMappingsByName["CarToCar"])
        #expect(car.mappingType == .customEntityMappingType)
        #expect(car.entityMigrationPolicyClassName == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
        let owner = car.relationshipMappings?.first { $0.name == "owner" }
        #expect(
            owner?.valueExpression?.function == "destinationInstancesForEntityMappingNamed:sourceInstances:")
        #expect(owner?.valueExpression?.arguments?.last?.description == "$source.owner")
        #expect(car.relationshipMappings?.first { $0.name == "createdBy" }?.valueExpression == nil)
        let bundle = try #require(Bundle(path: folder.path))
        let found = NSMappingModel(
            from: [bundle], forSourceModel: try model("SampleModel2"), destinationModel: try model("SampleModel3"))
        #expect(found?.entityMappings.count == 5)
    }

    @Test func itRuns() throws {
        try desk.make(try model("SampleModel2")) { context in
            let people = ["Ada", "李"].map {
                desk.insert("Person", ["firstName": $0, "lastName": "L", "updatedAt": Date()], context)
            }
            for (number, entity) in ["Car", "SportCar", "LuxuryCar", "Car"].enumerated() {
                let car = desk.insert(
                    entity,
                    ["numberPlate": "N\(number)", "model": "M\(number)", "maker": number < 2 ? "FIAT" : "Audi"],
                    context)
                car.setValue(people[number % 2], forKey: "owner")
            }
        }
        let mapping = try mapping()
        NSEntityMigrationPolicy.register(MakerPolicy.self, forName: "V2to3MakerPolicy")
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let manager = NSMigrationManager(
            sourceModel: try model("SampleModel2"), destinationModel: try model("SampleModel3"))
        try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        let container = try desk.open(try model("SampleModel3"), at: made)
        let cars = try desk.all("Car", container.viewContext, by: "numberPlate")
        #expect(cars.map(\.entity.name) == ["Car", "SportCar", "LuxuryCar", "Car"])
        let makers = cars.map { ($0.value(forKey: "createdBy") as? NSManagedObject)?.value(forKey: "name") as? String }
        #expect(makers == ["FIAT", "FIAT", "Audi", "Audi"])
        let owners = cars.map { ($0.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "firstName") as? String }
        #expect(owners == ["Ada", "李", "Ada", "李"])
        #expect(try desk.all("Maker", container.viewContext, by: "name").count == 2)
        try desk.close(container)
    }
}

final class MakerPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
        request.predicate = NSPredicate(format: "name = %@", sInstance.value(forKey: "maker") as? String ?? "")
        let maker =
            try manager.destinationContext.fetch(request).first
            ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
        maker.setValue(sInstance.value(forKey: "maker"), forKey: "name")
        manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first?
            .setValue(maker, forKey: "createdBy")
    }
}
