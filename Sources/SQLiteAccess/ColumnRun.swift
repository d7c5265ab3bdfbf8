import CSQLite3
import Foundation

/// Detects changes of a column's value from one row to the next.
package struct ColumnRun: ~Copyable {
    private let column: Int32
    // The value in the last row; `kind` is nil before the first row.
    private var kind: Int32?
    private var number: UInt64 = 0
    private var bytes: [UInt8] = []

    package init(column: Int) { self.column = Int32(column) }

    /// True if the statement's current row has the same value as the previous one. A different value is stored for the
    /// next call.
    // SAFETY: SQLite keeps the bytes until the next step of the statement, which no other code makes during the call; a
    // copy is kept.
    package mutating func goesOn(_ statement: Statement) -> Bool {
        // One call for the value instead of one for each property; no other code uses the statement during the call.
        let value = sqlite3_column_value(statement.handle, column)
        let kind = sqlite3_value_type(value)
        var number: UInt64 = 0
        var content = UnsafeRawBufferPointer(start: nil, count: 0)
        switch kind {
        case SQLITE_INTEGER: number = UInt64(bitPattern: sqlite3_value_int64(value))
        case SQLITE_FLOAT: number = sqlite3_value_double(value).bitPattern
        case SQLITE_NULL: break
        default:
            let start = sqlite3_value_blob(value)
            content = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
        }
        if kind == self.kind, number == self.number, isNoted(content) { return true }
        self.kind = kind
        self.number = number
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: content)
        return false
    }

    // SAFETY: both have `content.count` bytes.
    private func isNoted(_ content: UnsafeRawBufferPointer) -> Bool {
        guard content.count == bytes.count else { return false }
        guard let start = content.baseAddress, !bytes.isEmpty else { return true }
        return memcmp(start, bytes, content.count) == 0
    }
}
