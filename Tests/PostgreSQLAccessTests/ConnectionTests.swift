#if PostgreSQL
    import Foundation
    import PostgreSQLAccess
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// The server suites are skipped without a server. This test fails if an installed server does not start.
    @Test func aServerThatIsInstalledStarts() {
        #expect(!PostgreSQLCluster.isInstalled || PostgreSQLCluster.shared != nil)
    }

    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct PostgreSQLConnectionTests {
        private func connection() throws -> PostgreSQLConnection {
            let cluster = try #require(PostgreSQLCluster.shared)
            return try PostgreSQLConnection(
                ConnectionSettings(cluster.url(schema: "x"), leavingOut: ["schema"], applicationName: "tests"))
        }

        @Test func valuesReadBackAsSent() throws {
            let connection = try connection()
            let values: [(PostgreSQLValue, PostgreSQLType)] = [
                (.null, .text), (.boolean(true), .boolean), (.integer(.min), .bigint), (.integer(-7), .smallint),
                (.integer(70_000), .integer), (.real(0.1 + 0.2), .double), (.real(-.infinity), .double),
                (.real(Double(Float(1.1))), .real), (.text("鲁迅 'x' \\ \n"), .text), (.text(""), .text),
                (.bytes(Data((0...255).map { UInt8($0) })), .bytes), (.bytes(Data()), .bytes),
                (.uuid(UUID()), .uuid),
            ]
            let numbers = [
                "0", "1", "-1", "10000", "0.0001", "-12345678901234567890.123456789", "0.00000000000000000000000012",
                "99999999999999999999999999999999999999", "1000000000000", "123.4500",
            ]
            let all = values + numbers.map { (.numeric(Decimal(string: $0)!), .numeric) }
            for (value, type) in all {
                let single = try connection.run("SELECT $1", [.value(value, type)])
                #expect(single.value(0, 0) == value)
                let list = try connection.run("SELECT unnest($1)", [.list([value, .null, value], type)])
                #expect((0..<3).map { list.value($0, 0) } == [value, .null, value])
            }
            let texts = try connection.run(
                "SELECT unnest($1)::text", [.list(numbers.map { .numeric(Decimal(string: $0)!) }, .numeric)])
            #expect(texts.text(5, 0) == "-12345678901234567890.123456789")
        }

        /// An administrator changes a column while a program is connected.
        @Test func aChangedTableIsRead() throws {
            let (connection, other) = (try connection(), try connection())
            let table = "changed\(UInt32.random(in: 0 ... .max))"
            try other.run("CREATE TABLE \(table) (n integer)")
            defer { _ = try? other.run("DROP TABLE \(table)") }
            try other.run("INSERT INTO \(table) VALUES (1)")
            for type in ["bigint", "text"] {
                for _ in 0..<2 { #expect(try connection.run("SELECT n FROM \(table)").rowCount == 1) }
                try other.run("ALTER TABLE \(table) ALTER n TYPE \(type) USING n::\(type)")
            }
            #expect(try connection.run("SELECT n FROM \(table)").text(0, 0) == "1")
            // Later statements are prepared again.
            let count = try connection.run("SELECT count(*) FROM pg_prepared_statements").value(0, 0)
            #expect(count != .integer(0))
        }

        @Test func timeoutsAndCancellationsDiffer() throws {
            let connection = try connection()
            try connection.run("SET statement_timeout = 50")
            let late = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT pg_sleep(120)") }
            #expect(late?.state == "57014" && late?.isOwnCancellation == false)
            try connection.run("SET statement_timeout = 0")
            connection.isCancelled = { true }
            let cancelled = #expect(throws: PostgreSQLError.self) { try connection.run("SELECT pg_sleep(120)") }
            #expect(cancelled?.state == "57014" && cancelled?.isOwnCancellation == true)
        }

        /// The same happens with a pooler, where another server process may run the next transaction.
        @Test func aStatementNoLongerPreparedIsRun() throws {
            let connection = try connection()
            let list = [
                PostgreSQLConnection.Statement("BEGIN"),
                PostgreSQLConnection.Statement("SELECT $1 + 1", [.value(.integer(1), .bigint)]),
                PostgreSQLConnection.Statement("COMMIT"),
            ]
            for _ in 0..<2 { #expect(try connection.run(list)[1].value(0, 0) == .integer(2)) }
            try connection.run("DEALLOCATE ALL")
            #expect(try connection.run(list)[1].value(0, 0) == .integer(2))
            // From here on no statement is prepared that could be missing, also in a transaction.
            try connection.run("BEGIN")
            #expect(try connection.run("SELECT $1 + 1", [.value(.integer(2), .bigint)]).value(0, 0) == .integer(3))
            try connection.run("DEALLOCATE ALL")
            #expect(try connection.run("SELECT $1 + 1", [.value(.integer(3), .bigint)]).value(0, 0) == .integer(4))
            try connection.run("COMMIT")
            #expect(try connection.run("SELECT count(*) FROM pg_prepared_statements").value(0, 0) == .integer(0))
        }

        @Test func anAlarmRingsOncePerNotification() throws {
            let (listener, other) = (try connection(), try connection())
            try listener.run("LISTEN alarm")
            let rings = Mutex(0)
            let alarm = NotificationAlarm(listener, on: DispatchQueue(label: "alarm")) { rings.withLock { $0 += 1 } }
            listener.alarm = alarm
            func ringsAre(_ count: Int) -> Bool {
                eventually("the alarm rings") { rings.withLock { $0 } >= count }
                usleep(20_000)
                return rings.withLock { $0 } == count
            }
            try other.run("NOTIFY alarm, 'a'")
            #expect(ringsAre(1))
            // No second ring before the first notification is taken.
            try other.run("NOTIFY alarm, 'b'")
            #expect(ringsAre(1))
            #expect(try listener.takeNotifications().map(\.payload) == ["a", "b"])
            // The bell does not ring for answers.
            try listener.run("SELECT 1")
            #expect(ringsAre(1))
            try other.run("NOTIFY alarm, 'c'")
            #expect(ringsAre(2))
            #expect(try listener.takeNotifications().count == 1)
            // Notifications during a statement arrive with its answer.
            try listener.run("BEGIN")
            try other.run("NOTIFY alarm, 'd'")
            #expect(ringsAre(2))
            try listener.run("COMMIT")
            #expect(ringsAre(3))
            #expect(try listener.takeNotifications().map(\.payload) == ["d"])
        }

        @Test func aListOfStatementsIsOneRoundTripAndStopsAtTheFirstError() throws {
            let connection = try connection()
            try connection.run("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)")
            typealias Statement = PostgreSQLConnection.Statement
            let insert = Statement("INSERT INTO t VALUES ($1)", [.value(.integer(1), .bigint)])
            let results = try connection.run([insert, Statement("SELECT count(*) FROM t"), Statement("TABLE t")])
            #expect(results.map(\.rowCount) == [0, 1, 1] && results[0].affectedCount == 1)
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.run([
                    Statement("BEGIN"), Statement("INSERT INTO t VALUES ($1)", [.value(.integer(2), .bigint)]), insert,
                    Statement("COMMIT"),
                ])
            }
            #expect(error?.state == "23505" && error?.constraint == "t_pkey" && error?.isConnectionLost == false)
            #expect(connection.isInTransaction)
            try connection.run("ROLLBACK")
            #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 1)
            // More than the socket buffers, in both directions.
            let long = PostgreSQLValue.text(String(repeating: "x", count: 5_000_000))
            let echoes = try connection.run(
                (0..<8).map { _ in Statement("SELECT $1", [.value(long, .text)]) })
            #expect(echoes.allSatisfy { $0.value(0, 0) == long })
        }

        @Test func rowsAreCopied() throws {
            let connection = try connection()
            try connection.run("CREATE TEMPORARY TABLE t (a int8, b text, c numeric)")
            let rows = (0..<10_000).map { number -> [PostgreSQLValue] in
                [
                    .integer(Int64(number)), number % 3 == 0 ? .null : .text("t\t\(number)\\"),
                    .numeric(Decimal(number) / 8),
                ]
            }
            try connection.copy(
                "COPY t FROM STDIN (FORMAT binary)", types: [.bigint, .text, .numeric], rows: rows)
            let found = try connection.run("SELECT count(*), count(b), max(b), sum(c) FROM t")
            #expect(found.integer(0, 0) == 10_000 && found.integer(0, 1) == 6666 && found.text(0, 2) == "t\t9998\\")
            #expect(found.value(0, 3) == .numeric(Decimal(string: "6249375")!))
            #expect(throws: PostgreSQLError.self) {
                try connection.copy(
                    "COPY t FROM STDIN (FORMAT binary)", types: [.bigint, .text, .numeric],
                    rows: [[.integer(1), .text("a\u{0}"), .null]])
            }
            #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 10_000)
        }

        @Test func notificationsArrive() throws {
            let (listener, sender) = (try connection(), try connection())
            try listener.run("LISTEN \"a channel\"")
            try sender.run("SELECT pg_notify('a channel', '17')")
            var found: [PostgreSQLConnection.Notification] = []
            try eventually("the notification arrives") {
                found = try listener.takeNotifications()
                return !found.isEmpty
            }
            #expect(found.map(\.payload) == ["17"] && found.first?.senderProcessID == sender.serverProcessID)
            // Notifications that arrive with a result are kept until taken.
            try sender.run("SELECT pg_notify('a channel', '18')")
            try listener.run("SELECT pg_sleep(0.05)")
            #expect(try listener.takeNotifications().map(\.payload) == ["18"])
            #expect(try listener.takeNotifications().isEmpty)
        }

        @Test func aCommitThatRollsBackIsReportedAsSuch() throws {
            let connection = try connection()
            try connection.run("BEGIN")
            #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1 / 0") }
            #expect(try connection.run("COMMIT").command == "ROLLBACK")
            try connection.run("BEGIN")
            #expect(try connection.run("COMMIT").command == "COMMIT")
        }

        @Test func tooManyBytesAreRefusedBeforeTheyAreSent() throws {
            let connection = try connection()
            connection.mostBytes = 1000
            let text = PostgreSQLValue.text(String(repeating: "x", count: 600))
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.run("SELECT $1", [.list([text, text], .text)])
            }
            #expect(error?.state == "54000" && error?.isConnectionLost == false)
            #expect(try connection.run("SELECT length($1)", [.value(text, .text)]).integer(0, 0) == 600)
        }

        @Test func settingsOfURLsAndServicesAreKept() throws {
            let plain = try ConnectionSettings(URL(string: "postgresql://h/d")!, applicationName: "t")
            #expect(plain.parameters["connect_timeout"] == "10" && plain.parameters["keepalives_idle"] == "10")
            let service = try ConnectionSettings(URL(string: "postgresql:///?service=s")!, applicationName: "t")
            #expect(service.parameters["connect_timeout"] == nil && service.parameters["service"] == "s")
            let own = try ConnectionSettings(
                URL(string: "postgresql://h/d?connect_timeout=3")!, applicationName: "t")
            #expect(own.parameters["connect_timeout"] == "3")
            // The first of two hosts does not answer.
            let cluster = try #require(PostgreSQLCluster.shared)
            let two = try #require(
                URL(
                    string: "postgresql://\(cluster.user)@/postgres?host=/no/such/folder,\(cluster.folder.path)"
                        + "&port=1,\(cluster.port)&target_session_attrs=read-write"))
            let connection = try PostgreSQLConnection(ConnectionSettings(two, applicationName: "tests"))
            #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
        }

        @Test func aRefusalHasAState() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            for (url, state) in [
                (cluster.url(database: "no_such_database"), "3D000"), (cluster.url(user: "no_such_role"), "28000"),
            ] {
                let error = #expect(throws: PostgreSQLError.self) {
                    try PostgreSQLConnection(ConnectionSettings(url, applicationName: "tests"))
                }
                #expect(error?.state == state && error?.message.contains("no_such") == true)
                #expect(error?.message.contains(state) == false && error?.message.contains(".c:") == false)
            }
        }

        @Test func aBrokenConnectionIsReportedAsSuch() throws {
            let (victim, killer) = (try connection(), try connection())
            try killer.run(
                "SELECT pg_terminate_backend($1::int4)", [.value(.integer(Int64(victim.serverProcessID)), .integer)])
            let error = #expect(throws: PostgreSQLError.self) { try victim.run("SELECT 1") }
            #expect(error?.isConnectionLost == true)
            let nowhere = URL(string: "postgresql://me:secret@127.0.0.1:1/x?connect_timeout=2")!
            let refused = #expect(throws: PostgreSQLError.self) {
                try PostgreSQLConnection(ConnectionSettings(nowhere, applicationName: "tests"))
            }
            #expect(refused?.isConnectionLost == true && refused?.description.contains("secret") == false)
        }
    }
#endif
