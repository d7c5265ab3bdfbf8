import Foundation

/// The entities of the history itself, for fetch requests in `fetchHistory(withFetch:)`.
///
/// They are in a separate model: no store has rows of them, and no objects are created.
enum HistoryEntities {
    static let model: NSManagedObjectModel = {
        let transaction = NSEntityDescription()
        transaction.name = "Transaction"
        let change = NSEntityDescription()
        change.name = "Change"
        let changes = relationship("changes", to: change, isToMany: true)
        let owner = relationship("transaction", to: transaction, isToMany: false)
        changes.inverseRelationship = owner
        owner.inverseRelationship = changes
        transaction.properties =
            [
                attribute("author", .stringAttributeType), attribute("bundleID", .stringAttributeType),
                attribute("contextName", .stringAttributeType), attribute("processID", .stringAttributeType),
                attribute("storeID", .stringAttributeType), attribute("timestamp", .dateAttributeType),
                attribute("token", .undefinedAttributeType), attribute("transactionNumber", .integer64AttributeType),
            ] + [changes]
        change.properties =
            [
                attribute("changedEntity", .undefinedAttributeType), attribute("changedID", .integer64AttributeType),
                attribute("changedObjectID", .undefinedAttributeType), attribute("changeID", .integer64AttributeType),
                attribute("changeType", .integer16AttributeType), attribute("tombstone", .undefinedAttributeType),
                attribute("updatedProperties", .undefinedAttributeType),
            ] + [owner]
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        return model
    }()

    static var transaction: NSEntityDescription? { model.entitiesByName["Transaction"] }
    static var change: NSEntityDescription? { model.entitiesByName["Change"] }

    /// Creates a request for `entity`.
    static func request(for entity: NSEntityDescription?) -> NSFetchRequest<NSFetchRequestResult> {
        let request = NSFetchRequest<NSFetchRequestResult>()
        request.entity = entity
        return request
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.isTransient = type == .undefinedAttributeType
        return attribute
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, isToMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        return relationship
    }
}

extension NSPersistentHistoryTransaction {
    /// The entity of transactions, for a fetch request in
    /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``. Its attributes have the names of this class's
    /// properties. May be called on any queue.
    ///
    /// - Parameter context: the context that will execute the request.
    /// - Returns: the entity, the same for every context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        HistoryEntities.transaction
    }

    /// The entity of transactions, as ``entityDescription(with:)`` returns it. May be called on any queue.
    public class var entityDescription: NSEntityDescription? { HistoryEntities.transaction }

    /// Creates a fetch request for transactions. Set its predicate, order or limit, and pass it to
    /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``. May be called on any queue.
    public class var fetchRequest: NSFetchRequest<NSFetchRequestResult>? {
        HistoryEntities.request(for: HistoryEntities.transaction)
    }
}

extension NSPersistentHistoryChange {
    /// The entity of changes, for a fetch request in ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``.
    /// Its attributes are `changedObjectID`, `changedEntity`, `changeType`, `changeID`, `changedID` (the object's
    /// number in its store) and `transaction`. May be called on any queue.
    ///
    /// - Parameter context: the context that will execute the request.
    /// - Returns: the entity, the same for every context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        HistoryEntities.change
    }

    /// The entity of changes, as ``entityDescription(with:)`` returns it. May be called on any queue.
    public class var entityDescription: NSEntityDescription? { HistoryEntities.change }

    /// Creates a fetch request for changes. Set its predicate, order or limit, and pass it to
    /// ``NSPersistentHistoryChangeRequest/fetchHistory(withFetch:)``. May be called on any queue.
    public class var fetchRequest: NSFetchRequest<NSFetchRequestResult>? {
        HistoryEntities.request(for: HistoryEntities.change)
    }
}

// MARK: - How predicates read them

extension NSPersistentHistoryTransaction: KeyValueReadable {
    package func value(forKey key: String) -> Any? {
        switch key {
        case "author": author
        case "bundleID": bundleID
        case "contextName": contextName
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "token": token
        case "transactionNumber": transactionNumber
        case "changes": changes
        case "self", "SELF": self
        default: nil
        }
    }
}

extension NSPersistentHistoryChange: KeyValueReadable {
    package func value(forKey key: String) -> Any? {
        switch key {
        case "changedEntity": changedObjectID.entity
        case "changedID": changedObjectID.rowKey?.reference
        case "changedObjectID": changedObjectID
        case "changeID": changeID
        case "changeType": changeType.rawValue
        case "tombstone": tombstone
        case "updatedProperties": updatedProperties.map { properties in properties.map(\.name) }
        case "transaction": transaction
        case "self", "SELF": self
        default: nil
        }
    }
}
