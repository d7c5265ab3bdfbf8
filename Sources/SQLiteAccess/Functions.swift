import CSQLite3
import Foundation

/// The arguments of a running SQL function, in SQLite's memory. Valid only during the call.
package struct FunctionArguments {
    package let count: Int
    fileprivate let context: OpaquePointer
    // SAFETY: SQLite has `count` values at the address during the call of the function; the index is checked.
    fileprivate let values: UnsafeMutablePointer<OpaquePointer?>?

    package subscript(index: Int) -> FunctionArgument {
        precondition(index >= 0 && index < count, "An SQL function has \(count) arguments, not \(index + 1)")
        return FunctionArgument(handle: values?[index])
    }

    /// An object made from the argument at `index` (such as a compiled pattern): made once per statement if the
    /// argument is constant, otherwise for every row.
    // SAFETY: SQLite owns one reference to the object, and releases it once.
    package func prepared<Made: AnyObject>(from index: Int, _ make: (FunctionArgument) throws -> Made) rethrows -> Made
    {
        if let kept = sqlite3_get_auxdata(context, Int32(index)) {
            let object = Unmanaged<AnyObject>.fromOpaque(kept).takeUnretainedValue()
            if let made = object as? Made { return made }
        }
        let made = try make(self[index])
        let retained = Unmanaged<AnyObject>.passRetained(made).toOpaque()
        sqlite3_set_auxdata(context, Int32(index), retained) { pointer in
            if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
        }
        return made
    }
}

/// One argument of a running SQL function.
package struct FunctionArgument {
    fileprivate let handle: OpaquePointer?

    package var kind: ColumnKind { ColumnKind(rawValue: sqlite3_value_type(handle)) ?? .null }
    package var isNull: Bool { sqlite3_value_type(handle) == SQLITE_NULL }
    package var integer: Int64 { sqlite3_value_int64(handle) }
    package var real: Double { sqlite3_value_double(handle) }

    /// Calls `body` with the argument as UTF-8, without a copy; empty for `NULL`.
    // SAFETY: SQLite keeps the bytes until the value is converted again, which `body` does not.
    package func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        guard let bytes = sqlite3_value_text(handle) else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
        return try body(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(handle))))
    }

    package var text: String { withUTF8 { String(decoding: $0, as: UTF8.self) } }

    package var data: Data {
        guard let bytes = sqlite3_value_blob(handle) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(handle)))
    }

    package var value: SQLiteValue {
        switch kind {
        case .integer: .integer(integer)
        case .real: .real(real)
        case .text: .text(text)
        case .blob: .blob(data)
        case .null: .null
        }
    }
}

extension Connection {
    /// Registers a scalar function for this connection's SQL. If the function throws, its statement fails.
    ///
    /// - Parameters:
    ///   - argumentCount: -1 for any number.
    ///   - isDeterministic: true if the same arguments always have the same result; then SQLite may call it once for
    ///     many rows.
    package func addFunction(
        named name: String, argumentCount: Int, isDeterministic: Bool = true,
        _ body: @escaping ([SQLiteValue]) throws -> SQLiteValue
    ) throws {
        try addRawFunction(named: name, argumentCount: argumentCount, isDeterministic: isDeterministic) { arguments in
            try body((0..<arguments.count).map { arguments[$0].value })
        }
    }

    /// Registers a function that is called for every row: the arguments are read in place.
    ///
    /// - Parameter isForStatementsOnly: true if the schema of a file must not call the function, in a trigger, a view,
    ///   a check, an index or a generated column.
    // SAFETY: SQLite owns one reference to the box until the connection closes, and releases it once.
    package func addRawFunction(
        named name: String, argumentCount: Int, isDeterministic: Bool = true, isForStatementsOnly: Bool = false,
        _ body: @escaping (FunctionArguments) throws -> SQLiteValue
    ) throws {
        let box = Unmanaged.passRetained(FunctionBox(body: body)).toOpaque()
        let flags =
            SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0) | (isForStatementsOnly ? SQLITE_DIRECTONLY : 0)
        // SQLite calls the destructor even if this fails.
        let result = sqlite3_create_function_v2(
            handle, name, Int32(argumentCount), flags, box, callFunction, nil, nil,
            { pointer in if let pointer { Unmanaged<FunctionBox>.fromOpaque(pointer).release() } })
        guard result == SQLITE_OK else { throw error(result, sql: name) }
    }
}

private final class FunctionBox {
    let body: (FunctionArguments) throws -> SQLiteValue
    init(body: @escaping (FunctionArguments) throws -> SQLiteValue) { self.body = body }
}

// SAFETY: SQLite holds the box and the values during the call.
private func callFunction(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let context, let box = sqlite3_user_data(context) else { return }
    let body = Unmanaged<FunctionBox>.fromOpaque(box).takeUnretainedValue().body
    do {
        setResult(context, try body(FunctionArguments(count: Int(count), context: context, values: values)))
    } catch {
        sqlite3_result_error(context, "\(error)", -1)
    }
}

// SAFETY: SQLite copies the bytes before the call returns (`transient`).
private func setResult(_ context: OpaquePointer, _ value: SQLiteValue) {
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text): sqlite3_result_text(context, text, Int32(clamping: text.utf8.count), Statement.transient)
    case .blob(let data):
        data.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_result_zeroblob(context, 0) }
            sqlite3_result_blob64(context, address, UInt64(bytes.count), Statement.transient)
        }
    }
}
