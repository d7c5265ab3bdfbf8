#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Encrypted connections as the URL demands; the settings are libpq's.
    @Suite(
        .needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"),
        .enabled(if: PostgreSQLCluster.makesCertificates, "OpenSSL is not installed"))
    struct ServerTLSTests {
        @Test func connectionsAreEncryptedAndVerified() throws {
            let cluster = try #require(PostgreSQLCluster.make())
            let certificate = try cluster.offerTLS()
            try cluster.psql("CREATE ROLE secret LOGIN SUPERUSER PASSWORD 's3cret'")
            func open(at host: String, _ mode: String, trusting certificate: URL) throws -> NSManagedObjectContext {
                let text =
                    "postgresql://secret:s3cret@\(host):\(cluster.port)/postgres?schema=t&sslmode=\(mode)"
                    + "&sslrootcert=\(certificate.path)"
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
                try coordinator.addPersistentStore(type: .postgreSQL, at: try #require(URL(string: text)))
                return ServerStack.context(coordinator)
            }
            let context = try open(at: "localhost", "verify-full", trusting: certificate)
            try context.performAndWait {
                context.insert("Label", ["text": "a"])
                try context.save()
                #expect(try context.rows("Label").count == 1)
            }
            let secret =
                "SELECT bool_and(ssl), count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                + "WHERE usename = 'secret'"
            #expect(try cluster.psql(secret) == "t|t")
            // A certificate for another host, and that of another server.
            let other = try #require(PostgreSQLCluster.make())
            let stranger = try other.offerTLS()
            for (host, trusted) in [("127.0.0.1", certificate), ("localhost", stranger)] {
                let refused = #expect(throws: NSError.self) { _ = try open(at: host, "verify-full", trusting: trusted) }
                #expect(refused?.code == 134080)
                let said = refused?.localizedDescription ?? ""
                #expect(said.contains("certificate") && !said.contains("\n") && !said.contains("s3cret"), "\(said)")
            }
        }
    }
#endif
