#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// Where a server is and who asks: a `postgresql://` URL taken apart. What the URL does not say, the library takes from
    /// its environment, password and service files.
    package struct ConnectionSettings: Sendable {
        /// The library's own keywords.
        package var parameters: [String: String]

        /// What the library uses where neither the URL nor its environment nor a service says anything: to see that the other
        /// side is gone.
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
            // What a service says is read by the library when it connects, and would be overridden.
            if parameters["service"] == nil {
                let known = Self.environment()
                for (name, value) in Self.defaults where parameters[name] == nil && known[name] == nil {
                    parameters[name] = value
                }
            }
            self.parameters = parameters
        }

        /// The same with a setting that the server's process starts with; `nil` if a service is named, whose own settings are not
        /// known before the library connects.
        package func starting(with option: String) -> ConnectionSettings? {
            guard parameters["service"] == nil else { return nil }
            var settings = self
            let known = parameters["options"] ?? Self.environment()["options"]
            settings.parameters["options"] = [known, option].compactMap { $0 }.joined(separator: " ")
            return settings
        }

        /// What the library takes from the process's environment, and from the service that this names.
        private static func environment() -> [String: String] {
            guard let list = PQconndefaults() else { return [:] }
            defer { PQconninfoFree(list) }
            return values(of: list)
        }

        /// The keywords of a list of the library's that have a value.
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
