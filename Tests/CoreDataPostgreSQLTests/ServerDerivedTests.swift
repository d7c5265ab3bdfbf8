#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// Derived attributes on a server are right for every writer and visible to all programs.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerDerivedTests {
        // MARK: The model

        private static func derived(
            _ name: String, _ type: NSAttributeType, _ expression: String
        ) -> NSAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            attribute.derivationExpression = NSExpression(format: expression)
            return attribute
        }

        /// Derived attributes by entity. Plain attributes have the names of the triggers' variables.
        private static let derivations: [String: [NSAttributeDescription]] = [
            "Team": [
                derived("size", .integer16AttributeType, "players.@count"),
                derived("goals", .integer32AttributeType, "players.x.@sum"),
                derived("fees", .decimalAttributeType, "players.k.@sum"),
                derived("weight", .doubleAttributeType, "players.t.@sum"),
                derived("prizes", .integer32AttributeType, "cups.@count"),
                derived("worth", .integer64AttributeType, "cups.worth.@sum"),
                derived("search", .stringAttributeType, "canonical:(name)"),
            ],
            "Player": [
                derived("teamName", .stringAttributeType, "team.name"),
                derived("teamSearch", .stringAttributeType, "uppercase:(team.search)"),
                derived("colleagues", .integer32AttributeType, "team.players.@count"),
                derived("teamSize", .integer64AttributeType, "team.size"),
                derived("same", .stringAttributeType, "name"),
                derived("changed", .dateAttributeType, "now()"),
            ],
            "Keeper": [derived("loud", .stringAttributeType, "uppercase:(name)")],
        ]

        private static func model(derived: Bool = true) -> NSManagedObjectModel {
            let team = Shop.entity("Team", [Shop.attribute("name", .stringAttributeType)])
            let player = Shop.entity(
                "Player",
                [
                    Shop.attribute("name", .stringAttributeType), Shop.attribute("x", .integer32AttributeType),
                    Shop.attribute("k", .decimalAttributeType), Shop.attribute("t", .doubleAttributeType),
                ])
            let keeper = Shop.entity("Keeper", [])
            let cup = Shop.entity("Cup", [Shop.attribute("worth", .integer32AttributeType)])
            Shop.relate(team, "players", player, "team")
            Shop.relate(team, "cups", cup, "teams", inverseMany: true)
            player.subentities = [keeper]
            if derived {
                for entity in [team, player, keeper] {
                    entity.properties += (derivations[entity.name ?? ""] ?? []).compactMap {
                        $0.copy() as? NSPropertyDescription
                    }
                }
            }
            let model = NSManagedObjectModel()
            model.entities = [team, player, keeper, cup]
            return model
        }

        // MARK: Expected values

        private static func folded(_ text: Any?) -> String? {
            (text as? String)?.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        }

        /// Compares all derived values with those calculated from the objects.
        private func check(_ context: NSManagedObjectContext, _ note: String = "") throws {
            context.refreshAllObjects()
            for team in try context.rows("Team") {
                let players = (team.value(forKey: "players") as? Set<NSManagedObject> ?? []).sorted {
                    $0.objectID.uriRepresentation().lastPathComponent.compare(
                        $1.objectID.uriRepresentation().lastPathComponent, options: .numeric) == .orderedAscending
                }
                let cups = team.value(forKey: "cups") as? Set<NSManagedObject> ?? []
                let fees = players.reduce(Decimal(0)) {
                    $0 + (($1.value(forKey: "k") as? NSDecimalNumber)?.decimalValue ?? 0)
                }
                #expect(team.value(forKey: "size") as? Int == players.count, "\(note)")
                #expect(
                    team.value(forKey: "goals") as? Int
                        == players.reduce(0) { $0 + ($1.value(forKey: "x") as? Int ?? 0) }, "\(note)")
                #expect((team.value(forKey: "fees") as? NSDecimalNumber)?.decimalValue == fees, "\(note)")
                #expect(
                    team.value(forKey: "weight") as? Double
                        == players.reduce(0) { $0 + ($1.value(forKey: "t") as? Double ?? 0) }, "\(note)")
                #expect(team.value(forKey: "prizes") as? Int == cups.count, "\(note)")
                #expect(
                    team.value(forKey: "worth") as? Int
                        == cups.reduce(0) { $0 + ($1.value(forKey: "worth") as? Int ?? 0) }, "\(note)")
                #expect(team.value(forKey: "search") as? String == Self.folded(team.value(forKey: "name")), "\(note)")
                for player in players {
                    #expect(player.value(forKey: "teamName") as? String == team.value(forKey: "name") as? String)
                    #expect(
                        player.value(forKey: "teamSearch") as? String
                            == Self.folded(team.value(forKey: "name"))?.uppercased(), "\(note)")
                    #expect(player.value(forKey: "colleagues") as? Int == players.count, "\(note)")
                    #expect(player.value(forKey: "teamSize") as? Int == players.count, "\(note)")
                }
            }
            for player in try context.rows("Player") {
                let name = player.value(forKey: "name") as? String
                #expect(player.value(forKey: "same") as? String == name, "\(note)")
                if player.entity.name == "Keeper" {
                    #expect(player.value(forKey: "loud") as? String == name?.uppercased())
                }
                if player.value(forKey: "team") == nil {
                    #expect(player.value(forKey: "teamName") == nil && player.value(forKey: "teamSearch") == nil)
                    #expect((player.value(forKey: "colleagues") as? Int ?? 0) == 0, "\(note)")
                }
            }
        }

        private func wrong(_ stack: ServerStack) throws -> [String] {
            try stack.coordinator.findings(in: stack.store).map(\.message)
        }

        // MARK: Saves

        @Test func aSaveReturnsDerivedValuesInTwoRoundTrips() throws {
            let stack = try ServerStack(Self.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy)
            try context.performAndWait {
                let begun = Date()
                func save() throws -> Int {
                    let before = proxy.roundTrips
                    try context.save()
                    return proxy.roundTrips - before
                }
                let team = context.insert("Team", ["name": "Žižkov"])
                let cup = context.insert("Cup", ["worth": 40_000, "teams": Set([team])])
                let player = context.insert(
                    "Keeper", ["name": "straße", "x": 30_000, "k": NSDecimalNumber(string: "0.1"), "team": team])
                let other = context.insert(
                    "Player", ["name": "b", "x": 30_000, "k": NSDecimalNumber(string: "0.2"), "t": 0.1, "team": team])
                let first = try save()
                #expect(first == 2 && !context.hasChanges)
                #expect(team.value(forKey: "size") as? Int == 2 && team.value(forKey: "goals") as? Int == 60_000)
                #expect(team.value(forKey: "fees") as? NSDecimalNumber == NSDecimalNumber(string: "0.3"))
                #expect(team.value(forKey: "worth") as? Int == 40_000)
                #expect(player.value(forKey: "loud") as? String == "STRASSE")
                #expect(player.value(forKey: "teamSearch") as? String == "ZIZKOV")
                let changed = try #require(player.value(forKey: "changed") as? Date)
                #expect(changed.timeIntervalSince(begun) > -0.01 && Date().timeIntervalSince(changed) > -0.01)
                // Related rows change; the rows that derive from them get new values without being written.
                team.setValue("Ángel", forKey: "name")
                cup.setValue(7, forKey: "worth")
                let second = try save()
                #expect(second == 2)
                #expect(other.value(forKey: "teamName") as? String == "Ángel")
                #expect(other.value(forKey: "teamSearch") as? String == "ANGEL")
                #expect(team.value(forKey: "worth") as? Int == 7)
                let noted = other.value(forKey: "changed") as? Date
                context.delete(player)
                let third = try save()
                #expect(third == 2)
                #expect(team.value(forKey: "size") as? Int == 1 && other.value(forKey: "teamSize") as? Int == 1)
                // Only a save of the row itself changes its time.
                #expect(other.value(forKey: "changed") as? Date == noted)
                // A value set by hand is replaced by the derived one.
                team.setValue(77, forKey: "size")
                other.setValue("c", forKey: "name")
                try context.save()
                #expect(team.value(forKey: "size") as? Int == 1)
                #expect(try #require(other.value(forKey: "changed") as? Date) > (noted ?? .distantFuture))
                try check(context)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Player")
                request.predicate = NSPredicate(format: "teamSize == 1 AND same == 'c' AND teamSearch BEGINSWITH 'AN'")
                #expect(try context.count(for: request) == 1)
            }
            #expect(try wrong(stack).isEmpty)
            // Values are right for SQL of other programs, too.
            _ = try stack.psql(
                "INSERT INTO \"\(stack.schema)\".\"Player\" (_id, _entity, _version, team, x) "
                    + "SELECT 100000 + n, p._entity, 1, p.team, n FROM \"\(stack.schema)\".\"Player\" p, generate_series(1, 3) n"
            )
            #expect(
                try stack.psql("SELECT size, goals FROM \"\(stack.schema)\".\"Team\"") == "4|30006")
            _ = try stack.psql("UPDATE \"\(stack.schema)\".\"Team\" SET size = 9, search = 'x'")
            #expect(try wrong(stack).count { $0.contains("differ from their derivation") } == 2)
        }

        // MARK: Counts and sums

        /// Triggers of a table change rows of the same table. They have to end, and count each row once.
        @Test func aRowRelatedToItselfIsCountedOnce() throws {
            let person = Shop.entity(
                "Person",
                [
                    Shop.attribute("pay", .integer64AttributeType), Shop.attribute("fee", .decimalAttributeType),
                    Self.derived("count", .integer32AttributeType, "reports.@count"),
                    Self.derived("sum", .integer64AttributeType, "reports.pay.@sum"),
                    Self.derived("whole", .integer64AttributeType, "reports.fee.@sum"),
                ])
            Shop.relate(person, "reports", person, "boss")
            let model = NSManagedObjectModel()
            model.entities = [person]
            let stack = try ServerStack(model)
            try stack.inContext { context in
                let people = (1...3).map { context.insert("Person", ["pay": $0]) }
                func values() throws -> [[Int?]] {
                    try context.save()
                    context.refreshAllObjects()
                    return people.map { person in ["count", "sum"].map { person.value(forKey: $0) as? Int } }
                }
                people[0].setValue(people[0], forKey: "boss")
                people[1].setValue(people[0], forKey: "boss")
                #expect(try values() == [[2, 3], [0, 0], [0, 0]])
                people[0].setValue(people[2], forKey: "boss")
                people[2].setValue(people[2], forKey: "boss")
                #expect(try values() == [[1, 2], [0, 0], [2, 4]])
                people[0].setValue(people[0], forKey: "boss")
                people[2].setValue(people[0], forKey: "boss")
                #expect(try values() == [[3, 6], [0, 0], [0, 0]])
                // A sum that overflowed is right again once it fits.
                people[1].setValue(Int.max, forKey: "pay")
                #expect(try values()[0] == [3, Int.max])
                people[1].setValue(5, forKey: "pay")
                #expect(try values()[0] == [3, 9])
                // Two halves make a whole in any order; NaN is refused.
                for other in people[1...] {
                    other.setValue(NSDecimalNumber(string: "0.5"), forKey: "fee")
                    try context.save()
                }
                people[0].setValue(NSDecimalNumber.notANumber, forKey: "fee")
                #expect(throws: CocoaError.self) { try context.save() }
                people[0].setValue(nil, forKey: "fee")
                try context.save()
                context.refreshAllObjects()
                #expect(people[0].value(forKey: "whole") as? Int == 1)
                #expect(people[0].value(forKey: "fee") == nil)
                context.delete(people[2])
                try context.save()
                #expect(people[0].value(forKey: "count") as? Int == 2 && people[0].value(forKey: "sum") as? Int == 6)
            }
            #expect(try wrong(stack).isEmpty)
            _ = try stack.psql("DELETE FROM \"\(stack.schema)\".\"Person\" WHERE _id <> boss")
            #expect(try stack.psql("SELECT count, sum, whole FROM \"\(stack.schema)\".\"Person\"") == "1|1|0")
        }

        @Test func tablesThatCountEachOther() throws {
            let (team, player) = (Shop.entity("Team", []), Shop.entity("Player", []))
            Shop.relate(team, "players", player, "team")
            Shop.relate(player, "led", team, "captain")
            team.properties.append(Self.derived("size", .integer32AttributeType, "players.@count"))
            player.properties.append(Self.derived("teams", .integer32AttributeType, "led.@count"))
            let model = NSManagedObjectModel()
            model.entities = [team, player]
            let stack = try ServerStack(model)
            try stack.inContext { context in
                let player = context.insert("Player")
                let team = context.insert("Team", ["captain": player, "players": Set([player])])
                try context.save()
                context.insert("Team", ["captain": player])
                context.insert("Player", ["team": team])
                try context.save()
                #expect(team.value(forKey: "size") as? Int == 2 && player.value(forKey: "teams") as? Int == 2)
                context.delete(player)
                try context.save()
                #expect(team.value(forKey: "size") as? Int == 1)
            }
            #expect(try wrong(stack).isEmpty)
        }

        /// Statements and values differ from those of a save.
        @Test func derivedValuesAreRightForOtherPrograms() throws {
            let stack = try ServerStack(Self.model())
            try stack.inContext { context in
                context.insert("Player", ["name": "a", "team": context.insert("Team", ["name": "t"])])
                try context.save()
            }
            let (team, player) = ("\"\(stack.schema)\".\"Team\"", "\"\(stack.schema)\".\"Player\"")
            let added = { (from: Int, to: Int, owner: String) in
                "INSERT INTO \(player) (_id, _entity, _version, team, x, k) SELECT 500000 + n, "
                    + "(SELECT min(_entity) FROM \(player)), 1, \(owner), n, 0.5 FROM generate_series(\(from), \(to)) AS n"
            }
            // The team and its players in one statement.
            _ = try stack.psql(
                "WITH t AS (INSERT INTO \(team) (_id, _entity, _version) SELECT 500000, _entity, 1 FROM \(team) "
                    + "RETURNING _id) " + added(1, 3, "(SELECT _id FROM t)"))
            let values = "SELECT size, goals, fees FROM \(team) WHERE _id = 500000"
            #expect(try stack.psql(values) == "3|6|1.5")
            // SQL of other programs records no list of changed rows, because no save would read it.
            let noted = "SELECT coalesce(current_setting('coredata.touched', true), '')"
            #expect(
                try stack.psql("BEGIN; \(added(4, 4, "500000")); \(added(5, 5, "500000")); \(noted); COMMIT") == "")
            #expect(try stack.psql(values) == "5|15|2.5")
            _ = try stack.psql("UPDATE \(player) SET k = 'NaN' WHERE _id = 500001")
            #expect(try stack.psql(values) == "5|15|NaN")
            _ = try stack.psql("UPDATE \(player) SET k = 1.5 WHERE _id = 500001")
            #expect(try stack.psql(values) == "5|15|3.5")
        }

        /// A client sees the commits of the others only when it gets the lock.
        @Test func concurrentClientsLeaveTheRightCounts() throws {
            let stack = try ServerStack(Self.model())
            let teams = try stack.inContext { context in
                let teams = (0..<3).map { context.insert("Team", ["name": "t\($0)"]) }
                let cup = context.insert("Cup", ["worth": 1])
                try context.save()
                return (teams + [cup]).map { $0.objectID.uriRepresentation() }
            }
            let failures = Mutex<[String]>([])
            let group = DispatchGroup()
            for writer in 0..<4 {
                let context = ServerStack.context(try stack.another())
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                DispatchQueue.global().async(group: group) {
                    context.performAndWait {
                        do { try Self.write(context, teams, writer) } catch {
                            failures.withLock { $0.append("\(error)") }
                        }
                    }
                }
            }
            group.wait()
            #expect(failures.withLock { $0 } == [])
            #expect(try wrong(stack).isEmpty)
            try stack.inContext { try check($0) }
            #expect(try stack.inContext { try $0.rows("Player").count } > 12)
        }

        private static func write(_ context: NSManagedObjectContext, _ uris: [URL], _ writer: Int) throws {
            let objects = try uris.map { uri in
                try context.existingObject(
                    with: #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)))
            }
            let (teams, cup) = (objects.dropLast(), objects[objects.count - 1])
            var own: [NSManagedObject] = []
            for round in 0..<12 {
                for _ in 0..<Int.random(in: 1...3) {
                    let player = context.insert(
                        Bool.random() ? "Player" : "Keeper", ["name": "p\(writer)", "x": round, "t": 0.1])
                    player.setValue(teams.randomElement(), forKey: "team")
                    own.append(player)
                }
                own.randomElement()?.setValue(Bool.random() ? teams.randomElement() : nil, forKey: "team")
                own.randomElement()?.setValue(round * 7, forKey: "x")
                if round % 3 == 0 { teams.randomElement()?.setValue("t\(writer) \(round)", forKey: "name") }
                if round % 4 == writer % 4 {
                    let cups = teams.randomElement()?.mutableSetValue(forKey: "cups")
                    Bool.random() ? cups?.add(cup) : cups?.remove(cup)
                }
                if own.count > 8 { context.delete(own.removeFirst()) }
                // A merge policy gives up after repeated conflicts. The next save succeeds.
                while true {
                    do { try context.save() } catch let error as NSError where error.code == 134050 { continue }
                    break
                }
            }
        }

        @Test func followersAndTheHistoryGetDerivedValues() throws {
            let following: [AnyHashable: Any] = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
            let stack = try ServerStack(Self.model(), options: following)
            let context = stack.context()
            context.automaticallyMergesChangesFromParent = true
            let team = try context.performAndWait {
                let team = context.insert("Team", ["name": "a"])
                try context.save()
                return team
            }
            let other = ServerStack.context(try stack.another())
            try other.performAndWait {
                other.insert("Player", ["name": "p", "team": try #require(try other.rows("Team").first)])
                try other.save()
            }
            #expect(
                eventually("the derived value follows") {
                    context.performAndWait { team.value(forKey: "size") as? Int == 1 }
                })
            let player = try context.performAndWait {
                let player = try #require(try context.rows("Player").first)
                #expect(player.value(forKey: "teamName") as? String == "a")
                return player
            }
            // Renaming the team does not write the player's row.
            let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
            try other.performAndWait {
                try other.rows("Team").first?.setValue("É", forKey: "name")
                try other.save()
            }
            #expect(
                eventually("the derived value follows") {
                    context.performAndWait { player.value(forKey: "teamSearch") as? String == "E" }
                })
            try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
                let changes = (result.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }
                let update = try #require(changes.first { $0.changedObjectID == player.objectID })
                #expect(changes.count == 2 && update.changeType == .update)
                #expect(Set((update.updatedProperties ?? []).map(\.name)) == ["teamName", "teamSearch"])
            }
        }

        /// The answer to a commit is lost but the commit succeeded: the objects get their derived values.
        @Test func valuesAreReadAfterALostAnswer() throws {
            let stack = try ServerStack(Self.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy, timeout: 0.2)
            try context.performAndWait {
                let team = context.insert("Team", ["name": "a"])
                try context.save()
                let player = context.insert("Keeper", ["name": "p", "team": team])
                proxy.losesAnswer(after: "coredata_", closing: false)
                try context.save()
                #expect(team.value(forKey: "size") as? Int == 1)
                #expect(player.value(forKey: "loud") as? String == "P")
            }
        }

        /// The outcome of a commit is unknown until the next save asks. Then the objects get their derived values, with
        /// the changes of the rest of that save.
        @Test(arguments: [false, true])
        func valuesAreReadWhenAnOutcomeBecomesKnown(hasRest: Bool) throws {
            let stack = try ServerStack(Self.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy, timeout: 0.2)
            try context.performAndWait {
                let teams = ["a", "b"].map { context.insert("Team", ["name": $0]) }
                // From here on keys are reserved; the commit is sent after the answer to the rows.
                context.insert("Player", ["name": "free"])
                try context.save()
                let players = teams.map { context.insert("Keeper", ["name": "p", "team": $0]) }
                proxy.losesAnswer(after: "coredata_", closing: true)
                #expect(code { try context.save() } != nil)
                proxy.open()
                if hasRest { context.insert("Player", ["name": "q", "team": teams[0]]) }
                eventually("the save succeeds") { (try? context.save()) != nil }
                #expect(!context.hasChanges)
                #expect(teams.map { $0.value(forKey: "size") as? Int } == [hasRest ? 2 : 1, 1])
                #expect(players.map { $0.value(forKey: "loud") as? String } == ["P", "P"])
                #expect(players.map { $0.value(forKey: "teamName") as? String } == ["a", "b"])
                // The objects have the rows' versions: the next change causes no conflict.
                for object in teams + players { object.setValue("z", forKey: "name") }
                try context.save()
                try check(context)
            }
        }

        /// Saves of rows that no other row depends on share the store's lock.
        @Test func derivationsWithinARowBlockNoSave() throws {
            let word = Shop.entity("Word", [Shop.attribute("name", .stringAttributeType)])
            word.properties.append(Self.derived("same", .stringAttributeType, "name"))
            let model = NSManagedObjectModel()
            model.entities = [word]
            let stack = try ServerStack(model, options: [NSPersistentStoreTimeoutOption: 0.5])
            let cluster = try #require(PostgreSQLCluster.shared)
            let table = "\"\(stack.schema)\"._store"
            let holder = try PostgreSQLConnection(ConnectionSettings(cluster.url(), applicationName: "tests"))
            try holder.run("BEGIN")
            try holder.run("UPDATE \(table) SET changes = changes WHERE false")
            try stack.inContext { context in
                let word = context.insert("Word", ["name": "a"])
                try context.save()
                word.setValue("b", forKey: "name")
                try context.save()
                #expect(word.value(forKey: "same") as? String == "b")
            }
            try holder.run("COMMIT")
        }

        // MARK: Batches

        @Test func batchesUpdateDerivedValues() throws {
            let stack = try ServerStack(Self.model())
            try stack.inContext { context in
                let teams = ["Āb", "c"].map { context.insert("Team", ["name": $0]) }
                try context.save()
                let insert = NSBatchInsertRequest(
                    entityName: "Keeper",
                    objects: (0..<700).map { number in
                        [
                            "name": "k\(number)", "x": number, "t": Double(number) / 10,
                            "team": teams[number % 2].objectID,
                        ]
                    })
                _ = try context.execute(insert)
                try check(context, "inserted")
                #expect(teams.map { $0.value(forKey: "size") as? Int } == [350, 350])
                let update = NSBatchUpdateRequest(entityName: "Player")
                update.predicate = NSPredicate(format: "x < 100")
                update.propertiesToUpdate = ["x": 1000, "name": "ß"]
                _ = try context.execute(update)
                try check(context, "updated")
                let rename = NSBatchUpdateRequest(entityName: "Team")
                rename.propertiesToUpdate = ["name": "É"]
                _ = try context.execute(rename)
                try check(context, "renamed")
                let delete = NSBatchDeleteRequest(
                    fetchRequest: {
                        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Player")
                        request.predicate = NSPredicate(format: "x < 650")
                        return request
                    }())
                _ = try context.execute(delete)
                try check(context, "deleted")
                #expect(teams.map { $0.value(forKey: "size") as? Int } == [75, 75])
            }
            #expect(try wrong(stack).isEmpty)
            // The history contains each team row once per step, in addition to the requested rows.
            #expect(
                try stack.psql("SELECT count(*) > 700 FROM \"\(stack.schema)\"._changes WHERE kind = 0") == "t")
        }

        // MARK: Migration

        private let migrating: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]

        /// Migrations add derived attributes, rename and change them, and remove them.
        @Test func migrationsCalculateDerivedValues() throws {
            let stack = try ServerStack(Self.model(derived: false))
            try stack.inContext { context in
                let teams = ["Žižkov", "b"].map { context.insert("Team", ["name": $0]) }
                context.insert("Cup", ["worth": 5, "teams": Set(teams)])
                for number in 0..<20 {
                    context.insert(
                        number % 3 == 0 ? "Keeper" : "Player",
                        ["name": "p\(number)", "x": number, "t": 0.1, "team": teams[number % 2]])
                }
                try context.save()
            }
            try stack.coordinator.remove(stack.store)
            func open(_ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(type: .postgreSQL, at: stack.url, options: migrating)
                let context = ServerStack.context(coordinator)
                try context.performAndWait { try body(context) }
                #expect(try coordinator.findings(in: store).isEmpty)
                try coordinator.remove(store)
            }
            func change(_ context: NSManagedObjectContext) throws {
                let team = try #require(try context.rows("Team").first)
                context.insert("Keeper", ["name": "new", "x": 3, "team": team])
                team.setValue("Ünder", forKey: "name")
                try context.save()
            }
            try open(Self.model()) { context in
                try check(context, "added")
                try change(context)
                try check(context, "written")
            }
            // The text is renamed, and one attribute has another derivation.
            let next = Self.model()
            let team = try #require(next.entitiesByName["Team"])
            let name = try #require(team.attributesByName["name"])
            name.renamingIdentifier = "name"
            name.name = "title"
            func derive(_ entity: NSEntityDescription, _ attribute: String, _ expression: String) {
                let attribute = entity.propertiesByName[attribute] as? NSDerivedAttributeDescription
                attribute?.derivationExpression = NSExpression(format: expression)
            }
            derive(team, "search", "uppercase:(title)")
            let player = try #require(next.entitiesByName["Player"])
            derive(player, "teamName", "team.title")
            try open(next) { context in
                try rename(context)
                for team in try context.rows("Team") {
                    let title = team.value(forKey: "title") as? String
                    #expect(title != nil && team.value(forKey: "search") as? String == title?.uppercased())
                }
                for player in try context.rows("Player") {
                    #expect(
                        player.value(forKey: "teamName") as? String == player.value(forKeyPath: "team.title") as? String
                    )
                    #expect(
                        player.value(forKey: "teamSearch") as? String
                            == (player.value(forKeyPath: "team.title") as? String)?.uppercased())
                }
            }
            let last = Self.model(derived: false)
            last.entitiesByName["Team"]?.attributesByName["name"]?.renamingIdentifier = "title"
            try open(last) { try change($0) }
            // The function that signs the history remains.
            let functions =
                "SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = '\"\(stack.schema)\"'::regnamespace"
            #expect(try stack.psql(functions) == "_sign")
        }

        private func rename(_ context: NSManagedObjectContext) throws {
            for (number, team) in try context.rows("Team").enumerated() { team.setValue("ñ\(number)", forKey: "title") }
            try context.save()
        }

        @Test func nothingIsLeftOfADestroyedStore() throws {
            let stack = try ServerStack(Self.model())
            try stack.coordinator.remove(stack.store)
            let functions =
                "SELECT count(*) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace "
                + "WHERE n.nspname = '\(stack.schema)'"
            #expect(try stack.psql(functions) != "0")
            try stack.coordinator.destroyPersistentStore(at: stack.url, type: .postgreSQL)
            #expect(try stack.psql(functions) == "0")
        }

        /// Names with a meaning for the server, and attributes that cannot be derived.
        @Test func hostileNamesAreNames() throws {
            let model = Shop.hostile()
            let user = try #require(model.entitiesByName["user; drop"])
            user.properties.append(Self.derived("');\n$$\\ \"; DROP", .integer16AttributeType, "group_by.@count"))
            let toMany = try #require(user.propertiesByName["group by ?"] as? NSRelationshipDescription)
            toMany.name = "group_by"
            let stack = try ServerStack(model)
            try stack.inContext { context in
                let user = context.insert("user; drop")
                let other = context.insert(String(repeating: "Long", count: 30) + "B", ["$1": user])
                try context.save()
                #expect(user.value(forKey: "');\n$$\\ \"; DROP") as? Int == 1)
                context.delete(other)
                try context.save()
                #expect(user.value(forKey: "');\n$$\\ \"; DROP") as? Int == 0)
            }
            let refused = Self.model()
            refused.entitiesByName["Team"]?.properties.append(
                Self.derived("bad", .integer16AttributeType, "players.@avg"))
            #expect(code { _ = try ServerStack(refused) } == 134060)
        }

        @Test func partitionedTablesUpdateDerivedValues() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "derived_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let url = try #require(URL(string: cluster.url(schema: schema).absoluteString + "&partitions=3"))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let teams = (0..<5).map { context.insert("Team", ["name": "t\($0)"]) }
                for number in 0..<40 {
                    context.insert("Keeper", ["name": "k\(number)", "x": 1, "team": teams[number % 5]])
                }
                try context.save()
                teams[0].setValue("é", forKey: "name")
                for player in (teams[1].value(forKey: "players") as? Set<NSManagedObject> ?? []).prefix(3) {
                    player.setValue(teams[2], forKey: "team")
                }
                try context.save()
                try check(context)
            }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }
#endif
