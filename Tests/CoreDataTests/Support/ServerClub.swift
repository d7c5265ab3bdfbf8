#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster

    extension ClubStack {
        /// The same on the tests' server, in its own schema.
        static func onServer(model: NSManagedObjectModel = Club.model) throws -> ClubStack {
            guard let cluster = PostgreSQLCluster.shared else { throw CocoaError(.featureUnsupported) }
            return try ClubStack(
                model: model, type: "PostgreSQL", url: cluster.url(schema: "club_\(UUID().uuidString)"))
        }
    }
#endif
