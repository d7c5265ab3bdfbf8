import Foundation
import SQLiteAccess

/// Binds the values of slots to the parameters of a statement.
struct ValueBinding {
    let layout: TableLayout
    let externalData: ExternalDataChanges

    /// Binds a value to a parameter of a statement.
    ///
    /// - Parameter attribute: the value's attribute; used only for the codings that need it.
    /// - Throws: 134030 for a value that the column cannot store.
    @inline(__always)
    func bind(
        _ value: SlotValue, _ coding: ValueCoding, attribute: NSPropertyDescription, to statement: Statement,
        at place: Int
    ) throws {
        switch value {
        case .null: try statement.bindNull(at: place)
        case .integer(let number): try statement.bind(number, at: place)
        case .real(let number):
            guard coding != .integer, coding != .decimal else { throw outOfRange(number, attribute) }
            try statement.bind(number, at: place)
        case .text(let text): try statement.bind(text, at: place)
        case .data(let data):
            try statement.bind(coding == .externalData ? externalData.stored(data) : data, at: place)
        case .uuid(let uuid): try statement.bind(uuid, at: place)
        case .decimal(let number):
            let stored = DecimalCoding.value(of: number)
            if case .blob = stored { layout.keepsLongDecimals = true }
            try statement.bind(stored, at: place)
        case .object(let object): try bind(object, attribute, to: statement, at: place)
        case .reference(let id): try statement.bind(try reference(id, of: attribute), at: place)
        }
    }

    /// Refuses a number that the object's own validation accepted, without calling its superclass.
    private func outOfRange(_ number: Double, _ property: NSPropertyDescription) -> NSError {
        CoreDataError.make(
            134030,
            "Cannot save \(property.owningEntity?.name ?? "").\(property.name): \(number) is out of range.",
            userInfo: [NSValidationKeyErrorKey: property.name])
    }

    private func bind(
        _ object: NSObject, _ property: NSPropertyDescription, to statement: Statement, at place: Int
    ) throws {
        guard let attribute = property as? NSAttributeDescription else {
            preconditionFailure("The relationship '\(property.name)' cannot refer to a \(type(of: object)).")
        }
        let data = try TransformableCoding.data(
            from: object, attribute: attribute, archivesWithoutTransformer: layout.archivesWithoutTransformer)
        guard let data else {
            return try statement.bindNull(at: place)
        }
        try statement.bind(data, at: place)
    }

    /// Returns the `Z_PK` of a destination.
    private func reference(_ id: NSManagedObjectID, of relationship: NSPropertyDescription) throws -> Int64 {
        if let key = id.rowKey { return key.reference }
        throw CoreDataError.make(
            134030,
            "Cannot save \(relationship.owningEntity?.name ?? "").\(relationship.name): "
                + "it refers to an object that was not saved.")
    }

    /// Returns the `Z_ENT` of a to-one value's destination.
    func entityNumber(of value: SlotValue) -> SQLiteValue {
        guard case .reference(let id) = value else { return .null }
        return .integer(layout.number(of: id.entity))
    }
}
