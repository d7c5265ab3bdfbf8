import Foundation

// What most programs write around a container and a context, as one call each. Additions to Apple's interface.

extension NSPersistentContainer {
    /// A container whose stores are open.
    ///
    /// - Parameters:
    ///   - name: the name of the model, as for ``init(name:)``.
    ///   - model: the model, where it is at hand; else it is looked up by its name.
    ///   - storeURL: where the SQLite store is; `nil` is the default place, `/dev/null` a store in memory.
    /// - Returns: the container.
    /// - Throws: the first error with which a store could not be opened.
    public static func open(
        _ name: String, model: NSManagedObjectModel? = nil, at storeURL: URL? = nil
    ) throws -> NSPersistentContainer {
        let container =
            model.map { NSPersistentContainer(name: name, managedObjectModel: $0) }
            ?? NSPersistentContainer(name: name)
        if let storeURL { container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: storeURL)] }
        for description in container.persistentStoreDescriptions { description.shouldAddStoreAsynchronously = false }
        var failure: (any Error)?
        container.loadPersistentStores { failure = failure ?? $1 }
        if let failure { throw failure }
        return container
    }
}

extension NSManagedObjectContext {
    /// The objects of a class.
    ///
    /// ```swift
    /// let best = try context.fetch(Team.self, where: #Predicate { $0.wins > 3 }, sort: \.teamName)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the class; objects of classes that descend from it are found too.
    ///   - predicate: which of them; `nil` is all.
    ///   - keyPaths: the properties to sort by, ascending, the first one first.
    ///   - limit: how many at the most; 0 is no limit.
    /// - Returns: the objects, in order.
    /// - Throws: `CocoaError` 2048 where `predicate` cannot be converted; what `fetch(_:)` throws.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sort keyPaths: PartialKeyPath<Object>...,
        limit: Int = 0
    ) throws -> [Object] {
        let order = try keyPaths.map { NSSortDescriptor(key: try Self.key(of: $0), ascending: true) }
        return try fetch(try Self.request(type, predicate, order, limit))
    }

    /// The objects of a class, in the order of sort descriptors of Swift.
    ///
    /// - Parameters:
    ///   - type: the class; objects of classes that descend from it are found too.
    ///   - predicate: which of them; `nil` is all.
    ///   - descriptors: the order, the first one first.
    ///   - limit: how many at the most; 0 is no limit.
    /// - Returns: the objects, in order.
    /// - Throws: `CocoaError` 2048 where `predicate` cannot be converted; what `fetch(_:)` throws.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sort descriptors: [SortDescriptor<Object>],
        limit: Int = 0
    ) throws -> [Object] {
        try fetch(try Self.request(type, predicate, descriptors.map { NSSortDescriptor($0) }, limit))
    }

    /// How many objects of a class there are.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - predicate: which of them; `nil` is all.
    /// - Returns: their number. Costs a statement, no objects.
    /// - Throws: `CocoaError` 2048 where `predicate` cannot be converted; what ``count(for:)`` throws.
    public func count<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil
    ) throws -> Int {
        try count(for: try Self.request(type, predicate, [], 0))
    }

    /// A sum, an average, the least or the greatest of a property's values. Pending changes do not count: the store answers.
    ///
    /// ```swift
    /// let wins = try context.aggregate(.sum, of: \Team.wins, where: #Predicate { $0.zone == "Europe" })
    /// ```
    ///
    /// - Parameters:
    ///   - function: what is computed.
    ///   - keyPath: the property, also one behind to-one relationships.
    ///   - predicate: over which objects; `nil` is all.
    /// - Returns: the value, an `NSNumber`, `NSDecimalNumber`, date or text that casts as Apple's do; `nil` where there is no
    ///   value. Costs a statement, no objects.
    /// - Throws: `CocoaError` 2048 where `predicate` cannot be converted; what `fetch(_:)` throws.
    public func aggregate<Object: NSManagedObject>(
        _ function: AggregateFunction, of keyPath: PartialKeyPath<Object>, where predicate: Predicate<Object>? = nil
    ) throws -> Any? {
        let value = NSExpressionDescription()
        value.name = "value"
        let key = NSExpression(forKeyPath: try Self.key(of: keyPath))
        value.expression = NSExpression(forFunction: function.rawValue, arguments: [key])
        let typed: NSFetchRequest<Object> = try Self.request(Object.self, predicate, [], 0)
        let request = NSFetchRequest<NSDictionary>(entityName: try Self.entityName(of: Object.self))
        request.predicate = typed.predicate
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [value]
        let found = try fetch(request).first?["value"]
        return found is NSNull ? nil : found
    }

    /// What ``aggregate(_:of:where:)`` computes.
    public enum AggregateFunction: String, Sendable {
        /// The sum of the values.
        case sum = "sum:"
        /// Their average.
        case average = "average:"
        /// The least one.
        case minimum = "min:"
        /// The greatest one.
        case maximum = "max:"
    }

    private static func request<Object: NSManagedObject>(
        _ type: Object.Type, _ predicate: Predicate<Object>?, _ order: [NSSortDescriptor], _ limit: Int
    ) throws -> NSFetchRequest<Object> {
        let request = NSFetchRequest<Object>(entityName: try entityName(of: type))
        request.predicate = try predicate.map { try NSPredicate.parse($0) }
        request.sortDescriptors = order
        request.fetchLimit = limit
        return request
    }

    private static func entityName(of type: NSManagedObject.Type) throws -> String {
        if let name = ManagedObjectClasses.knownEntity(of: type)?.name { return name }
        throw CocoaError(
            CocoaError.Code(rawValue: 2048),
            userInfo: [
                NSLocalizedDescriptionKey: "\(type) has no entity in a model that is in use. Load a store first."
            ])
    }

    private static func key<Object: NSManagedObject>(of keyPath: PartialKeyPath<Object>) throws -> String {
        if let key = Object.key(of: keyPath) { return key }
        throw CocoaError(
            CocoaError.Code(rawValue: 2048),
            userInfo: [
                NSLocalizedDescriptionKey: "\(keyPath) is not a property of an entity in a model that is in use."
            ])
    }
}
