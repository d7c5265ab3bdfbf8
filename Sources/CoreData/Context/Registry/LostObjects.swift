/// Objects of a context whose store was removed from the coordinator, kept while their changes could be missed: a save
/// that silently skipped them would look successful.
struct LostObjects {
    private struct Entry {
        weak var object: NSManagedObject?
    }

    /// Objects without changes when they were lost.
    private var unchanged: [Entry] = []
    private var changed = 0
    private var stores: [String] = []

    var isEmpty: Bool { stores.isEmpty }

    /// Adds the objects of a removed store. Must be called before the context releases them.
    mutating func add(_ objects: [NSManagedObject], of store: NSPersistentStore) {
        stores.append(store.url?.path ?? store.identifier ?? "")
        for object in objects {
            if !object.flags.isDisjoint(with: .unsaved) {
                changed += 1
            } else if !object.hasOwnValues {
                unchanged.append(Entry(object: object))
            }
        }
    }

    /// Checks that no changes were lost with the objects.
    ///
    /// - Throws: 134030 if a lost object had changes, or was changed afterwards.
    mutating func check() throws {
        guard !isEmpty else { return }
        unchanged.removeAll { $0.object == nil }
        let count = changed + unchanged.count { $0.object?.hasOwnValues ?? false }
        if count == 0 {
            if unchanged.isEmpty { self = LostObjects() }
            return
        }
        throw CoreDataError.make(
            134030,
            "Cannot save \(count) changed object\(count == 1 ? "" : "s"): the store \(stores.joined(separator: ", ")) was removed "
                + "from the coordinator or destroyed. reset() or rollback() drops the changes.")
    }
}
