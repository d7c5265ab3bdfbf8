import CoreData
import CoreDataImport
import Foundation
import Testing

/// A model whose user info defines how to read records of a web service, and a stack with it.
struct ImportWorld {
    let context: NSManagedObjectContext

    /// - Parameter type: The store's type. A SQLite store is kept in memory.
    init(type: String = NSInMemoryStoreType) throws {
        let container = NSPersistentContainer(name: "Service", managedObjectModel: Self.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        container.persistentStoreDescriptions[0].type = type
        if type == NSSQLiteStoreType {
            container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: "/dev/null")
        }
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        context = container.viewContext
    }

    func all(_ entity: String, by key: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }

    /// Imports JSON text, as received from a server.
    @discardableResult
    func take(
        _ json: String, into entity: String = "Person", _ prepare: (RecordImporter) -> Void = { _ in }
    ) throws -> ImportResult {
        let importer = RecordImporter(context: context)
        prepare(importer)
        let read = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return try importer.importRecords(try #require(read as? [[String: Any]]), into: entity)
    }

    // MARK: The model

    private static let model: NSManagedObjectModel = {
        let person = entity("Person", ["relatedByAttribute": "personID"])
        let company = entity("Company", [:])
        let address = entity("Address", [:])
        let trip = entity("Trip", ["relatedByAttribute": "code, year"])
        person.properties = [
            attribute("personID", .integer64AttributeType, ["mappedKeyName": "id"]),
            attribute("name", .stringAttributeType, ["mappedKeyName": "full_name", "mappedKeyName.1": "names.full"]),
            attribute("city", .stringAttributeType, ["mappedKeyName": "residence.city"]),
            attribute("born", .dateAttributeType, ["dateFormat": "dd.MM.yyyy"]),
            attribute("seen", .dateAttributeType, ["dateFormat": "UnixTime"]),
            attribute("joined", .dateAttributeType),
            attribute("score", .decimalAttributeType),
            attribute("level", .integer16AttributeType, ["useDefaultValueWhenNotPresent": "YES"], default: 3),
            attribute("active", .booleanAttributeType),
        ]
        company.properties = [
            attribute("name", .stringAttributeType), attribute("ticker", .stringAttributeType),
        ]
        company.uniquenessConstraints = [["name"]]
        address.properties = [attribute("street", .stringAttributeType)]
        trip.properties = [
            attribute("code", .stringAttributeType), attribute("year", .integer32AttributeType),
            attribute("price", .doubleAttributeType),
        ]
        relate(person, "employer", company, "staff", toMany: false, ["mappedKeyName": "company"])
        relate(person, "formerEmployer", company, "formerStaff", toMany: false, ["relatedByAttribute": "ticker"])
        relate(person, "friends", person, "friendOf", toMany: true, ["mappedKeyName": "friend_ids"])
        relate(person, "home", address, "resident", toMany: false, [:], .cascadeDeleteRule)
        relate(person, "addresses", address, "owner", toMany: true, [:], .cascadeDeleteRule, inverseToMany: false)
        let model = NSManagedObjectModel()
        model.entities = [person, company, address, trip]
        return model
    }()

    private static func entity(_ name: String, _ userInfo: [String: String]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.userInfo = userInfo
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, _ userInfo: [String: String] = [:], default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.userInfo = userInfo
        attribute.defaultValue = value
        return attribute
    }

    private static func relate(
        _ owner: NSEntityDescription, _ name: String, _ target: NSEntityDescription, _ inverseName: String,
        toMany: Bool, _ userInfo: [String: String], _ rule: NSDeleteRule = .nullifyDeleteRule,
        inverseToMany: Bool = true
    ) {
        let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
        for (one, label, end, isToMany) in [
            (relationship, name, target, toMany), (inverse, inverseName, owner, inverseToMany && name != "home"),
        ] {
            one.name = label
            one.destinationEntity = end
            one.maxCount = isToMany ? 0 : 1
            one.isOptional = true
            one.deleteRule = .nullifyDeleteRule
        }
        relationship.deleteRule = rule
        relationship.userInfo = userInfo
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        owner.properties.append(relationship)
        target.properties.append(inverse)
    }
}
