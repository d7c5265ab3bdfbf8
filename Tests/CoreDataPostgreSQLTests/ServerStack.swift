#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Testing

    /// A store on the test server, in its own schema.
    final class ServerStack {
        let model: NSManagedObjectModel
        let schema: String
        let url: URL
        private(set) var coordinator: NSPersistentStoreCoordinator

        init(_ model: NSManagedObjectModel, schema: String? = nil, options: [AnyHashable: Any]? = nil) throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            self.model = model
            self.schema = schema ?? "t_\(UUID().uuidString.prefix(8))"
            url = cluster.url(schema: self.schema)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            _ = try? PostgreSQLCluster.shared?.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
        }

        var store: NSPersistentStore { coordinator.persistentStores[0] }

        /// Opens another coordinator of the same store, as another process would.
        func another(options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
            return coordinator
        }

        func reopen(options: [AnyHashable: Any]? = nil) throws {
            try coordinator.remove(store)
            coordinator = try another(options: options)
        }

        /// A context whose connection uses a proxy.
        ///
        /// - Parameter timeout: Seconds to wait for locks and for the outcome of an unanswered commit.
        func context(by proxy: CuttableProxy, timeout: Double? = nil) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: schema),
                options: timeout.map { [NSPersistentStoreTimeoutOption: $0] })
            return Self.context(coordinator)
        }

        func context() -> NSManagedObjectContext { Self.context(coordinator) }

        static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
            let context = context()
            return try context.performAndWait { try body(context) }
        }

        /// A role that logs in with a password.
        struct Role {
            let name: String
            /// The quoted name.
            var sql: String { "\"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"" }
        }

        /// Runs `body` in a context of a new role and drops the role.
        ///
        /// - Parameters:
        ///   - rights: Returns statements to run before the role opens the store.
        ///   - prefix: Beginning of the role's name.
        func asRole<Result>(
            _ rights: (Role) throws -> [String], named prefix: String = "clerk_",
            _ body: (NSManagedObjectContext, Role) throws -> Result
        ) throws -> Result {
            let role = Role(name: "\(prefix)\(UInt32.random(in: 0 ... .max))")
            defer { _ = try? psql("DROP OWNED BY \(role.sql); DROP ROLE \(role.sql)") }
            _ = try psql((["CREATE ROLE \(role.sql) LOGIN PASSWORD 's3cret'"] + rights(role)).joined(separator: "; "))
            let cluster = try #require(PostgreSQLCluster.shared)
            let user = try #require(role.name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: cluster.networkURL(schema: schema, user: user, password: "s3cret"))
            let context = Self.context(coordinator)
            return try context.performAndWait { try body(context, role) }
        }

        func psql(_ sql: String) throws -> String { try #require(PostgreSQLCluster.shared).psql(sql) }
    }

    /// The code of the error that `body` throws; nil without an error.
    func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return error.localizedDescription }
        return ""
    }
#endif
