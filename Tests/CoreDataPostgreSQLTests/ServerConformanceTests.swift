#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import StoreConformance
    import TestSupport
    import Testing

    /// A store on a server passes the scenarios of every store type.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerConformanceTests {
        @Test(arguments: StoreConformance.scenarios) func conforms(_ scenario: StoreConformance.Scenario) throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "conforms_\(UInt32.random(in: 0 ... .max))"
            let stack = try StoreConformance(.postgreSQL, traits: [.keepsRows, .constraints, .history]) { _ in
                cluster.url(schema: schema)
            }
            try scenario.run(on: stack)
        }
    }
#endif
