import CoreData

/// Queries of a screen that filters nearby venues.
@MainActor final class VenueFilter {
    let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    /// Fetches with the model's template and a value for its variable.
    func venues(named name: String) throws -> [Venue] {
        guard let model = context.persistentStoreCoordinator?.managedObjectModel,
            let request = model.fetchRequestFromTemplate(
                withName: "VenuesNamed", substitutionVariables: ["NAME": name])
        else { return [] }
        // A cast to NSFetchRequest<Venue> needs Objective-C.
        return try context.fetch(request.typed(as: Venue.self))
    }

    /// The number of venues with a price, fetched as a number.
    func fetchedCount(of price: String) throws -> Int {
        let fetchRequest = NSFetchRequest<NSNumber>(entityName: "Venue")
        fetchRequest.resultType = .countResultType
        fetchRequest.predicate = NSPredicate(format: "%K == %@", "priceCategory", price)
        return try context.fetch(fetchRequest).first?.intValue ?? 0
    }

    /// The same with `count(for:)`.
    func count(of price: String) throws -> Int {
        let fetchRequest: NSFetchRequest<Venue> = Venue.fetchRequest()
        fetchRequest.predicate = NSPredicate(format: "%K == %@", "priceCategory", price)
        return try context.count(for: fetchRequest)
    }

    /// The sum of all specials, calculated by the store.
    func totalSpecials() throws -> Int {
        let fetchRequest = NSFetchRequest<NSDictionary>(entityName: "Venue")
        fetchRequest.resultType = .dictionaryResultType
        let sumExpressionDesc = NSExpressionDescription()
        sumExpressionDesc.name = "sumDeals"
        let specialCountExp = NSExpression(forKeyPath: "specialCount")
        sumExpressionDesc.expression = NSExpression(forFunction: "sum:", arguments: [specialCountExp])
        sumExpressionDesc.expressionResultType = .integer32AttributeType
        fetchRequest.propertiesToFetch = [sumExpressionDesc]
        let results = try context.fetch(fetchRequest)
        return results.first?["sumDeals"] as? Int ?? 0
    }

    func nearest(within distance: Double) throws -> [Venue] {
        let request: NSFetchRequest<Venue> = Venue.fetchRequest()
        request.predicate = NSPredicate(format: "%K < %f", "location.distance", distance)
        request.sortDescriptors = [NSSortDescriptor(key: "location.distance", ascending: true)]
        return try context.fetch(request)
    }

    func byName(ascending: Bool = true) throws -> [Venue] {
        let request: NSFetchRequest<Venue> = Venue.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(
                key: "name", ascending: ascending, selector: .localizedStandardCompare)
        ]
        return try context.fetch(request)
    }

    /// Makes every venue a favorite without loading it. Returns the number of venues.
    func favorAll() throws -> Int {
        let batchUpdate = NSBatchUpdateRequest(entityName: "Venue")
        batchUpdate.propertiesToUpdate = ["favorite": true]
        batchUpdate.affectedStores = context.persistentStoreCoordinator?.persistentStores
        batchUpdate.resultType = .updatedObjectsCountResultType
        let batchResult = try context.execute(batchUpdate) as? NSBatchUpdateResult
        return batchResult?.result as? Int ?? 0
    }
}
