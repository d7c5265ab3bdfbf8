// The room is empty without the package trait `PostgreSQL`: then it needs no libpq.
#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import ServerStores

    /// PostgreSQL, as stores on a server need it. `CoreData` finds the class by its name, when the module is linked.
    package final class PostgreSQLDatabase: ServerDatabase {
        package init() {}

        package static let storeType = "PostgreSQL"
        package static let schemes = ["postgresql", "postgres"]

        /// The oldest version that is supported: 15.
        private static let oldestVersion = 150_000

        package let dialect: SQLDialect = {
            var dialect = SQLDialect(key: "_id", entity: "_entity", version: "_version", quoted: quoted)
            dialect.always = "TRUE"
            dialect.never = "FALSE"
            dialect.isSame = "IS NOT DISTINCT FROM"
            dialect.isNotSame = "IS DISTINCT FROM"
            dialect.noLimit = "ALL"
            dialect.ascendingSuffix = " NULLS FIRST"
            dialect.descendingSuffix = " DESC NULLS LAST"
            dialect.positionFunction = "strpos"
            dialect.endFunction = "right"
            // The operator is applied to columns with the collation "C".
            dialect.unlikeASCII = " ~ '[^\\u0001-\\u007F\\u4E00-\\u9FFF]'"
            // The server's AVG returns a decimal of limited precision, which is not the nearest `Double`.
            dialect.average = { "(SUM(\($0))::float8 / NULLIF(COUNT(\($0)), 0))" }
            dialect.asReal = { "(\($0))::float8" }
            dialect.asWide = { "(\($0))::int8" }
            dialect.hasFreeNumbers = false
            dialect.keepsDecimals = true
            dialect.hasLeastUUIDs = false
            dialect.bindsLists = true
            dialect.groupsStrictly = true
            dialect.keepsZeroCharacters = false
            return dialect
        }()

        /// Returns a name in quotes. Every name is quoted, because the server would fold the case of a plain one.
        @Sendable static func quoted(_ name: String) -> String { SQLText.enclosed(name, in: "\"") }

        /// Turns on `standard_conforming_strings`, which a database or role may have turned off, so that a backslash in
        /// a literal has no special meaning.
        private func useStandardTexts(_ connection: PostgreSQLConnection) throws {
            let name = "standard_conforming_strings"
            guard connection.reportedSetting(name) != "on" else { return }
            try connection.run("SET \(name) = on")
            guard connection.reportedSetting(name) == "on" else {
                throw PostgreSQLError(message: "the server refuses \(name) = on, which is required")
            }
        }

        /// Opens a connection with ``SearchPath``. A pooler may refuse settings of the server's process: then the connection
        /// starts without, and the session sets the path in each transaction.
        private static func opened(_ settings: ConnectionSettings) throws -> PostgreSQLConnection {
            if let own = settings.starting(with: SearchPath.option) {
                do { return try PostgreSQLConnection(own) } catch let error as PostgreSQLError
                    where error.state.map(SearchPath.refusals.contains) ?? false
                {}
            }
            return try PostgreSQLConnection(settings)
        }

        package func connect(to place: ServerPlace) throws -> any ServerConnection {
            do {
                let settings = try ConnectionSettings(
                    place.url, leavingOut: ServerPlace.ownParameters,
                    applicationName: ProcessInfo.processInfo.processName)
                let connection = try Self.opened(settings)
                guard connection.serverVersion >= Self.oldestVersion else {
                    throw PostgreSQLError(
                        message:
                            "the server has PostgreSQL \(connection.serverVersion / 10_000); version 15 or later is required"
                    )
                }
                guard connection.reportedSetting("server_encoding") == "UTF8" else {
                    let encoding = connection.reportedSetting("server_encoding") ?? "another"
                    throw PostgreSQLError(message: "the database has the encoding \(encoding); UTF8 is required")
                }
                try useStandardTexts(connection)
                return PostgreSQLSession(connection)
            } catch let error as PostgreSQLError { throw PostgreSQLSession.serverError(error) }
        }
    }
#endif
