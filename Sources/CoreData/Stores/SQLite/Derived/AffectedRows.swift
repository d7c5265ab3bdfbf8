import SQLiteAccess

/// The rows that triggers changed, as reported by the functions that the triggers call for each row.
///
/// The triggers in Apple's stores call these functions. Without them no row could be written.
final class AffectedRows {
    struct Row: Hashable {
        /// `Z_ENT`.
        let entity: Int64
        /// `Z_PK`.
        let key: Int64
    }

    static let updateFunction = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    static let insertFunction = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// The function of older triggers. Its argument is the column's name instead of the property's.
    static let columnFunction = "NSCoreDataTriggerUpdateAffectedObjectValue"

    /// The names of the changed properties or columns.
    private(set) var properties: [Row: Set<String>] = [:]

    func removeAll() { properties.removeAll() }

    /// Registers the functions on a connection whose writes are recorded.
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

    /// Registers functions without effect, for connections that write no objects.
    static func registerSilently(on connection: Connection) throws {
        for name in [updateFunction, insertFunction, columnFunction] {
            try connection.addFunction(named: name, argumentCount: 5, isDeterministic: false) { _ in .null }
        }
    }
}
