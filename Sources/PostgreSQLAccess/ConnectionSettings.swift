#if PostgreSQL
    import Foundation

    /// Where a server is and who asks: a `postgresql://` URL taken apart. What the URL does not say, the library takes from
    /// its environment, password and service files.
    package struct ConnectionSettings: Sendable {
        /// The library's own keywords.
        package var parameters: [String: String]

        /// What the library uses where nothing is said: to see that the other side is gone.
        private static let defaults = [
            "connect_timeout": "10", "tcp_user_timeout": "10000", "keepalives_idle": "10", "keepalives_interval": "3",
            "keepalives_count": "3",
        ]

        /// - Parameter ownNames: parameters of the URL that are not the library's.
        /// - Throws: ``PostgreSQLError`` for a URL of another scheme. Its text does not hold the URL.
        package init(_ url: URL, leavingOut ownNames: Set<String> = [], applicationName: String) throws {
            guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
                parts.scheme == "postgresql" || parts.scheme == "postgres"
            else { throw PostgreSQLError(message: "the URL is none of a PostgreSQL server") }
            var parameters = Self.defaults
            parameters["fallback_application_name"] = applicationName
            if let host = parts.host, !host.isEmpty {
                parameters["host"] = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            }
            if let port = parts.port { parameters["port"] = String(port) }
            if let user = parts.user, !user.isEmpty { parameters["user"] = user }
            if let password = parts.password { parameters["password"] = password }
            let name = parts.path.drop { $0 == "/" }
            if !name.isEmpty { parameters["dbname"] = String(name) }
            for item in parts.queryItems ?? [] where !ownNames.contains(item.name) {
                parameters[item.name] = item.value ?? ""
            }
            parameters["client_encoding"] = "UTF8"
            self.parameters = parameters
        }
    }
#endif
