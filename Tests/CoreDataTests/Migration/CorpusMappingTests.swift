import CoreData
import Testing

/// A mapping model that Apple's compiler made, with its two versions of the model.
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

    /// Compares each mapping of the source with that of Apple's compiler, expression by expression.
    private func compare(_ made: [NSEntityMapping], _ known: [NSEntityMapping]) throws {
        #expect(made.map(\.name) == known.map(\.name))
        for (made, known) in zip(made, known) {
            #expect(made.mappingType == known.mappingType)
            #expect(made.sourceEntityName == known.sourceEntityName)
            #expect(made.destinationEntityName == known.destinationEntityName)
            #expect(made.sourceEntityVersionHash == known.sourceEntityVersionHash)
            #expect(made.destinationEntityVersionHash == known.destinationEntityVersionHash)
            #expect(made.entityMigrationPolicyClassName == known.entityMigrationPolicyClassName)
            #expect(made.sourceExpression?.description == known.sourceExpression?.description)
            for (made, known) in [
                (made.attributeMappings, known.attributeMappings),
                (made.relationshipMappings, known.relationshipMappings),
            ] {
                #expect(made?.map(\.name) == known?.map(\.name))
                #expect(made?.map(\.valueExpression?.description) == known?.map(\.valueExpression?.description))
            }
        }
    }

    @Test func itsSourceSaysTheSame() throws {
        let source = try NSMappingModel.read(
            from: folder.appendingPathComponent("V2toV3.xcmappingmodel"), sourceModel: try model("SampleModel2"),
            destinationModel: try model("SampleModel3"))
        try compare(source.entityMappings, try mapping().entityMappings)
        // The models are in the same folder.
        let alone = try NSMappingModel.read(from: folder.appendingPathComponent("V2toV3.xcmappingmodel"))
        try compare(alone.entityMappings, try mapping().entityMappings)
    }

    @Test func sourcesAreWrittenAndFound() throws {
        let models = (try model("SampleModel2"), try model("SampleModel3"))
        let folder = desk.folder.appendingPathComponent("Resources.bundle")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appendingPathComponent("Copy.xcmappingmodel")
        let known = try mapping()
        known.entityMappings[2].mappingType = .transformEntityMappingType
        for _ in 0..<2 { try known.writeSource(to: copy, sourceModel: models.0, destinationModel: models.1) }
        try compare(NSMappingModel.read(from: copy).entityMappings, known.entityMappings)
        let bundle = try #require(Bundle(path: folder.path))
        let found = NSMappingModel(from: [bundle], forSourceModel: models.0, destinationModel: models.1)
        try compare(try #require(found).entityMappings, known.entityMappings)
        #expect(throws: NSError.self) { try known.write(to: copy) }
        #expect(throws: NSError.self) {
            try known.writeSource(
                to: folder.appendingPathComponent("Copy.cdm"), sourceModel: models.0, destinationModel: models.1)
        }
    }

    /// A damaged source causes one error with the line and never stops the program.
    @Test func damagedSourcesAreReported() throws {
        let file = folder.appendingPathComponent("V2toV3.xcmappingmodel/xcmapping.xml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let place = desk.folder.appendingPathComponent("Damaged.xml")
        let models = (try model("SampleModel2"), try model("SampleModel3"))
        func message(_ text: String) throws -> String {
            try Data(text.utf8).write(to: place)
            do {
                _ = try NSMappingModel.read(from: place, sourceModel: models.0, destinationModel: models.1)
                return "read"
            } catch { return (error as NSError).localizedDescription }
        }
        #expect(try message("<html></html>").contains("not a mapping model"))
        #expect(try message(String(text.prefix(text.count / 2))).contains("Damaged.xml:"))
        #expect(try message(text.replacingOccurrences(of: "idrefs=\"z111\"", with: "idrefs=\"z9\"")) == "read")
        #expect(
            try message(text.replacingOccurrences(of: "z115 z119 z111", with: "z115 z119 z9")).contains("refers to z9"))
        #expect(
            try message(text.replacingOccurrences(of: ">YnBsaXN0MDDUAQIDBAUGVFVY", with: ">AAAA")).contains(
                "not a keyed archive"))
        #expect(
            try message(text.replacingOccurrences(of: "name=\"mappingnumber\"", with: "name=\"sourcepredicate\""))
                .contains("use the .cdm that Xcode's compiler makes"))
        var random = SeededGenerator(seed: 11)
        let bytes = Array(text.utf8)
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0..<4 {
                damaged[.random(in: 0..<damaged.count, using: &random)] = .random(in: 32..<127, using: &random)
            }
            try Data(damaged).write(to: place)
            _ = try? NSMappingModel.read(from: place, sourceModel: models.0, destinationModel: models.1)
        }
        try Data(text.utf8).write(to: place)
        let lost = try #require(throws: NSError.self) { try NSMappingModel.read(from: place) }
        #expect(lost.localizedDescription.contains("SampleModel2.xcdatamodel': put it into the folder"))
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
