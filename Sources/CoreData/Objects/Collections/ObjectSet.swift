/// A set of managed objects. Most relationships have a handful of members, and looking through a handful is quicker than
/// hashing one: only a larger set gets a table of places, with the first search in it.
struct ObjectSet: Collection {
    private var members: [NSManagedObject] = []
    /// The position of each member; `nil` while the members are few or none was searched.
    private var places: [ObjectIdentifier: Int]?

    /// Up to so many members are looked through.
    private static let few = 16

    init() {}

    /// - Parameter objects: each once.
    init(_ objects: [NSManagedObject]) { members = objects }

    var startIndex: Int { 0 }
    var endIndex: Int { members.count }
    func index(after index: Int) -> Int { index + 1 }
    subscript(index: Int) -> NSManagedObject { members[index] }

    /// The members in an array.
    var all: [NSManagedObject] { members }

    func contains(_ object: NSManagedObject) -> Bool { place(of: object) != nil }

    private func place(of object: NSManagedObject) -> Int? {
        if let places { return places[ObjectIdentifier(object)] }
        return members.firstHeldIndex(of: object)
    }

    /// Makes the next searches quick, if there is enough to search in.
    mutating func prepareForSearch() {
        guard places == nil, members.count > Self.few else { return }
        places = Dictionary(
            members.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: whether the object was no member yet.
    @discardableResult
    mutating func insert(_ object: NSManagedObject) -> Bool {
        prepareForSearch()
        guard !contains(object) else { return false }
        insertNew(object)
        return true
    }

    /// - Precondition: The object is no member.
    mutating func insertNew(_ object: NSManagedObject) {
        places?[ObjectIdentifier(object)] = members.count
        members.append(object)
    }

    /// - Returns: whether the object was a member.
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
