/// The reason why an object's values were replaced, passed to `awake(fromSnapshotEvents:)`.
public struct NSSnapshotEventType: OptionSet, Sendable {
    /// The events as bits.
    public let rawValue: UInt
    /// The events of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// An insertion was undone, or redone.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 2)
    /// A deletion was undone, or redone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 4)
    /// A change of values was undone, or redone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 8)
    /// The context was rolled back.
    public static let rollback = NSSnapshotEventType(rawValue: 16)
    /// The object was refreshed.
    public static let refresh = NSSnapshotEventType(rawValue: 32)
    /// A merge policy resolved a conflict.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 64)
}
