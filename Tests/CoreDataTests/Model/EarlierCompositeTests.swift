import Foundation
import ModelFiles
import Testing

@testable import CoreData

/// Stores and models of earlier versions, which archived and hashed composite attributes differently, still open.
@Suite struct EarlierCompositeTests {
    private static func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        return composite
    }

    /// Shop {street, address and depot {street, number, place {longitude, latitude}}}.
    private static func model() -> NSManagedObjectModel {
        let attribute = StoreModels.attribute
        let place = composite(
            "place", [attribute("longitude", .doubleAttributeType), attribute("latitude", .doubleAttributeType)])
        let elements = [
            attribute("street", .stringAttributeType), attribute("number", .integer16AttributeType), place,
        ]
        return StoreModels.model([
            StoreModels.entity(
                "Shop",
                [
                    composite("address", elements), composite("depot", elements),
                    attribute("street", .stringAttributeType),
                ])
        ])
    }

    /// The hash of Shop in such a version.
    private static let hash = Data([
        0x8f, 0xa7, 0x46, 0x3a, 0xfa, 0xe0, 0xec, 0x1f, 0x9e, 0x00, 0x93, 0xd3, 0x94, 0x5e, 0x4a, 0x63,
        0x5d, 0x35, 0x0b, 0x47, 0x21, 0x0d, 0x88, 0xc9, 0xe3, 0x56, 0x68, 0x85, 0x70, 0x5a, 0xa4, 0x3f,
    ])

    @Test func theHashesOfEarlierVersionsFit() throws {
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: ["Shop": Self.hash]]
        let model = Self.model()
        #expect(model.entityVersionHashesByName["Shop"] != Self.hash)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(NSManagedObjectModel(byMerging: [model], forStoreMetadata: metadata) != nil)
        let other = Self.model()
        other.entitiesByName["Shop"]?.attributesByName["address"]?.isOptional = false
        #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test func modifiersChangeTheHash() throws {
        let model = Self.model()
        let address = try #require(model.entitiesByName["Shop"]?.attributesByName["address"])
        let before = (address.versionHash, model.entityVersionHashesByName)
        address.isOptional = false
        #expect(address.versionHash == before.0, "as in Apple's stores")
        address.versionHashModifier = "2"
        #expect(address.versionHash != before.0 && model.entityVersionHashesByName != before.1)
    }

    /// A store with the metadata and model of such a version opens with the program's model and with its own.
    @Test func theirStoresOpenAndKeepTheirValues() throws {
        let harness = try StoreHarness(Self.model())
        let first = try harness.open()
        try first.insert(
            "Shop",
            [
                "street": .text("Main"),
                "address": .object(["street": "Yard", "number": 3, "place": ["latitude": 1.5]] as NSDictionary),
                "depot": .object(["street": "Quay"] as NSDictionary),
            ])
        var metadata = try #require(first.store.metadata)
        metadata[NSStoreModelVersionHashesKey] = ["Shop": Self.hash]
        try first.close()
        try SQLiteStore.setMetadata(metadata, forPersistentStoreAt: harness.url)
        let archive = try #require(Data(base64Encoded: Self.archive, options: .ignoreUnknownCharacters))
        let text = archive.map { String(format: "%02x", $0) }.joined()
        _ = try harness.sql("UPDATE Z_MODELCACHE SET Z_CONTENT = x'\(text)'")

        let kept = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: harness.url)
        for model in [Self.model(), kept] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: harness.url)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let shop = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shop")).first)
                #expect(shop.value(forKey: "street") as? String == "Main")
                #expect(shop.value(forKeyPath: "address.street") as? String == "Yard")
                #expect(shop.value(forKeyPath: "address.place.latitude") as? Double == 1.5)
                #expect(shop.value(forKeyPath: "depot.street") as? String == "Quay")
                shop.setValue((shop.value(forKeyPath: "address.number") as? Int ?? 0) + 1, forKeyPath: "address.number")
                try context.save()
            }
            try coordinator.remove(store)
        }
        #expect(
            try harness.sql("SELECT ZNUMBER, ZSTREET, ZSTREET1, ZSTREET2 FROM ZSHOP")
                == [[.integer(5), .text("Yard"), .text("Quay"), .text("Main")]])
    }

    /// A migration finds the model version of a store that an earlier framework version wrote.
    @Test func theirStoresAreMigrated() throws {
        let harness = try StoreHarness(Self.model())
        let first = try harness.open()
        try first.insert("Shop", ["address": .object(["street": "Yard"] as NSDictionary)])
        var metadata = try #require(first.store.metadata)
        metadata[NSStoreModelVersionHashesKey] = ["Shop": Self.hash]
        try first.close()
        try SQLiteStore.setMetadata(metadata, forPersistentStoreAt: harness.url)
        let next = Self.model()
        next.entitiesByName["Shop"]?.properties.append(StoreModels.attribute("name", .stringAttributeType))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: next)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: harness.url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        #expect(store.metadata[NSStoreModelVersionHashesKey] as? [String: Data] == next.entityVersionHashesByName)
        #expect(try harness.sql("SELECT ZSTREET FROM ZSHOP") == [[.text("Yard")]])
    }

    /// That version's archive of the model, with the elements under `NSElements`.
    private static let archive = """
        dVVpcBNVHN99+97SUCApPaCXXOGG0ksLCEJLKU2gaW3S9LB02SSvaehmN93dgMHreXBZufGioG0CisqtgAden/yggwr1CzrMOA4fcIZxVEZnPB
        jfbkIBoftl93+8///3+x9vfREppOnFxYMs4CDiP/io1S6q/q7QOqy22BXfWuzXNY9dVyItdqrSQoos2Kwu90ocw4HKlONxW9mItIxJ989f/FD1
        yvqHHY1uT1Pr6g7B5+8MhtYqanTDY48/8RR5euPzO/e8+PJr8cQ7x0+8d7bJLkcladAyMn3U6DFWm9ful0RNa3O5l8t6SA9hTbCNc7lrsO7vas
        Q9UazpHhyOSKJuWLJcbm8SjiOAqX9niEqklMwlDCm+ZBmbmZWdM258bl5+QUHhfQUTrBOt5pllRgqXGMY1imqmibWn8sUMrelTJ8piEAfqTe51
        SgBL1KdBVSJYTaKiPo1YFsMhOXgr+WqX2x314RR0U6IHTDlGOTVpWHXInYpgyx5CXitqXTS+eZxMJzxhyTQyglh+sEyeYp86bfqMmTmzZs+ZW2
        SdV1xSWlZmLTcrX6nrasgX1bEnFqGAc2/TeEUpiocodrjc1bhTjEq6qTcKK+EwRaS13ORMdTWSGNRoNylHh1Yf0SkuUeoYIpwqSw4FbQTxqKKs
        dSpqGKuGoVFoIAUZaeVkFCkkwMZYSLrt97vgP0DhV1RYy8lUct/3hjFlW7DwQSs1LVpETbYMcI5YyRiPu0uJXLQsWVpZtazZ5S7qxjFjJIpSk0
        jS+vsvLK9ZUduSnBastSU/aDtwotbhFGyZtINRXfRJuDrkN+moBrlbAmWf7K2RZlWdi4w0YzY44g5nsxgIqFjThoHp1XQVY51GcNOSy0F6zNuc
        aG5xmhUa6kM11vxqyKyl2e+btbxNf0eCtkeMBO3t1nJbgGSSsV45GvbR/XO5XebHXRVdQ91FkZYtj2Q30ZXw4zviBcx4GFvLM9jrZFyrpMjBkB
        4N3Murq4uGyW2ha2V6XLAs7ZZIfjwskxwynvKL9MR7nLQTlaoqxqis6Qd1k/AEuk1KOKJoIR3fi7kRaV1i/aMxMppkkKymAI4o+jB1HaYad/F+
        8iZv+zB8hyFoYHkm/uxzZDKZYnxvSmzespVMIBPJJHPWel9IlFUsSmzbvoNwBBJEee7aHd+dnKbkqvyP2d6BAuP10kDxoOWVV/f17T9wwGPMql
        fCclDvak7dlWQ2mWFjabjX+xP9AzRePr06ZWW9TDdOqxMjETpEdJTonRaMlQi2vOGtgm2GIND7T48JmqTogq50Y1ko95eWCwvmB/yC6C/Bgq+i
        okwQvrMcPPTGvjcPv/X2gTbzhMfwXa1h42JPhfWuM9ZZI0VkDplFZlKER44eOnrM3KCc21DcWpsSc5TvYWighTh5ipQMvEvm0Tinz8TPOJvohm
        CdSu9nxbOc335Y6FEVRR/LsJv6mTQmg8ln7MxMppSpZjYwhNnK7GT6mNPMV8x55hvmAjPIXGUZdjRrZ0vYWtbLBliF3cxuZXvZbewOdhe7hz3C
        fsJeYq+y19l/QRrIBnawGCwFVWA5WAEcYCWoAy7QABpBNwgDBWwCW0Av2AZ2gL2gDyTAMXACnASnwFnwGfgSfA2ugN/A3xz9/3GI47l0bgyXw8
        3lyrnFXBVXwwncem47t5Pbze3l+riD3Mfcp9zn3BfcZe5H7ifuGoSQh1aYBXNgLsyHhXAynArnwlJYAVthB/TBAOyEXVCGG+F+eBqehefhFfgz
        vAZ/gb/CP+Bf8B94AzFoBEpHVpSBMlE2ykOFqAzNRwvRElSJnKgeeVEHWoN8KIBCKIx60WF0EV1GV9Gf6AbP8ICHPM+n8xn8LL6KX8bX8k5+Fe
        /i3byXb+dFPsAHeYkxH8Am38w55o6H7/kP
        """
}
