import Foundation

extension NSManagedObjectContext {
    /// The current results of the fetched property `number` of `object`.
    ///
    /// - Precondition: The request can be executed; as Apple's raises, an accessor cannot report an error.
    final func objects(ofFetchedProperty number: Int, of object: NSManagedObject) -> [AnyObject] {
        guard let property = object.layout.fetchedProperties[number] as? NSFetchedPropertyDescription,
            let request = property.fetchRequest?.copy() as? NSFetchRequest<NSFetchRequestResult>
        else { return [] }
        request.predicate = request.predicate?.withSubstitutionVariables([
            "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
        ])
        do {
            return try fetchPipeline.fetch(request)
        } catch {
            preconditionFailure(
                "Cannot fetch the fetched property '\(property.name)' of '\(object.objectID)': "
                    + (error as NSError).localizedDescription)
        }
    }
}

/// Lets a fetched property's predicate use values of the property in the model: `$FETCHED_PROPERTY.userInfo.kind`.
extension NSPropertyDescription: KeyValueReadable {
    package func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "userInfo": userInfo
        case "entity": owningEntity
        default: nil
        }
    }
}
