#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// A store belongs to one role of the server, whichever member migrates it.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerOwnerTests {
        /// Teams with players. From version 2 on, teams count players and there are cups.
        private func league(_ version: Int) -> NSManagedObjectModel {
            let team = Shop.entity("Team", [Shop.attribute("name", .stringAttributeType)])
            let player = Shop.entity("Player", [Shop.attribute("name", .stringAttributeType)])
            Shop.relate(team, "players", player, "team")
            let model = NSManagedObjectModel()
            model.entities = [team, player]
            guard version > 1 else { return model }
            let size = NSDerivedAttributeDescription()
            size.name = "size"
            size.attributeType = .integer32AttributeType
            size.isOptional = true
            size.derivationExpression = NSExpression(format: "players.@count")
            team.properties.append(size)
            let cup = Shop.entity("Cup", [Shop.attribute("name", .stringAttributeType)])
            model.entities.append(cup)
            guard version > 2 else { return model }
            cup.properties.append(Shop.attribute("year", .integer16AttributeType))
            Shop.relate(cup, "winners", team, "cups", inverseMany: true)
            return model
        }

        private let migrating: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]

        private func open(
            _ version: Int, _ url: URL, _ body: (NSManagedObjectContext) throws -> Void
        ) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: league(version))
            let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: migrating)
            let context = ServerStack.context(coordinator)
            try context.performAndWait { try body(context) }
            #expect(try coordinator.findings(in: store).isEmpty)
            try coordinator.remove(store)
        }

        @Test func tablesMigratedByAMemberBelongToTheOwner() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let number = UInt32.random(in: 0 ... .max)
            let (owner, member, schema) = ("Holder\(number)", "member\(number)@x.com", "t_owned\(number)")
            try cluster.psql(
                "CREATE ROLE \"\(owner)\" LOGIN PASSWORD 'x'; "
                    + "CREATE ROLE \"\(member)\" LOGIN PASSWORD 'x' IN ROLE \"\(owner)\"; "
                    + "CREATE SCHEMA \(schema) AUTHORIZATION \"\(owner)\"")
            defer {
                _ = try? cluster.psql(
                    "DROP SCHEMA \(schema) CASCADE; DROP ROLE \"\(member)\"; DROP ROLE \"\(owner)\"")
            }
            let owners = cluster.networkURL(schema: schema, user: owner, password: "x")
            let login = member.replacing("@", with: "%40")
            let members = cluster.networkURL(schema: schema, user: login, password: "x")
            try open(1, owners) { context in
                let team = context.insert("Team", ["name": "a"])
                context.insert("Player", ["name": "p", "team": team])
                try context.save()
            }
            // The migration makes tables and functions.
            try open(2, members) { context in
                let sizes = try context.rows("Team").map { $0.value(forKey: "size") as? Int }
                #expect(sizes == [1])
            }
            let strangers =
                "SELECT string_agg(name, ', ') FROM (SELECT relname AS name, relowner AS owner, relnamespace AS place "
                + "FROM pg_class UNION ALL SELECT proname, proowner, pronamespace FROM pg_proc) AS x "
                + "WHERE place = '\(schema)'::regnamespace AND pg_get_userbyid(owner) <> '\(owner)'"
            #expect(try cluster.psql(strangers) == "")
            // The owner uses and replaces them, and so does a superuser.
            try open(2, owners) { context in
                context.insert("Cup", ["name": "c"])
                let team = try #require(try context.rows("Team").first)
                context.insert("Player", ["name": "q", "team": team])
                try context.save()
                #expect(team.value(forKey: "size") as? Int == 2)
            }
            try open(3, cluster.url(schema: schema)) { context in
                let sizes = try context.rows("Team").map { $0.value(forKey: "size") as? Int }
                #expect(sizes == [2])
            }
            #expect(try cluster.psql(strangers) == "")
            try open(3, owners) { context in
                let cup = try #require(try context.rows("Cup").first)
                cup.setValue(Set(try context.rows("Team")), forKey: "winners")
                try context.save()
            }
        }
    }
#endif
