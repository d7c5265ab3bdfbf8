import Foundation

// References of rows in a program's own store classes: see ``ReferenceTable``.
extension NSPersistentStore {
    /// Returns the ID of the row with a reference.
    ///
    /// - Precondition: the store's identifier is set, because each ID contains it.
    final func namedID(_ entity: NSEntityDescription, _ data: Any) -> NSManagedObjectID {
        precondition(
            !reference.identifier.isEmpty,
            "The store \(url?.placeName ?? "") cannot make object IDs before its metadata has NSStoreUUIDKey. Load the metadata first."
        )
        let number: Int64
        if let references = reference.references {
            number = self.number(of: data, references, entity, isGiven: true)
        } else if let own = ReferenceText.wholeNumber(data) ?? (data as? String).flatMap({ Int64($0) }) {
            number = own
        } else {
            preconditionFailure("The store \(url?.placeName ?? "") identifies rows by numbers, not by '\(data)'.")
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

    /// Returns the text by which references are compared.
    final func text(ofReference value: Any) -> ReferenceText {
        ReferenceText(ReferenceText.wholeNumber(value).map { "\($0)" } ?? uriText(forReferenceObject: value))
    }

    /// Returns the reference that identifies the row of an ID in the store.
    final func reference(of id: NSManagedObjectID) -> Any {
        let number = id.rowKey?.reference ?? 0
        return reference.references?.reference(of: number, root: id.entity.rootName ?? "") ?? NSNumber(value: number)
    }

    /// Returns the number of the row for the unescaped text in a URI; `nil` if the store has no such references. The
    /// row need not have been read before.
    final func number(ofURIText text: String, _ entity: NSEntityDescription) -> Int64? {
        guard let references = reference.references else { return Int64(text) }
        if let known = references.knownNumber(of: ReferenceText(text), root: entity.rootName ?? "") { return known }
        guard let value = referenceObject(forURIText: text, entity: entity) else { return nil }
        return number(of: value, references, entity, isGiven: false)
    }
}
