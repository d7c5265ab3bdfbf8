#if PostgreSQL
    import CPostgreSQLRaw
    import Foundation

    /// libpq without a wrapper, the anchor of the server's ratios. Values are in the binary format and rows are arrays
    /// of columns, with one statement per 5,000 rows.
    final class RawServer {
        private let connection: OpaquePointer

        /// - Parameter url: URL for libpq, without Roster's own parameters.
        init(_ url: String) {
            guard let made = PQconnectdb(url) else { preconditionFailure("no connection") }
            connection = made
            precondition(PQstatus(made) == CONNECTION_OK, String(cString: PQerrorMessage(made)))
        }

        deinit { PQfinish(connection) }

        @discardableResult func execute(_ sql: String) -> Int {
            guard let result = PQexec(connection, sql) else { preconditionFailure("no result") }
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            precondition(
                status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, String(cString: PQresultErrorMessage(result)))
            return Int(PQntuples(result))
        }

        /// The keys that a statement finds.
        func keys(_ sql: String) -> [Int64] {
            guard let result = PQexecParams(connection, sql, 0, nil, nil, nil, nil, 1) else { return [] }
            defer { PQclear(result) }
            precondition(PQresultStatus(result) == PGRES_TUPLES_OK, String(cString: PQresultErrorMessage(result)))
            let count = PQntuples(result)
            return [Int64](unsafeUninitializedCapacity: Int(count)) { keys, made in
                for row in 0..<count {
                    let bytes = UnsafeRawPointer(PQgetvalue(result, row, 0)!)
                    (keys.baseAddress! + Int(row)).initialize(to: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
                }
                made = Int(count)
            }
        }

        // MARK: Writing

        /// An array of the server in its binary format.
        private struct Column {
            var bytes: [UInt8] = []

            init(type: UInt32, count: Int) {
                for number in [1, 0, type, UInt32(count), 1] { append(number) }
            }

            mutating func append(_ number: some FixedWidthInteger) {
                withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
            }

            mutating func add(_ number: some FixedWidthInteger) {
                append(Int32(MemoryLayout.size(ofValue: number)))
                append(number)
            }

            mutating func add(_ text: String) {
                append(Int32(text.utf8.count))
                bytes.append(contentsOf: text.utf8)
            }
        }

        static let schema = """
            CREATE TABLE team (_id bigint PRIMARY KEY, _entity integer NOT NULL, _version bigint NOT NULL,
              founded double precision, "qualifyingZone" text COLLATE "C", "teamName" text COLLATE "C", venue integer,
              wins integer);
            CREATE INDEX ON team ("qualifyingZone" NULLS FIRST, wins DESC NULLS LAST, "teamName" NULLS FIRST);
            CREATE TABLE changes (transaction bigint NOT NULL, place integer NOT NULL, kind smallint NOT NULL,
              entity integer NOT NULL, key bigint NOT NULL, PRIMARY KEY (transaction, place));
            """

        /// Inserts all rows in one transaction, with a history change for each.
        func insert(_ records: [League.Record]) {
            execute("BEGIN")
            for start in stride(from: 0, to: records.count, by: 5_000) {
                insert(records[start..<min(start + 5_000, records.count)], from: start + 1)
            }
            execute("COMMIT")
        }

        private func insert(_ records: ArraySlice<League.Record>, from first: Int) {
            let count = records.count
            var (keys, founded) = (Column(type: 20, count: count), Column(type: 701, count: count))
            var (zones, names) = (Column(type: 25, count: count), Column(type: 25, count: count))
            var (venues, wins) = (Column(type: 23, count: count), Column(type: 23, count: count))
            for (number, record) in records.enumerated() {
                keys.add(Int64(first + number))
                founded.add(record.founded.bitPattern)
                zones.add(record.zone)
                names.add(record.name)
                venues.add(Int32(record.venue))
                wins.add(Int32(record.wins))
            }
            send(
                "INSERT INTO team SELECT id, 1, 1, founded, zone, name, venue, wins FROM unnest($1::bigint[], "
                    + "$2::double precision[], $3::text[], $4::text[], $5::integer[], $6::integer[]) "
                    + "AS v(id, founded, zone, name, venue, wins)", [keys, founded, zones, names, venues, wins])
            send(
                "INSERT INTO changes SELECT 1, \(first) + place, 0, 1, id FROM unnest($1::bigint[]) "
                    + "WITH ORDINALITY AS v(id, place)", [keys])
        }

        private func send(_ sql: String, _ columns: [Column]) {
            let copies = columns.map { column in
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: column.bytes.count)
                _ = column.bytes.withUnsafeBytes { memcpy(copy, $0.baseAddress!, $0.count) }
                return copy
            }
            defer { copies.forEach { $0.deallocate() } }
            let values = copies.map { UnsafePointer<CChar>?($0) }
            let lengths = columns.map { Int32($0.bytes.count) }
            let formats = [Int32](repeating: 1, count: columns.count)
            let result = PQexecParams(connection, sql, Int32(columns.count), nil, values, lengths, formats, 1)
            defer { PQclear(result) }
            precondition(PQresultStatus(result) == PGRES_COMMAND_OK, String(cString: PQresultErrorMessage(result)))
        }
    }
#endif
