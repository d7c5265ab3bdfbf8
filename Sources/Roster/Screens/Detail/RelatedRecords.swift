import CoreData

/// The records of a to-many relationship. Counts them, or reads the first ones, without reading all.
struct RelatedRecords {
    let object: NSManagedObject
    let relationship: NSRelationshipDescription

    /// Maximum length of a list that is read completely and sorted by name.
    private static let shortList = 500

    /// A request for the related records; `nil` if they can only be read through the record.
    private var request: NSFetchRequest<NSManagedObject>? {
        guard !object.objectID.isTemporaryID, !relationship.isOrdered, !relationship.isTransient,
            object.hasFault(forRelationshipNamed: relationship.name),
            let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity
        else { return nil }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = destination
        request.predicate = NSPredicate(
            format: inverse.isToMany ? "ANY %K == %@" : "%K == %@", inverse.name, object)
        return request
    }

    var predicate: NSPredicate? { request?.predicate }

    func count() -> Int {
        if let request, let count = try? object.managedObjectContext?.count(for: request) { return count }
        return ValueDisplay.destinations(object.value(forKey: relationship.name)).count
    }

    /// The first related records, by name or in the relationship's order.
    func first(_ limit: Int, of count: Int) -> [NSManagedObject] {
        if count > Self.shortList, let request, let context = object.managedObjectContext {
            request.fetchLimit = limit
            if let label = relationship.destinationEntity.flatMap({ EntityDisplay.label(of: $0) }) {
                request.sortDescriptors = [NSSortDescriptor(key: label.name, ascending: true)]
            }
            if let found = try? context.fetch(request) { return found }
        }
        return Array(ValueDisplay.destinations(object.value(forKey: relationship.name)).prefix(limit))
    }
}
