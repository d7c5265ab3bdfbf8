import Foundation

/// What a fetch gives, in one of the forms that a request can ask for.
enum FetchResults {
    case objects([NSManagedObject])
    case objectIDs([NSManagedObjectID])
    case dictionaries([NSDictionary])
    case count(Int)

    /// The results without their type. Copies the list.
    var untyped: [AnyObject] {
        switch self {
        case .objects(let objects): objects
        case .objectIDs(let ids): ids
        case .dictionaries(let dictionaries): dictionaries
        case .count(let count): [NSNumber(value: count)]
        }
    }

    /// The results as elements of `type`; `nil` where one of them is none.
    func typed<T: AnyObject>(as type: T.Type) -> [T]? {
        switch self {
        case .objects(let objects): Self.retyped(objects, as: type)
        case .objectIDs(let ids): Self.retyped(ids, as: type)
        default: untyped as? [T]
        }
    }

    /// The same list under another element type, if all elements are of it.
    private static func retyped<Element: AnyObject, T: AnyObject>(_ list: [Element], as type: T.Type) -> [T]? {
        guard T.self == Element.self || T.self == AnyObject.self || list.allSatisfy({ $0 is T }) else { return nil }
        // A list of references is the same in memory whatever class it is declared with; casting it would copy it, at a
        // third of the cost of a whole fetch.
        return unsafeBitCast(list, to: [T].self)
    }
}
