/// A set of managed objects. Most relationships have a handful of members, for which a linear search is faster than
/// hashing. So only a larger set gets a table of positions, at its first search.
struct ObjectSet: Collection {
    private var members: [NSManagedObject] = []
    /// The position of each member; `nil` if the set is small or was never searched.
    private var places: [ObjectIdentifier: Int]?

    /// The maximum number of members for a linear search.
    private static let few = 16

    init() {}

    /// - Parameter objects: Distinct objects.
    init(_ objects: [NSManagedObject]) { members = objects }

    var startIndex: Int { 0 }
    var endIndex: Int { members.count }
    func index(after index: Int) -> Int { index + 1 }
    subscript(index: Int) -> NSManagedObject { members[index] }

    /// The members as an array.
    var all: [NSManagedObject] { members }

    func contains(_ object: NSManagedObject) -> Bool { place(of: object) != nil }

    private func place(of object: NSManagedObject) -> Int? {
        if let places { return places[ObjectIdentifier(object)] }
        return members.firstHeldIndex(of: object)
    }

    /// Creates the table of positions if the set is large enough.
    mutating func prepareForSearch() {
        guard places == nil, members.count > Self.few else { return }
        places = Dictionary(
            members.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Adds an object to the set.
    ///
    /// - Returns: `true` if the object was not a member.
    @discardableResult
    mutating func insert(_ object: NSManagedObject) -> Bool {
        prepareForSearch()
        guard !contains(object) else { return false }
        insertNew(object)
        return true
    }

    /// - Precondition: The object is not a member.
    mutating func insertNew(_ object: NSManagedObject) {
        places?[ObjectIdentifier(object)] = members.count
        members.append(object)
    }

    /// Removes an object from the set.
    ///
    /// - Returns: `true` if the object was a member.
    @discardableResult
    mutating func remove(_ object: NSManagedObject) -> Bool {
        prepareForSearch()
        guard let place = place(of: object) else { return false }
        places?[ObjectIdentifier(object)] = nil
        let last = members.removeLast()
        if last !== object {
            members[place] = last
            places?[ObjectIdentifier(last)] = place
        }
        return true
    }
}
