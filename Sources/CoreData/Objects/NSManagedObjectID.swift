import Foundation
import Synchronization

/// The identity of a row inside its store, without an allocation: the concrete entity and the row's number.
///
/// `entity` is the index of the entity in its model (``EntityLayout/index``), not the store's `Z_ENT`.
package struct RowKey: Hashable, Sendable {
    package let entity: UInt32
    package let reference: Int64

    package init(entity: UInt32, reference: Int64) {
        self.entity = entity
        self.reference = reference
    }
}

/// The store of object IDs, shared by all of its IDs, so that an ID needs no weak reference of its own.
// SAFETY: immutable except the weak references, which are set once and read atomically by the runtime.
final class StoreReference: @unchecked Sendable {
    private(set) weak var store: NSPersistentStore?
    /// The same store as a source of rows.
    private(set) weak var rowStore: (any RowStore)?
    let identifier: String
    /// The references that the IDs' numbers represent; `nil` if each number is the row's own.
    let references: ReferenceTable?

    init(_ store: NSPersistentStore) {
        self.store = store
        rowStore = store as? any RowStore
        identifier = store.identifier ?? ""
        references = identifier.isEmpty ? nil : Swift.type(of: store).references(ofStore: identifier)
    }
}

/// The common part of the IDs of one entity in one store. An ID stores only this and its number.
///
/// Never referenced weakly, as stores are: retaining an object with weak references is several times as slow.
// SAFETY: immutable.
package final class IDFamily: @unchecked Sendable {
    let entity: NSEntityDescription
    /// The index of the entity in its model. Cached because each look-up by row uses it.
    package let entityIndex: UInt32
    let store: StoreReference?
    /// True if the numbers belong to objects that were never saved.
    let isTemporary: Bool

    init(entity: NSEntityDescription, store: StoreReference?, isTemporary: Bool) {
        self.entity = entity
        self.entityIndex = UInt32(entity.layout.index)
        self.store = store
        self.isTemporary = isTemporary
    }
}

/// The identity of a managed object: its store, its entity and its key there, or a temporary key until it is saved.
///
/// Two IDs are equal if they refer to the same row of the same store, even if different contexts or coordinators
/// created them. Safe to use on any thread.
// SAFETY: immutable except the successor, which is set once, atomically.
public final class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    enum Reference: Hashable, Sendable {
        /// The row's number in its store (`Z_PK` in SQLite).
        case permanent(Int64)
        /// A number that no other temporary ID of this process has.
        case temporary(UInt64)
    }

    /// The concrete entity of the object, never an abstract parent.
    public var entity: NSEntityDescription { family.entity }

    /// The store of the object; `nil` for a temporary ID without an assigned store, or once the store is deallocated.
    public var persistentStore: NSPersistentStore? { family.store?.store }

    /// The same store as a source of rows.
    var rowStore: (any RowStore)? { family.store?.rowStore }

    let family: IDFamily
    private let number: Int64

    var reference: Reference {
        family.isTemporary ? .temporary(UInt64(bitPattern: number)) : .permanent(number)
    }
    /// The store reference that the ID shares with others.
    var storeReference: StoreReference? { family.store }
    /// The store's UUID; it outlives the store.
    var storeIdentifier: String { family.store?.identifier ?? "" }

    /// The permanent ID that replaced this temporary one. Only the ID instance of the object's context has it.
    var successor: NSManagedObjectID? { successorBox.load() }
    private let successorBox = AtomicLazyReference<NSManagedObjectID>()

    /// True if both IDs were created for the same store instance. Cheaper than comparing their stores.
    func isInSameStore(as other: NSManagedObjectID) -> Bool { family.store === other.family.store }

    /// True if the ID was created for that store instance.
    func isMade(for store: StoreReference?) -> Bool { family.store === store }

    /// Sets the permanent ID, once.
    func setSuccessor(_ id: NSManagedObjectID) {
        _ = successorBox.storeIfNil(id)
        Self.successionCounter.add(1, ordering: .releasing)
    }

    /// The number of temporary IDs of this process with a successor. Code that shares IDs checks again when it grows.
    static var successions: UInt64 { successionCounter.load(ordering: .acquiring) }
    private static let successionCounter = Atomic<UInt64>(0)

    /// The permanent ID that replaced this one, or the ID itself.
    var latest: NSManagedObjectID { isTemporaryID ? successor ?? self : self }

    /// `true` from insertion until the first save or `obtainPermanentIDs(for:)`.
    public var isTemporaryID: Bool { family.isTemporary }

    /// Creates a temporary ID without an object: contexts and stores create those of objects.
    public override convenience init() { self.init(temporaryFor: NSEntityDescription()) }

    package init(_ family: IDFamily, reference: Int64) {
        self.family = family
        self.number = reference
    }

    convenience init(entity: NSEntityDescription, reference: Int64, store: NSPersistentStore) {
        self.init(store.idFamily(of: entity), reference: reference)
    }

    /// Creates a new temporary ID.
    init(temporary family: IDFamily) {
        self.family = family
        self.number = Self.freshTemporaryNumber()
    }

    /// A number that no other temporary ID of this process has.
    static func freshTemporaryNumber() -> Int64 {
        Int64(bitPattern: temporaryCounter.add(1, ordering: .relaxed).newValue)
    }

    /// Creates a new temporary ID.
    convenience init(temporaryFor entity: NSEntityDescription, store: NSPersistentStore? = nil) {
        self.init(temporary: IDFamily(entity: entity, store: store?.reference, isTemporary: true))
    }

    private static let temporaryCounter = Atomic<UInt64>(0)
    private static let processPrefix = UUID().uuidString

    /// The key of a permanent ID; `nil` for a temporary one.
    package var rowKey: RowKey? {
        family.isTemporary ? nil : RowKey(entity: family.entityIndex, reference: number)
    }

    /// `x-coredata://<store UUID>/<Entity>/p<number>`, or `x-coredata:///<Entity>/t<unique>` for a temporary ID. If the
    /// store identifies rows by reference objects, the text of the reference replaces the number.
    public func uriRepresentation() -> URL {
        let name = entity.name ?? ""
        let path =
            switch reference {
            case .permanent(let number):
                "x-coredata://\(storeIdentifier)/\(name)/p"
                    + (storeReference?.references?.text(of: number, root: entity.rootName ?? "") ?? "\(number)")
            case .temporary(let number): "x-coredata:///\(name)/t\(Self.processPrefix)\(number)"
            }
        return URL(string: path) ?? URL(fileURLWithPath: "/\(name)")
    }

    // SAFETY: the caller retains `object`, which is an ID if the initialiser returns one.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if let other = Unretained<NSManagedObjectID>.exactly(NSManagedObjectID.self, object) {
            return other.with { self === $0 || isEqual(to: $0.family, $0.number) }
        }
        guard let other = object as? NSManagedObjectID else { return false }
        return self === other || isEqual(to: other.family, other.number)
    }

    /// True if an ID of that family with that number is equal to this one.
    func isEqual(to otherFamily: IDFamily, _ otherNumber: Int64) -> Bool {
        guard number == otherNumber, isTemporaryID == otherFamily.isTemporary else { return false }
        if isTemporaryID || family === otherFamily { return true }
        return storeIdentifier == otherFamily.store?.identifier ?? ""
            && (entity === otherFamily.entity || entity.rootName == otherFamily.entity.rootName)
    }

    public override var hash: Int {
        // Sets and dictionaries of IDs hash this number again.
        isTemporaryID ? ~Int(truncatingIfNeeded: number) : Int(truncatingIfNeeded: number)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { uriRepresentation().absoluteString }
}
