#if PostgreSQL
    import CPostgreSQL

    /// The result of one statement: rows of columns, all in binary. Freed with its last reference.
    package final class PostgreSQLResult {
        private let result: OpaquePointer
        package let rowCount: Int
        package let columnCount: Int
        private let types: [UInt32]

        /// Takes ownership of `result`.
        init(_ result: OpaquePointer) {
            self.result = result
            rowCount = Int(PQntuples(result))
            columnCount = Int(PQnfields(result))
            types = (0..<Int32(columnCount)).map { PQftype(result, $0) }
        }

        deinit { PQclear(result) }

        /// The number of rows that the statement wrote.
        package var affectedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

        /// The command that the server reports: `COMMIT`, or `ROLLBACK` if a `COMMIT` ended a failed transaction.
        package var command: String { String(cString: PQcmdStatus(result)) }

        package func isNull(_ row: Int, _ column: Int) -> Bool {
            PQgetisnull(result, Int32(row), Int32(column)) != 0
        }

        // SAFETY: the result owns the bytes until `deinit`, and the caller, who holds `self`, reads them at once.
        private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), Int32(column)),
                count: Int(PQgetlength(result, Int32(row), Int32(column))))
        }

        package func value(_ row: Int, _ column: Int) -> PostgreSQLValue {
            isNull(row, column) ? .null : BinaryFormat.value(bytes(row, column), type: types[column])
        }

        /// The whole number in a column; 0 for other values.
        package func integer(_ row: Int, _ column: Int) -> Int64 {
            if case .integer(let number) = value(row, column) { return number }
            return 0
        }

        /// The whole numbers of a column, one for each row; `nil` if the column has another type, or a null. Ten times
        /// as fast as reading single values.
        package func integers(inColumn column: Int) -> [Int64]? {
            switch PostgreSQLType(rawValue: types[column]) {
            case .bigint: integers(inColumn: column, Int64.self)
            case .integer: integers(inColumn: column, Int32.self)
            case .smallint: integers(inColumn: column, Int16.self)
            default: nil
            }
        }

        private func integers<Number: FixedWidthInteger>(inColumn column: Int, _ type: Number.Type) -> [Int64]? {
            var numbers: [Int64] = []
            numbers.reserveCapacity(rowCount)
            for row in 0..<rowCount {
                let bytes = bytes(row, column)
                guard bytes.count == MemoryLayout<Number>.size else { return nil }
                numbers.append(Int64(BinaryFormat.integer(bytes, type)))
            }
            return numbers
        }

        package func text(_ row: Int, _ column: Int) -> String? {
            if case .text(let text) = value(row, column) { return text }
            return nil
        }
    }
#endif
