import CSQLite3
import Foundation

/// The type of a value in a column of the current row.
package enum ColumnKind: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}

/// Access to the current row. Valid after ``Statement/step()`` returned `true`, until the next step or reset.
extension Statement {
    package func kind(at column: Int) -> ColumnKind {
        ColumnKind(rawValue: sqlite3_column_type(handle, Int32(column))) ?? .null
    }

    package func isNull(at column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    // The next three look a value up once; asking for its type and then for the value would take a mutex twice.

    /// The value if it is stored as a whole number.
    package func storedInteger(at column: Int) -> Int64? {
        let value = sqlite3_column_value(handle, Int32(column))
        return sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
    }

    /// The value if it is stored as a whole number or a fraction.
    package func storedNumber(at column: Int) -> Double? {
        let value = sqlite3_column_value(handle, Int32(column))
        let type = sqlite3_value_type(value)
        return type == SQLITE_FLOAT || type == SQLITE_INTEGER ? sqlite3_value_double(value) : nil
    }

    /// The value if it is stored as text. Invalid UTF-8 is replaced.
    // SAFETY: SQLite keeps the bytes until the statement's next step; they are copied before.
    package func storedText(at column: Int) -> String? {
        let value = sqlite3_column_value(handle, Int32(column))
        guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The value as a number; 0 for `NULL` and for text that is not a number.
    package func integer(at column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    /// The value as a number; 0 for `NULL` and for text that is not a number.
    package func real(at column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

    /// The value as text; empty for `NULL`. Invalid UTF-8 is replaced.
    package func text(at column: Int) -> String { textIfAny(at: column) ?? "" }

    /// The value as text, `nil` for `NULL`. Invalid UTF-8 is replaced.
    // SAFETY: SQLite keeps the bytes until the statement's next step; they are copied before.
    package func textIfAny(at column: Int) -> String? {
        guard let bytes = sqlite3_column_text(handle, Int32(column)) else { return isNull(at: column) ? nil : "" }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// A copy of the value's bytes; empty for `NULL`.
    package func data(at column: Int) -> Data {
        withBytes(at: column) { Data($0) }
    }

    /// Calls `body` with the value's bytes in SQLite's memory.
    // SAFETY: SQLite keeps the bytes until the statement's next step, which `body` does not make.
    package func withBytes<Result>(
        at column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        guard let bytes = sqlite3_column_blob(handle, Int32(column)) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The value of 16 bytes as a UUID; `nil` for other values.
    package func uuid(at column: Int) -> UUID? {
        withBytes(at: column) { bytes in
            bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
        }
    }

    package func value(at column: Int) -> SQLiteValue {
        switch kind(at: column) {
        case .integer: .integer(integer(at: column))
        case .real: .real(real(at: column))
        case .text: .text(text(at: column))
        case .blob: .blob(data(at: column))
        case .null: .null
        }
    }
}
