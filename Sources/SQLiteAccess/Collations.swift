import CSQLite3
import Foundation

extension Connection {
    /// Registers an order of texts for this connection's SQL (`COLLATE name`).
    package func addCollation(
        named name: String, _ compare: @escaping (_ left: String, _ right: String) -> ComparisonResult
    ) throws {
        try addRawCollation(named: name) { left, right in
            compare(String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
        }
    }

    /// Registers an order of texts that compares the bytes in SQLite's memory.
    ///
    /// SQLite sorts rows in one step of its virtual machine and does not check for cancellation during it. So all texts
    /// compare as equal after a cancellation: the sort ends soon, and its result is discarded.
    // SAFETY: SQLite owns one reference to the box until the connection closes, and releases it once. It compares only
    // during calls of the connection.
    package func addRawCollation(
        named name: String,
        _ compare:
            @escaping (_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) ->
            ComparisonResult
    ) throws {
        let box = Unmanaged.passRetained(CollationBox(self, compare))
        let result = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, box.toOpaque(), compareTexts,
            { pointer in if let pointer { Unmanaged<CollationBox>.fromOpaque(pointer).release() } })
        guard result == SQLITE_OK else {
            // Unlike for functions, SQLite does not call the destructor if this fails.
            box.release()
            throw error(result, sql: name)
        }
    }
}

// SAFETY: the buffers are those of `compareTexts`.
private final class CollationBox {
    unowned(unsafe) let connection: Connection
    let compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> ComparisonResult

    init(
        _ connection: Connection,
        _ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> ComparisonResult
    ) {
        self.connection = connection
        self.compare = compare
    }
}

// SAFETY: SQLite holds the box and both texts during the call, which keeps none.
private func compareTexts(
    _ box: UnsafeMutableRawPointer?, _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    guard let box else { return 0 }
    let collation = Unmanaged<CollationBox>.fromOpaque(box).takeUnretainedValue()
    if collation.connection.isCancelled { return 0 }
    let leftBytes = UnsafeBufferPointer(start: left?.assumingMemoryBound(to: UInt8.self), count: Int(leftCount))
    let rightBytes = UnsafeBufferPointer(start: right?.assumingMemoryBound(to: UInt8.self), count: Int(rightCount))
    return Int32(collation.compare(leftBytes, rightBytes).rawValue)
}
