/// Objects of one fetch that stand next to each other and came without their rows: the first of them that is touched
/// reads the rows of all with one query.
///
/// Shared by its members; holds IDs only, so that it keeps no object alive.
final class FaultBatch {
    /// How many rows are read at once for a request that names no batch size.
    static let defaultSize = 128

    private let ids: ArraySlice<NSManagedObjectID>

    init(_ ids: ArraySlice<NSManagedObjectID>) { self.ids = ids }

    /// The objects to read when the member `object` is touched: it, and all other members that wait for their rows.
    ///
    /// - Parameter registered: finds the context's object of an ID.
    func waiting(
        with object: NSManagedObject, registered: (NSManagedObjectID) -> NSManagedObject?
    ) -> [NSManagedObject] {
        var result = [object]
        for id in ids {
            guard let member = registered(id), member !== object, member.isFault, member.snapshot == nil else {
                continue
            }
            result.append(member)
        }
        return result
    }
}
