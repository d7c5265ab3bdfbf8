import Foundation

/// The results of a fetch, in one of the forms that a request can ask for.
enum FetchResults {
    case objects([NSManagedObject])
    case objectIDs([NSManagedObjectID])
    case dictionaries([NSDictionary])
    case count(Int)

    /// The number of results.
    var count: Int {
        switch self {
        case .objects(let objects): objects.count
        case .objectIDs(let ids): ids.count
        case .dictionaries(let dictionaries): dictionaries.count
        case .count: 1
        }
    }

    /// The results without their type. Copies the list.
    var untyped: [AnyObject] {
        switch self {
        case .objects(let objects): objects
        case .objectIDs(let ids): ids
        case .dictionaries(let dictionaries): dictionaries
        case .count(let count): [NSNumber(value: count)]
        }
    }

    /// The results as elements of `type`; `nil` if one of them is of another type.
    func typed<T: AnyObject>(as type: T.Type) -> [T]? {
        switch self {
        case .objects(let objects):
            T.self == AnyObject.self || Self.classes(of: objects).allSatisfy { $0 is T.Type }
                ? objects.recast(as: type) : nil
        case .objectIDs(let ids):
            T.self == AnyObject.self || ids.isEmpty || NSManagedObjectID.self is T.Type
                ? ids.recast(as: type) : nil
        default: untyped as? [T]
        }
    }

    /// The classes of the objects, one for each run of objects of the same class.
    private static func classes(of objects: [NSManagedObject]) -> [NSManagedObject.Type] {
        var classes: [NSManagedObject.Type] = []
        var last: NSManagedObject.Type?
        objects.forEachHeld { object in
            guard type(of: object) != last else { return }
            last = type(of: object)
            classes.append(type(of: object))
        }
        return classes
    }
}
