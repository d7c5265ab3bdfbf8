import CoreData
import Foundation

/// A stack for what every store type must do, and the model for it: a library.
final class StoreConformance {
    let folder: URL
    let url: URL
    let type: NSPersistentStore.StoreType
    let model: NSManagedObjectModel
    private(set) var coordinator: NSPersistentStoreCoordinator

    init(_ type: NSPersistentStore.StoreType) throws {
        PropertyListStore.register()
        DocumentStore.register()
        self.type = type
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("stores-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Library.store")
        model = Self.library()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// Whether the rows outlive their coordinator.
    var keepsRows: Bool { type != .inMemory }

    /// The same store in a new coordinator.
    func reopen(options: [AnyHashable: Any]? = nil) throws {
        try coordinator.remove(store)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url, options: options)
    }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }

    // MARK: The model

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes
        return entity
    }

    private static func relate(
        _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String,
        many: Bool = true, ordered: Bool = false, inverseMany: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, back.name) = (name, inverse)
        (there.destinationEntity, back.destinationEntity) = (to, from)
        (there.maxCount, back.maxCount) = (many ? 0 : 1, inverseMany ? 0 : 1)
        (there.isOptional, back.isOptional) = (true, true)
        there.isOrdered = ordered
        (there.deleteRule, back.deleteRule) = (rule, .nullifyDeleteRule)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        from.properties.append(there)
        to.properties.append(back)
    }

    /// `Author` with books in order (cascade) and an address, `Book` with tags, `Novel` and `Atlas` beneath it, and `Sample`
    /// with an attribute of each type.
    static func library() -> NSManagedObjectModel {
        let author = entity(
            "Author", [attribute("name", .stringAttributeType), attribute("born", .integer32AttributeType)])
        let address = entity("Address", [attribute("city", .stringAttributeType)])
        let book = entity(
            "Book", [attribute("title", .stringAttributeType), attribute("pages", .integer16AttributeType)])
        let novel = entity("Novel", [attribute("hero", .stringAttributeType)])
        let atlas = entity("Atlas", [attribute("maps", .integer64AttributeType)])
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        tag.uniquenessConstraints = [["name"]]
        let bytes = attribute("bytes", .binaryDataAttributeType)
        let list = attribute("list", .transformableAttributeType)
        list.valueTransformerName = "NSSecureUnarchiveFromDataTransformer"
        let sample = entity(
            "Sample",
            [
                attribute("text", .stringAttributeType), attribute("small", .integer16AttributeType),
                attribute("medium", .integer32AttributeType), attribute("large", .integer64AttributeType),
                attribute("real", .doubleAttributeType), attribute("single", .floatAttributeType),
                attribute("price", .decimalAttributeType), attribute("flag", .booleanAttributeType),
                attribute("moment", .dateAttributeType), attribute("id", .UUIDAttributeType),
                attribute("place", .URIAttributeType), bytes, list,
            ])
        relate(author, "books", book, "author", ordered: true, rule: .cascadeDeleteRule)
        relate(author, "address", address, "owner", many: false)
        relate(book, "tags", tag, "books", inverseMany: true)
        book.subentities = [novel, atlas]
        let model = NSManagedObjectModel()
        model.entities = [author, address, book, novel, atlas, tag, sample]
        return model
    }
}

extension NSManagedObjectContext {
    func make(_ entity: String, named name: String? = nil, _ key: String = "name") -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        if let name { object.setValue(name, forKey: key) }
        return object
    }

    func all(
        _ entity: String, where predicate: NSPredicate? = nil, by key: String? = nil
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKey: key) as? String }

    func texts(_ relationship: String, _ key: String) -> [String] {
        let isOrdered = entity.relationshipsByName[relationship]?.isOrdered == true
        let members =
            isOrdered
            ? mutableOrderedSetValue(forKey: relationship).array : mutableSetValue(forKey: relationship).allObjects
        let texts = members.compactMap { ($0 as? NSManagedObject)?.text(key) }
        return isOrdered ? texts : texts.sorted()
    }
}
