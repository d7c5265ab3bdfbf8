import Dispatch

/// Data in a merge's notifications for lists that follow the context, in addition to the public keys.
struct MergeAnnouncement {
    /// The time since which all commits of other processes are merged; `nil` if that is unknown, or if commits of this
    /// process that no history reports may still arrive.
    let completeSince: DispatchTime?

    /// The key that Apple's framework uses for the objects that a merge changed.
    static let changedObjectsKey = "NSObjectsChangedByMergeChangesKey"

    private static let key = "NSManagedObjectContextMergeAnnouncement"

    /// The merge that a notification with `info` belongs to; `nil` if none. Objects-did-change of a merge is followed
    /// by did-merge-object-IDs, which also names rows for which the context has no object.
    init?(in info: [AnyHashable: Any]) {
        guard let found = info[Self.key] as? MergeAnnouncement else { return nil }
        self = found
    }

    init(completeSince: DispatchTime?) { self.completeSince = completeSince }

    func add(to info: inout [AnyHashable: Any]) { info[Self.key] = self }
}
