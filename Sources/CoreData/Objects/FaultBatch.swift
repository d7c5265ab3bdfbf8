/// Objects of one fetch or of one to-many relationship that stand next to each other and came without their rows: the
/// first of them that is touched reads the rows of all with one query.
///
/// Shared by its members; holds IDs only, so that it keeps no object alive.
final class FaultBatch {
    /// How many rows are read at once for a request that names no batch size.
    static let defaultSize = 128

    private let ids: ArraySlice<NSManagedObjectID>

    init(_ ids: ArraySlice<NSManagedObjectID>) { self.ids = ids }

    /// Lets those of `objects` that wait for their rows read them together, `size` neighbours at a time.
    static func join(_ objects: [NSManagedObject], size: Int) {
        let waiting = objects.filter { $0.isFault && $0.snapshot == nil }
        guard waiting.count > 1 else { return }
        let ids = waiting.map(\.objectID)
        for start in stride(from: 0, to: ids.count, by: size) {
            let range = start..<min(start + size, ids.count)
            let batch = FaultBatch(ids[range])
            for object in waiting[range] { object.faultBatch = batch }
        }
    }

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
