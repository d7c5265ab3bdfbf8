import Foundation
import Synchronization

/// A row's identity inside its store without an allocation: the concrete entity and the number under which it stands.
///
/// `entity` is the entity's place in its model (``EntityLayout/index``), not the store's `Z_ENT`.
package struct RowKey: Hashable, Sendable {
    package let entity: UInt32
    package let reference: Int64

    package init(entity: UInt32, reference: Int64) {
        self.entity = entity
        self.reference = reference
    }
}

/// What object IDs hold of their store: one object for all of them, so that an ID costs no weak reference of its own.
// SAFETY: immutable but for weak references, which are set once, and read atomically by the runtime.
final class StoreReference: @unchecked Sendable {
    private(set) weak var store: NSPersistentStore?
    /// The same store, as what can be asked for rows.
    private(set) weak var rowStore: (any RowStore)?
    let identifier: String
    /// What the numbers of the IDs stand for; `nil` where they are the rows' own.
    let references: ReferenceTable?

    init(_ store: NSPersistentStore) {
        self.store = store
        rowStore = store as? any RowStore
        identifier = store.identifier ?? ""
        references = identifier.isEmpty ? nil : Swift.type(of: store).references(ofStore: identifier)
    }
}

/// What the IDs of one entity's objects in one store have in common: an ID holds only this and its number.
///
/// Many objects hold stores weakly, and to retain what is held weakly takes several times as long: this is not.
// SAFETY: immutable.
package final class IDFamily: @unchecked Sendable {
    let entity: NSEntityDescription
    /// The place of the entity in its model, kept because every look-up by row asks for it.
    package let entityIndex: UInt32
    let store: StoreReference?
    /// Whether the numbers are those of objects that were never saved.
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
/// Two IDs are equal when they name the same row of the same store, whichever context or coordinator made them. Safe to
/// use on any thread.
// SAFETY: immutable but for the successor, which is set once, atomically.
public final class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    enum Reference: Hashable, Sendable {
        /// The row's number in its store (`Z_PK` in SQLite).
        case permanent(Int64)
        /// A number that no other temporary ID of this process has.
        case temporary(UInt64)
    }

    /// The entity of the object, the concrete one: never an abstract parent.
    public var entity: NSEntityDescription { family.entity }

    /// The store that holds the object; `nil` for a temporary ID that no store was assigned to, or once the store is gone.
    public var persistentStore: NSPersistentStore? { family.store?.store }

    /// The same store, as what can be asked for rows.
    var rowStore: (any RowStore)? { family.store?.rowStore }

    let family: IDFamily
    private let number: Int64

    var reference: Reference {
        family.isTemporary ? .temporary(UInt64(bitPattern: number)) : .permanent(number)
    }
    /// What the ID holds of its store.
    var storeReference: StoreReference? { family.store }
    /// The store's UUID; it outlives the store.
    var storeIdentifier: String { family.store?.identifier ?? "" }

    /// The permanent ID that took the place of this temporary one. Known to the context whose object it is.
    var successor: NSManagedObjectID? { successorBox.load() }
    private let successorBox = AtomicLazyReference<NSManagedObjectID>()

    /// Whether both IDs were made for the same store object. Cheaper than comparing their stores.
    func isInSameStore(as other: NSManagedObjectID) -> Bool { family.store === other.family.store }

    /// Whether the ID was made for that store object.
    func isMade(for store: StoreReference?) -> Bool { family.store === store }

    /// Notes the permanent ID, once.
    func setSuccessor(_ id: NSManagedObjectID) {
        _ = successorBox.storeIfNil(id)
        Self.successionCounter.add(1, ordering: .releasing)
    }

    /// How many temporary IDs of this process have a successor: a user of shared IDs looks again when it moved.
    static var successions: UInt64 { successionCounter.load(ordering: .acquiring) }
    private static let successionCounter = Atomic<UInt64>(0)

    /// The permanent ID that took the place of this one, or itself.
    var latest: NSManagedObjectID { isTemporaryID ? successor ?? self : self }

    /// `true` from insertion until the first save or `obtainPermanentIDs(for:)`.
    public var isTemporaryID: Bool { family.isTemporary }

    /// A temporary ID of no object: contexts and stores make those of objects.
    public override convenience init() { self.init(temporaryFor: NSEntityDescription()) }

    package init(_ family: IDFamily, reference: Int64) {
        self.family = family
        self.number = reference
    }

    convenience init(entity: NSEntityDescription, reference: Int64, store: NSPersistentStore) {
        self.init(store.idFamily(of: entity), reference: reference)
    }

    /// A fresh temporary ID.
    init(temporary family: IDFamily) {
        self.family = family
        self.number = Self.freshTemporaryNumber()
    }

    /// A number that no other temporary ID of this process has.
    static func freshTemporaryNumber() -> Int64 {
        Int64(bitPattern: temporaryCounter.add(1, ordering: .relaxed).newValue)
    }

    /// A fresh temporary ID.
    convenience init(temporaryFor entity: NSEntityDescription, store: NSPersistentStore? = nil) {
        self.init(temporary: IDFamily(entity: entity, store: store?.reference, isTemporary: true))
    }

    private static let temporaryCounter = Atomic<UInt64>(0)
    private static let processPrefix = UUID().uuidString

    /// The key of a permanent ID; `nil` for a temporary one.
    package var rowKey: RowKey? {
        family.isTemporary ? nil : RowKey(entity: family.entityIndex, reference: number)
    }

    /// `x-coredata://<store UUID>/<Entity>/p<number>`, with the text of its reference object for an object of a store that
    /// knows its rows by such, or `x-coredata:///<Entity>/t<unique>` while temporary.
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

    // SAFETY: `object` is held by the caller, and is an ID where the initialiser gives one.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if let other = Unretained<NSManagedObjectID>.exactly(NSManagedObjectID.self, object) {
            return other.with { self === $0 || isEqual(to: $0.family, $0.number) }
        }
        guard let other = object as? NSManagedObjectID else { return false }
        return self === other || isEqual(to: other.family, other.number)
    }

    /// Whether an ID of that family with that number is equal to this one.
    func isEqual(to otherFamily: IDFamily, _ otherNumber: Int64) -> Bool {
        guard number == otherNumber, isTemporaryID == otherFamily.isTemporary else { return false }
        if isTemporaryID || family === otherFamily { return true }
        return storeIdentifier == otherFamily.store?.identifier ?? ""
            && (entity === otherFamily.entity || entity.rootName == otherFamily.entity.rootName)
    }

    public override var hash: Int {
        // Sets and dictionaries of IDs hash this number once more.
        isTemporaryID ? ~Int(truncatingIfNeeded: number) : Int(truncatingIfNeeded: number)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { uriRepresentation().absoluteString }
}
