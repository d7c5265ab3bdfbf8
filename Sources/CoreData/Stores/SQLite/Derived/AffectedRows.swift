import SQLiteAccess

/// The rows that triggers changed, as the functions say that triggers call for each.
///
/// Apple's stores have these calls in their triggers: without the functions no row could be written.
final class AffectedRows {
    struct Row: Hashable {
        /// `Z_ENT`.
        let entity: Int64
        /// `Z_PK`.
        let key: Int64
    }

    static let updateFunction = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    static let insertFunction = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// What older triggers call. It is given the name of the column instead of the property's.
    static let columnFunction = "NSCoreDataTriggerUpdateAffectedObjectValue"

    /// The names of the properties, or columns, that changed.
    private(set) var properties: [Row: Set<String>] = [:]

    func removeAll() { properties.removeAll() }

    /// Registers the functions on the connection whose writes shall be noted.
    func register(on connection: Connection) throws {
        for name in [Self.updateFunction, Self.insertFunction, Self.columnFunction] {
            try connection.addRawFunction(named: name, argumentCount: 5, isDeterministic: false) {
                [weak self] arguments in
                let row = Row(entity: arguments[1].integer, key: arguments[2].integer)
                self?.properties[row, default: []].insert(arguments[3].text)
                return .null
            }
        }
    }

    /// Registers functions that do nothing, for connections that write no objects.
    static func registerSilently(on connection: Connection) throws {
        for name in [updateFunction, insertFunction, columnFunction] {
            try connection.addFunction(named: name, argumentCount: 5, isDeterministic: false) { _ in .null }
        }
    }
}
