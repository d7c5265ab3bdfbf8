#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Testing

    /// How often a server is asked, and over how many connections.
    @Suite(.enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerTrafficTests {
        /// A coordinator of the stack's store by way of a proxy that counts.
        private func counted(
            _ stack: ServerStack, options: [AnyHashable: Any]? = nil
        ) throws -> (proxy: CuttableProxy, context: NSManagedObjectContext) {
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema), options: options)
            return (proxy, ServerStack.context(coordinator))
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
                // A block of keys for each of the tables, together.
                let first = try save()
                #expect(first == 3)
                for (number, good) in goods.enumerated() {
                    if number % 2 == 0 {
                        good.setValue(number, forKey: "stock")
                    } else {
                        good.setValue(true, forKey: "sold")
                    }
                }
                // The keys of the next rows are there.
                context.insert("Shelf", ["name": "t"])
                let second = try save()
                #expect(second == 2)
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
                #expect(done.wait(timeout: .now() + 10) == .success)
                #expect(count == 3)
                // A connection comes back at once, but not in the same moment.
                Thread.sleep(forTimeInterval: 0.05)
            }
            let idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE "
            #expect(try stack.psql("\(idle)'%\(stack.schema)%'") == "0", "no reader holds old rows")
            #expect(proxy.connectionCount <= 4, "\(proxy.connectionCount) connections")
        }

        @Test func aListWithAWarmCacheOpensInThreeRoundTrips() throws {
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
                for number in 0..<300 {
                    context.insert("Good", ["code": "\(number)", "sold": number % 3 == 0])
                }
                try context.save()
                _ = try open(context)
            }
            // The list is written beside the queue.
            Thread.sleep(forTimeInterval: 0.3)
            let other = ServerStack.context(try #require(context.persistentStoreCoordinator))
            try other.performAndWait {
                let before = proxy.roundTrips
                let count = try open(other)
                #expect(count == 200)
                #expect(proxy.roundTrips - before <= 3, "\(proxy.roundTrips - before) round trips")
            }
            NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
        }

        /// The server's plans for a table that was empty when they were made read all of it, for each row.
        @Test func aBatchWithUniqueValuesDoesNotReadTheTableAgainAndAgain() throws {
            let stack = try ServerStack(Shop.model())
            let count = 8000
            // Rows so long that soon the index is the better way.
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
            // The statistics come a moment later.
            Thread.sleep(forTimeInterval: 0.1)
            let rows = try #require(Int(try stack.psql(read)))
            #expect(rows < 10 * count, "\(rows) rows were read one after the other")
        }
    }
#endif
