import Foundation

// The code that most programs write around a container and a context, as one call each. Additions to Apple's interface.

extension NSPersistentContainer {
    /// Creates a container and opens its stores.
    ///
    /// - Parameters:
    ///   - name: the name of the model, as for ``init(name:)``.
    ///   - model: the model; `nil` looks it up by its name.
    ///   - storeURL: the file of the SQLite store; `nil` means the default place, `/dev/null` a store in memory.
    /// - Returns: the container.
    /// - Throws: the first error of opening a store.
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
    ///   - type: the class; includes objects of its subclasses.
    ///   - predicate: the condition; `nil` means all.
    ///   - keyPaths: the properties to sort by, ascending, the first one first.
    ///   - limit: the maximum number of objects; 0 means no limit.
    /// - Returns: the objects, in order.
    /// - Throws: `CocoaError` 2048 if `predicate` cannot be converted; errors of `fetch(_:)`.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sort keyPaths: PartialKeyPath<Object>...,
        limit: Int = 0
    ) throws -> [Object] {
        let order = try keyPaths.map { NSSortDescriptor(key: try Self.key(of: $0), ascending: true) }
        return try fetch(try Self.request(type, predicate, order, limit))
    }

    /// The objects of a class, in the order of Swift sort descriptors.
    ///
    /// - Parameters:
    ///   - type: the class; includes objects of its subclasses.
    ///   - predicate: the condition; `nil` means all.
    ///   - descriptors: the sort descriptors, the first one first.
    ///   - limit: the maximum number of objects; 0 means no limit.
    /// - Returns: the objects, in order.
    /// - Throws: `CocoaError` 2048 if `predicate` cannot be converted; errors of `fetch(_:)`.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sort descriptors: [SortDescriptor<Object>],
        limit: Int = 0
    ) throws -> [Object] {
        try fetch(try Self.request(type, predicate, descriptors.map { NSSortDescriptor($0) }, limit))
    }

    /// The number of objects of a class.
    ///
    /// - Parameters:
    ///   - type: the class.
    ///   - predicate: the condition; `nil` means all.
    /// - Returns: the number. Costs one statement and reads no objects.
    /// - Throws: `CocoaError` 2048 if `predicate` cannot be converted; errors of ``count(for:)``.
    public func count<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil
    ) throws -> Int {
        try count(for: try Self.request(type, predicate, [], 0))
    }

    /// The sum, average, minimum or maximum of a property's values. The store computes it, without pending changes.
    ///
    /// ```swift
    /// let wins = try context.aggregate(.sum, of: \Team.wins, where: #Predicate { $0.zone == "Europe" })
    /// ```
    ///
    /// - Parameters:
    ///   - function: the function to compute.
    ///   - keyPath: the property, possibly across to-one relationships.
    ///   - predicate: the condition for objects; `nil` means all.
    /// - Returns: the value, an `NSNumber`, `NSDecimalNumber`, date or text that casts as Apple's do; `nil` if there is
    ///   no value. Costs one statement and reads no objects.
    /// - Throws: `CocoaError` 2048 if `predicate` cannot be converted; errors of `fetch(_:)`.
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

    /// A function that ``aggregate(_:of:where:)`` computes.
    public enum AggregateFunction: String, Sendable {
        /// The sum of the values.
        case sum = "sum:"
        /// The average of the values.
        case average = "average:"
        /// The minimum of the values.
        case minimum = "min:"
        /// The maximum of the values.
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
                NSLocalizedDescriptionKey: "No loaded model has an entity for \(type). Load a store first."
            ])
    }

    private static func key<Object: NSManagedObject>(of keyPath: PartialKeyPath<Object>) throws -> String {
        if let key = Object.key(of: keyPath) { return key }
        throw CocoaError(
            CocoaError.Code(rawValue: 2048),
            userInfo: [
                NSLocalizedDescriptionKey: "No loaded model has a property for \(keyPath). Load a store first."
            ])
    }
}
