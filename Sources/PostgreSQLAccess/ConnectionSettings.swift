#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// The address of a server and the user: a parsed `postgresql://` URL. libpq takes missing settings from its
    /// environment, password and service files.
    package struct ConnectionSettings: Sendable {
        /// Settings by libpq's keywords.
        package var parameters: [String: String]

        /// Defaults if neither the URL nor the environment nor a service has the setting: they detect a lost
        /// connection.
        private static let defaults = [
            "connect_timeout": "10", "tcp_user_timeout": "10000", "keepalives_idle": "10", "keepalives_interval": "3",
            "keepalives_count": "3",
        ]

        /// - Parameter ownNames: parameters of the URL that are not libpq's.
        /// - Throws: ``PostgreSQLError`` for a URL with another scheme. Its text does not contain the URL.
        package init(_ url: URL, leavingOut ownNames: Set<String> = [], applicationName: String) throws {
            guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
                parts.scheme == "postgresql" || parts.scheme == "postgres"
            else { throw PostgreSQLError(message: "the URL is not one of a PostgreSQL server") }
            var parameters: [String: String] = [:]
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
            // A service's settings are unknown here, because libpq reads them when it connects. Defaults would override
            // them.
            if parameters["service"] == nil {
                let known = Self.environment()
                for (name, value) in Self.defaults where parameters[name] == nil && known[name] == nil {
                    parameters[name] = value
                }
            }
            self.parameters = parameters
        }

        /// A copy with an option for the start of the server's process; `nil` if a service is named, whose own options
        /// are unknown until libpq connects.
        package func starting(with option: String) -> ConnectionSettings? {
            guard parameters["service"] == nil else { return nil }
            var settings = self
            let known = parameters["options"] ?? Self.environment()["options"]
            settings.parameters["options"] = [known, option].compactMap { $0 }.joined(separator: " ")
            return settings
        }

        /// The settings that libpq takes from the process's environment, and from the service named there.
        private static func environment() -> [String: String] {
            guard let list = PQconndefaults() else { return [:] }
            defer { PQconninfoFree(list) }
            return values(of: list)
        }

        /// The keywords of a libpq list that have a value.
        // SAFETY: the caller holds the list, which ends with an option without a keyword; texts are copied.
        static func values(of list: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
            var found: [String: String] = [:]
            var option = list
            while let keyword = option.pointee.keyword {
                if let value = option.pointee.val, value.pointee != 0 {
                    found[String(cString: keyword)] = String(cString: value)
                }
                option += 1
            }
            return found
        }
    }
#endif
