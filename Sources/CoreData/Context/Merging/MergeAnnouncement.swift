import Dispatch

/// What the notifications of a merge carry for the lists that follow the context, beside what they tell programs.
struct MergeAnnouncement {
    /// Since when all is merged that other processes committed; `nil` where that is not known, or where commits of this
    /// process may be on their way that no history tells of.
    let completeSince: DispatchTime?

    /// The key that Apple's framework uses for the objects that a merge changed.
    static let changedObjectsKey = "NSObjectsChangedByMergeChangesKey"

    private static let key = "NSManagedObjectContextMergeAnnouncement"

    /// The merge that a notification with `info` is of; `nil` if it is of none. Objects-did-change of a merge is followed by
    /// did-merge-object-IDs, which names the rows too for which the context has no object.
    init?(in info: [AnyHashable: Any]) {
        guard let found = info[Self.key] as? MergeAnnouncement else { return nil }
        self = found
    }

    init(completeSince: DispatchTime?) { self.completeSince = completeSince }

    func add(to info: inout [AnyHashable: Any]) { info[Self.key] = self }
}
