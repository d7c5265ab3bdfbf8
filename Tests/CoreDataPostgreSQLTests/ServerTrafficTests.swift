#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// Numbers of round trips and connections.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerTrafficTests {
        /// Opens the stack's store through a counting proxy.
        private func counted(
            _ stack: ServerStack, options: [AnyHashable: Any]? = nil
        ) throws -> (proxy: CuttableProxy, context: NSManagedObjectContext) {
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema), options: options)
            return (proxy, ServerStack.context(coordinator))
        }

        /// A program reads a store's model and opens the store with it.
        @Test func aStoreIsOpenedOnTheConnectionThatGaveItsModel() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let url = try proxy.url(schema: stack.schema)
            let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(
                at: url, options: [NSStoreTypeKey: NSPersistentStore.StoreType.postgreSQL.rawValue])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            let context = ServerStack.context(coordinator)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
            let count = try context.performAndWait { try context.count(for: request) }
            #expect(count == 0)
            #expect(proxy.connectionCount == 1)
            #expect(proxy.roundTrips <= 8)
            // A connection that the server or network has closed is not reused.
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
            proxy.close()
            eventually("the connections end") { (try? context.performAndWait { try context.rows("Good") }) == nil }
            proxy.open()
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        }

        @Test func aSaveOfAnySizeIsTwoRoundTrips() throws {
            let stack = try ServerStack(Shop.model())
            let (proxy, context) = try counted(stack)
            defer { proxy.stop() }
            try context.performAndWait {
                func save() throws -> Int {
                    let before = proxy.roundTrips
                    try context.save()
                    return proxy.roundTrips - before
                }
                let shelf = context.insert("Shelf", ["name": "s"])
                var goods: [NSManagedObject] = []
                for number in 0..<500 { goods.append(context.insert("Good", ["code": "\(number)", "shelf": shelf])) }
                // One round trip for the keys of all tables, one for the rest with the commit.
                let first = try save()
                #expect(first == 2)
                for (number, good) in goods.enumerated() {
                    if number % 2 == 0 {
                        good.setValue(number, forKey: "stock")
                    } else {
                        good.setValue(true, forKey: "sold")
                    }
                }
                // The keys of the next rows are already reserved.
                context.insert("Shelf", ["name": "t"])
                let second = try save()
                #expect(second == 2)
                // A mixture of changes, and more new rows than reserved keys.
                for number in 500..<900 { context.insert("Good", ["code": "\(number)", "shelf": shelf]) }
                for good in goods[..<20] { context.delete(good) }
                for good in goods[20..<40] { good.setValue(-1, forKey: "stock") }
                context.detectConflicts(for: goods[50])
                shelf.setValue("u", forKey: "name")
                context.processPendingChanges()
                // One more round trip: the values of deleted rows for the history are read first.
                let third = try save()
                #expect(third == 3)
                for number in 900..<1300 { context.insert("Good", ["code": "\(number)"]) }
                for good in goods[40..<60] { good.setValue(-2, forKey: "stock") }
                context.detectConflicts(for: goods[70])
                let fourth = try save()
                #expect(fourth == 2)
                for good in goods[100..<120] { context.delete(good) }
                let fifth = try save()
                #expect(fifth == 2)
            }
            let counts = "count(*), count(*) FILTER (WHERE stock < 0), count(DISTINCT code)"
            #expect(
                try stack.psql("SELECT \(counts) FROM \"\(stack.schema)\".\"Good\"") == "1260|40|1260")
            #expect(
                try stack.psql("SELECT max(number), count(*) FROM \"\(stack.schema)\"._transactions") == "5|5")
        }

        /// The replica is not reachable, so the primary has answered and is not asked again.
        @Test func aMissingRowIsRequestedOnce() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let url = try proxy.url(schema: stack.schema).absoluteString + "&replica=127.0.0.1:1"
            try coordinator.addPersistentStore(type: .postgreSQL, at: try #require(URL(string: url)))
            try stack.inContext { context in
                context.insert("Shelf", ["name": "s"])
                try context.save()
            }
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
                request.includesPropertyValues = false
                let shelf = try #require(try context.fetch(request).first)
                try stack.inContext { context in
                    for shelf in try context.rows("Shelf") { context.delete(shelf) }
                    try context.save()
                }
                let before = proxy.roundTrips
                #expect(throws: (any Error).self) { try context.existingObject(with: shelf.objectID) }
                #expect(proxy.roundTrips - before == 1)
            }
        }

        /// Changes two rows in another context.
        private func spoil(_ stack: ServerStack, _ stock: Int) throws {
            try stack.inContext { context in
                for good in try context.rows("Good", "code IN {'a', 'b'}") { good.setValue(stock, forKey: "stock") }
                try context.save()
            }
        }

        /// The commit is sent with the rows, and does nothing if a row has another version.
        @Test func aSaveWithNewKeysThatMeetsConflictsWritesNothing() throws {
            let stack = try ServerStack(Shop.model())
            let (proxy, context) = try counted(stack)
            defer { proxy.stop() }
            try context.performAndWait {
                let goods = ["a", "b", "c"].map { context.insert("Good", ["code": $0, "stock": 1]) }
                try context.save()
                // A changed row, a deleted row, and a row that was only checked for conflicts.
                for round in 0..<3 {
                    try spoil(stack, 10 + round)
                    for number in 0..<100 { context.insert("Label", ["text": "\(number)"]) }
                    switch round {
                    case 0: goods[0].setValue(2, forKey: "stock")
                    case 1: context.delete(goods[1])
                    default: context.detectConflicts(for: goods[0])
                    }
                    goods[2].setValue(round, forKey: "stock")
                    let refused = code { try context.save() }
                    #expect(refused == 133020)
                    #expect(
                        try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Label\"") == "0",
                        "nothing was written")
                    context.rollback()
                    context.refreshAllObjects()
                    _ = try context.rows("Good").map { $0.value(forKey: "stock") }
                }
                // Row 150 has the code of an existing row, so the save is refused.
                for number in 0..<200 { context.insert("Good", ["code": number == 150 ? "c" : "n\(number)"]) }
                let refused = code { try context.save() }
                #expect(refused == 133021)
                context.rollback()
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try spoil(stack, 20)
                for number in 0..<100 { context.insert("Label", ["text": "\(number)"]) }
                goods[0].setValue(3, forKey: "stock")
                try context.save()
            }
            let labels = try stack.psql("SELECT count(*), count(DISTINCT text) FROM \"\(stack.schema)\".\"Label\"")
            #expect(labels == "100|100")
            #expect(
                try stack.psql("SELECT string_agg(stock::text, ' ' ORDER BY code) FROM \"\(stack.schema)\".\"Good\"")
                    == "3 20 1")
        }

        @Test func statementsArePreparedOnceAndBatchesAreCopied() throws {
            let stack = try ServerStack(Shop.model())
            let (proxy, context) = try counted(stack)
            defer { proxy.stop() }
            let schema = "\"\(stack.schema)\""
            try context.performAndWait {
                // A statement's text is sent when it is prepared, later only its name and values.
                proxy.count("FROM \(schema).\"Good\" AS t0 WHERE")
                for stock in 0..<5 { _ = try context.rows("Good", "stock == \(stock)") }
                #expect(proxy.found == 1)
                proxy.count("INSERT INTO \(schema).\"Label\"")
                for number in 0..<5 {
                    context.insert("Label", ["text": "\(number)"])
                    try context.save()
                }
                #expect(proxy.found == 1)
                proxy.count("COPY \(schema).\"Label\"")
                func insert(_ count: Int) throws {
                    let rows = (0..<count).map { ["text": "b\($0)"] }
                    _ = try context.execute(NSBatchInsertRequest(entityName: "Label", objects: rows))
                }
                try insert(100)
                #expect(proxy.found == 0, "few rows are inserted")
                try insert(1000)
                #expect(proxy.found >= 1)
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Label")) == 1105)
            }
        }

        @Test func asynchronousFetchesAndGenerationsShareAFewConnections() throws {
            let stack = try ServerStack(Shop.model())
            let (proxy, context) = try counted(stack)
            defer { proxy.stop() }
            try context.performAndWait {
                for number in 0..<3 { context.insert("Good", ["code": "g\(number)"]) }
                try context.save()
            }
            for round in 0..<6 {
                let done = DispatchSemaphore(value: 0)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
                var count = 0
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    count = result.finalResult?.count ?? 0
                    done.signal()
                }
                try context.performAndWait {
                    if round % 2 == 0 {
                        _ = try context.execute(asynchronous)
                    } else {
                        try context.setQueryGenerationFrom(.current)
                        count = try context.rows("Good").count
                        try context.setQueryGenerationFrom(nil)
                        done.signal()
                    }
                }
                #expect(done.wait(timeout: .now() + 120) == .success, "the fetch of round \(round) has not ended")
                #expect(count == 3)
            }
            let idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE "
            // A connection is returned soon, but not in the same moment.
            try eventually("no reader holds old rows") { try stack.psql("\(idle)'%\(stack.schema)%'") == "0" }
            #expect(proxy.connectionCount <= 4, "\(proxy.connectionCount) connections")
        }

        /// With 300 rows; 100,000 with `ROSTER_LONG_TESTS`.
        @Test func aListWithAWarmCacheOpensInThreeRoundTrips() throws {
            let size = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] == nil ? 300 : 100_000
            let stack = try ServerStack(Shop.model())
            let (proxy, context) = try counted(stack)
            defer { proxy.stop() }
            let name = "traffic\(UInt32.random(in: 0 ... .max))"
            func open(_ context: NSManagedObjectContext) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
                request.sortDescriptors = ["sold", "code"].map { NSSortDescriptor(key: $0, ascending: true) }
                request.fetchBatchSize = 50
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "sold", cacheName: name)
                try controller.performFetch()
                let first = try #require(controller.sections?.first)
                _ = controller.object(at: IndexPath(row: 0, section: 0)).value(forKey: "code")
                return first.numberOfObjects
            }
            try context.performAndWait {
                let rows = (0..<size).map { ["code": "\($0)", "sold": $0 % 3 == 0] as [String: Any] }
                _ = try context.execute(NSBatchInsertRequest(entityName: "Good", objects: rows))
                _ = try open(context)
            }
            // The cache is written in the background. Until then a list takes more round trips.
            let coordinator = try #require(context.persistentStoreCoordinator)
            var trips = 0
            try eventually("a list opens in three round trips") {
                let other = ServerStack.context(coordinator)
                return try other.performAndWait {
                    let before = proxy.roundTrips
                    let count = try open(other)
                    #expect(count == size - (size + 2) / 3)
                    trips = proxy.roundTrips - before
                    return trips <= 3
                }
            }
            if size > 300 {
                let bytes = ["Good", "_changes"].map { table in
                    "pg_total_relation_size('\"\(stack.schema)\".\"\(table)\"') / \(size)"
                }
                print("\(trips) round trips; bytes a row in the table and in the history:")
                print(try stack.psql("SELECT \(bytes.joined(separator: ", "))"))
            }
            NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
        }

        /// Each step of the search for positions is a query. A slow server gets fewer queries, each about more rows.
        @Test func aSlowServerGetsFewerQueriesForPositions() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let writer = stack.context()
            let (size, moved) = (20_000, 30)
            try writer.performAndWait {
                let rows = (0..<size).map { ["text": String(format: "%06d", $0)] }
                _ = try writer.execute(NSBatchInsertRequest(entityName: "Label", objects: rows))
            }
            let context = ServerStack.context(coordinator)
            context.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try context.performAndWait { try controller.performFetch() }
            let follower = Follower(proxy)
            context.performAndWait { controller.delegate = follower }
            /// Moves rows to the end, and returns the round trips until the list reports it.
            func move(_ round: Int) throws -> Int {
                let before = proxy.roundTrips
                follower.trips.withLock { $0 = nil }
                let wanted = try writer.performAndWait {
                    let rows = try writer.rows("Label", "text < '000030' OR text BEGINSWITH 'z'", by: "text")
                    for (number, row) in rows.enumerated() {
                        row.setValue(String(format: "z%d%04d", round, number), forKey: "text")
                    }
                    try writer.save()
                    return rows.map { $0.value(forKey: "text") as? String }
                }
                #expect(wanted.count == moved)
                eventually("the list is told of round \(round)", within: 120) { follower.trips.withLock { $0 } != nil }
                let trips = try #require(follower.trips.withLock { $0 }) - before
                let found = context.performAndWait {
                    (size - moved..<size).map { row in
                        controller.object(at: IndexPath(row: row, section: 0)).value(forKey: "text") as? String
                    }
                }
                #expect(found == wanted)
                return trips
            }
            proxy.delay(by: 5000)
            // In the first rounds, the list measures the server's response time.
            for round in 0..<3 { _ = try move(round) }
            let trips = try move(3)
            #expect(trips <= 8, "\(trips) round trips")
        }

        private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
            let proxy: CuttableProxy
            let trips = Mutex<Int?>(nil)

            init(_ proxy: CuttableProxy) { self.proxy = proxy }

            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                trips.withLock { $0 = proxy.roundTrips }
            }
        }

        /// The server's plans made for an empty table would scan the whole table for each row.
        @Test func aBatchWithUniqueValuesDoesNotReadTheTableAgainAndAgain() throws {
            let stack = try ServerStack(Shop.model())
            let count = 8000
            // Rows so long that the index soon becomes cheaper.
            let picture = Data(count: 1900)
            try stack.inContext { context in
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                var number = 0
                let insert = NSBatchInsertRequest(entityName: "Good") { (values: NSMutableDictionary) in
                    values["code"] = "\(number % (count - 100))"
                    values["picture"] = picture
                    number += 1
                    return number > count
                }
                insert.resultType = .count
                _ = try context.execute(insert)
            }
            #expect(try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Good\"") == "\(count - 100)")
            let read =
                "SELECT seq_tup_read FROM pg_stat_user_tables WHERE schemaname = '\(stack.schema)' AND relname = 'Good'"
            // The statistics are updated a little later.
            Thread.sleep(forTimeInterval: 0.1)
            let rows = try #require(Int(try stack.psql(read)))
            #expect(rows < 10 * count, "\(rows) rows were read one after the other")
        }
    }
#endif
