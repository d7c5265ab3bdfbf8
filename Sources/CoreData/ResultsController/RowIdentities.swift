import Foundation

/// Maps rows of a list to objects.
///
/// Design. The token of a saved object of the list's only store is computed from its entity and its key, 63 bits
/// together, so a million rows need no table. All other objects get a number from a table, with the top bit set:
/// unsaved objects, objects of other stores, and keys that are too large for the packed form. An object keeps that
/// number when it is saved and its ID becomes permanent, so a save does not change the list.
final class RowIdentities {
    private static let localBit = UInt64(1) << 63
    private static let referenceBits: UInt64 = 48

    /// The store whose rows are packed; `nil` if several stores hold rows of the list.
    let store: (any RowStore)?
    private(set) var localIDs: [NSManagedObjectID] = []
    private var localNumbers: [NSManagedObjectID: Int] = [:]
    /// Objects that had a temporary ID when they got their number.
    private var unsaved: [Int: UnsavedObject] = [:]

    private struct UnsavedObject {
        weak var object: NSManagedObject?
    }

    init(store: (any RowStore)?) { self.store = store }

    /// A copy of the identities that later saves and new rows do not change.
    func frozen() -> RowIdentities {
        if !unsaved.isEmpty { noteSavedObjects() }
        let copy = RowIdentities(store: store)
        (copy.localIDs, copy.localNumbers) = (localIDs, localNumbers)
        return copy
    }

    /// True if all rows of a frozen copy still have the same IDs: none of its new objects was saved since.
    func agrees(with frozen: RowIdentities) -> Bool {
        if !unsaved.isEmpty { noteSavedObjects() }
        return localIDs.starts(with: frozen.localIDs)
    }

    // MARK: Tokens

    /// The packed form of a key of the store, or `nil` if it does not fit.
    static func token(of key: RowKey) -> RowToken? {
        guard key.entity < 1 << 15, key.reference >= 0, key.reference < Int64(1) << referenceBits else { return nil }
        return RowToken(code: UInt64(key.entity) << referenceBits | UInt64(key.reference))
    }

    /// The key that a token packs, or `nil` if it is a number from the table.
    static func key(of token: RowToken) -> RowKey? {
        guard token.code & localBit == 0 else { return nil }
        return RowKey(
            entity: UInt32(token.code >> referenceBits), reference: Int64(token.code & (1 << referenceBits - 1)))
    }

    /// The entity number of a packed token; for a number from the table, one that no entity has.
    static func entityNumber(of token: RowToken) -> UInt64 { token.code >> referenceBits }

    /// The primary key of a packed token; meaningless for a number from the table.
    static func packedReference(of token: RowToken) -> UInt64 { token.code & (1 << referenceBits - 1) }

    /// The token of `id` if it is in `contents`; does not add to the table.
    func token(of id: NSManagedObjectID, in contents: ListContents) -> RowToken? {
        if let token = knownToken(of: id), contents.contains(token) { return token }
        // The object got its permanent ID after `id` was taken, and the list was fetched after that.
        if let saved = id.successor { return token(of: saved, in: contents) }
        guard !unsaved.isEmpty, !id.isTemporaryID else { return nil }
        noteSavedObjects()
        return localNumbers[id].map(Self.local).flatMap { contents.contains($0) ? $0 : nil }
    }

    /// The token of `object`; adds one to the table if needed.
    func token(of object: NSManagedObject) -> RowToken {
        let id = object.objectID
        if !unsaved.isEmpty && localNumbers[id] == nil && !id.isTemporaryID { noteSavedObjects() }
        let token = token(of: id)
        if id.isTemporaryID, let number = localNumbers[id] { unsaved[number] = UnsavedObject(object: object) }
        return token
    }

    /// The token of `id`; adds one to the table if needed.
    func token(of id: NSManagedObjectID) -> RowToken {
        if let known = knownToken(of: id) { return known }
        localNumbers[id] = localIDs.count
        localIDs.append(id)
        return Self.local(localIDs.count - 1)
    }

    private func knownToken(of id: NSManagedObjectID) -> RowToken? {
        if !localNumbers.isEmpty, let number = localNumbers[id] { return Self.local(number) }
        guard let store, let key = id.rowKey,
            id.isMade(for: store.reference) || id.storeIdentifier == store.identifier
        else { return nil }
        return Self.token(of: key)
    }

    private static func local(_ number: Int) -> RowToken { RowToken(code: localBit | UInt64(number)) }

    /// True if a row precedes another one with equal sort values: see ``ObjectOrdering``.
    func isBefore(_ left: RowToken, _ right: RowToken) -> Bool {
        if let left = Self.key(of: left), let right = Self.key(of: right) { return left.reference < right.reference }
        return ObjectOrdering.compare(objectID(of: left), objectID(of: right)) == .orderedAscending
    }

    // MARK: Objects

    /// The ID of the object with `token`.
    func objectID(of token: RowToken) -> NSManagedObjectID { objectIDs(of: [token])[0] }

    /// The IDs of the objects with `tokens`, in the same order. Takes the coordinator's lock once.
    func objectIDs(of tokens: some Collection<RowToken>) -> [NSManagedObjectID] {
        guard let store, let coordinator = store.persistentStoreCoordinator else { return tokens.map(localID) }
        return coordinator.withLock {
            let operations = store.operations
            return tokens.map { token in Self.key(of: token).map(operations.objectID) ?? localID(of: token) }
        }
    }

    private func localID(of token: RowToken) -> NSManagedObjectID {
        if let key = Self.key(of: token), let store { return store.operations.objectID(for: key) }
        let number = Int(token.code & ~Self.localBit)
        // Updates this entry only: a list may have many new objects, and each of them is looked up here.
        if let entry = unsaved[number] { note(entry, number) }
        return localIDs[number]
    }

    /// The packed form of `token`: itself, or that of an object that was saved since; `nil` if it is unsaved.
    func packed(_ token: RowToken) -> RowToken? {
        guard token.code & Self.localBit != 0 else { return token }
        let id = objectID(of: token)
        guard let store, let key = id.rowKey, id.storeIdentifier == store.identifier else { return nil }
        return Self.token(of: key)
    }

    /// The packed forms of the table's rows in a list; `nil` if one of them has none.
    func packedLocals(in contents: ListContents) -> [RowToken: RowToken]? {
        var result: [RowToken: RowToken] = [:]
        for number in localIDs.indices where contents.contains(Self.local(number)) {
            guard let packed = packed(Self.local(number)) else { return nil }
            result[Self.local(number)] = packed
        }
        return result
    }

    /// The rows of a list read from the store that already have numbers in the table: their objects were saved after
    /// they got one.
    func known(in contents: ListContents) -> [RowToken: RowToken] {
        guard !localIDs.isEmpty else { return [:] }
        noteSavedObjects()
        var known: [RowToken: RowToken] = [:]
        for (number, id) in localIDs.enumerated() where localNumbers[id] == number {
            if let packed = packed(Self.local(number)), contents.contains(packed) { known[packed] = Self.local(number) }
        }
        return known
    }

    /// A list read from the store, with the table numbers of rows that already have one.
    func adopting(_ contents: ListContents) -> ListContents { Self.adopting(contents, known(in: contents)) }

    static func adopting(_ contents: ListContents, _ known: [RowToken: RowToken]) -> ListContents {
        guard !known.isEmpty else { return contents }
        let rows = contents.rows.elements(in: 0..<contents.rowCount).map { known[$0] ?? $0 }
        return ListContents(
            rows: SharedElements(rows), sections: contents.allSections, isSectioned: contents.isSectioned,
            keptSections: contents.keptSections)
    }

    /// Updates the IDs of objects that were saved since they got their number.
    func noteSavedObjects() {
        for (number, entry) in unsaved { note(entry, number) }
    }

    private func note(_ entry: UnsavedObject, _ number: Int) {
        // If the object was saved and released, the successor of its temporary ID is its permanent ID.
        let id = (entry.object?.objectID ?? localIDs[number]).latest
        guard !id.isTemporaryID else {
            if entry.object == nil { unsaved[number] = nil }
            return
        }
        localIDs[number] = id
        localNumbers[id] = number
        unsaved[number] = nil
    }
}
