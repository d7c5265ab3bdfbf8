import Foundation

// How stores of a program's own name their rows: see ``ReferenceTable``.
extension NSPersistentStore {
    /// The ID of the row that a reference names.
    ///
    /// - Precondition: the store has its identifier, which is a part of each ID.
    final func namedID(_ entity: NSEntityDescription, _ data: Any) -> NSManagedObjectID {
        precondition(
            !reference.identifier.isEmpty,
            "The store \(url?.placeName ?? "") was asked for an object ID before its identifier was set: metadata with NSStoreUUIDKey come first."
        )
        let number: Int64
        if let references = reference.references {
            number = self.number(of: data, references, entity, isGiven: true)
        } else if let own = ReferenceText.wholeNumber(data) ?? (data as? String).flatMap({ Int64($0) }) {
            number = own
        } else {
            preconditionFailure("The store \(url?.placeName ?? "") knows its rows by numbers, not by '\(data)'.")
        }
        return NSManagedObjectID(entity: entity, reference: number, store: self)
    }

    private func number(
        of value: Any, _ references: ReferenceTable, _ entity: NSEntityDescription, isGiven: Bool
    ) -> Int64 {
        let root = entity.rootName ?? ""
        guard let whole = ReferenceText.wholeNumber(value) else {
            return references.number(for: value, text(ofReference: value), root: root, isGiven: isGiven)
        }
        if whole > 0, whole < ReferenceTable.firstAssigned { return references.number(forOwn: whole, root: root) }
        return references.number(for: value, ReferenceText("\(whole)"), root: root, isGiven: isGiven)
    }

    /// The text by which a reference is compared.
    final func text(ofReference value: Any) -> ReferenceText {
        ReferenceText(ReferenceText.wholeNumber(value).map { "\($0)" } ?? uriText(forReferenceObject: value))
    }

    /// Returns the reference that identifies the row of an ID in the store.
    final func reference(of id: NSManagedObjectID) -> Any {
        let number = id.rowKey?.reference ?? 0
        return reference.references?.reference(of: number, root: id.entity.rootName ?? "") ?? NSNumber(value: number)
    }

    /// The number under which the row is known here whose reference stands in a URI, without escapes; `nil` where it cannot be one
    /// of the store's. A row that was not met yet may be there.
    final func number(ofURIText text: String, _ entity: NSEntityDescription) -> Int64? {
        guard let references = reference.references else { return Int64(text) }
        if let known = references.knownNumber(of: ReferenceText(text), root: entity.rootName ?? "") { return known }
        guard let value = referenceObject(forURIText: text, entity: entity) else { return nil }
        return number(of: value, references, entity, isGiven: false)
    }
}
