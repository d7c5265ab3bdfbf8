#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLAccess
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// Errors of saves and batches report the outcome correctly.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerCommitTests {
        /// Opens another coordinator of the stack's store with a named connection.
        private func named(
            _ stack: ServerStack, _ name: String, options: [AnyHashable: Any]? = nil
        ) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            let url = try #require(URL(string: stack.url.absoluteString + "&application_name=\(name)"))
            try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
            return coordinator
        }

        @Test func aBatchWhoseConnectionBreaksDoesNotReportSuccess() throws {
            let stack = try ServerStack(Shop.model())
            let name = "batch\(UInt32.random(in: 0 ... .max))"
            let context = ServerStack.context(try named(stack, name))
            try context.performAndWait {
                var count = 0
                let insert = NSBatchInsertRequest(entityName: "Label") { (values: NSMutableDictionary) in
                    count += 1
                    guard count > 3000 else {
                        values["text"] = "l\(count)"
                        return false
                    }
                    // Ends the server's connection when all rows are written and nothing is committed.
                    _ = try? stack.psql(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)'")
                    _ = try? context.rows("Good")
                    return true
                }
                let refused = code { _ = try context.execute(insert) }
                #expect(refused != nil)
                let left = try context.rows("Label")
                #expect(left.isEmpty)
            }
        }

        @Test func savesDuringABatchWaitForTheirTimeoutOnly() throws {
            let stack = try ServerStack(Shop.model())
            let saver = ServerStack.context(try stack.another(options: [NSPersistentStoreTimeoutOption: 0.05]))
            let patient = ServerStack.context(
                try stack.another(options: [NSPersistentStoreTimeoutOption: Double.infinity]))
            try stack.inContext { context in
                var count = 0
                var refused: NSError?
                let insert = NSBatchInsertRequest(entityName: "Label") { (values: NSMutableDictionary) in
                    count += 1
                    values["text"] = "l\(count)"
                    guard count == 2 else { return count > 2 }
                    saver.performAndWait {
                        saver.insert("Label", ["text": "other"])
                        do { try saver.save() } catch { refused = error as NSError }
                    }
                    return false
                }
                _ = try context.execute(insert)
                #expect(refused?.code == 134090)
                #expect(refused?.localizedDescription.contains("(waited 0.05 s)") == true)
            }
            try saver.performAndWait { try saver.save() }
            try patient.performAndWait {
                patient.insert("Label", ["text": "third"])
                try patient.save()
                #expect(try patient.rows("Label", "text == 'other' OR text == 'third'").count == 2)
            }
        }

        @Test func aCommitWithoutAnswerIsLookedUpAndNotRepeated() throws {
            let stack = try ServerStack(Shop.model())
            let cluster = try #require(PostgreSQLCluster.shared)
            let proxy = try CuttableProxy(to: cluster.port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy, timeout: 0.2)
            try context.performAndWait {
                // From here on keys are reserved. A save sends its statements, and then the commit.
                try context.obtainPermanentIDs(for: [context.insert("Label", ["text": "0"])])
                try context.save()
                // A save's last statement names the channel; the commit follows. Its answer is lost, and the server can
                // be asked.
                context.insert("Label", ["text": "a"])
                proxy.losesAnswer(after: "coredata_", closing: false)
                try context.save()
                // The answer is lost and the server cannot be asked.
                context.insert("Label", ["text": "b"])
                proxy.losesAnswer(after: "coredata_", closing: true)
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.userInfo["outcome"] as? String == "unknown" && error?.userInfo["token"] is String)
                // The next save asks first and writes only the missing rows.
                proxy.open()
                context.insert("Label", ["text": "c"])
                expectSave(context)
            }
            #expect(
                try stack.psql("SELECT string_agg(text, '' ORDER BY text) FROM \"\(stack.schema)\".\"Label\"") == "0abc"
            )
        }

        /// Changes of lists after a save of unknown outcome are written or refused, but not taken for saved.
        @Test func listChangesAfterAnUnknownOutcomeAreNotLost() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy, timeout: 0.2)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.performAndWait {
                let shelf = context.insert("Shelf", ["name": "s"])
                let goods = ["a", "b", "c"].map { context.insert("Good", ["code": $0]) }
                shelf.setValue(NSOrderedSet(array: goods), forKey: "goods")
                let labels = ["x", "y"].map { context.insert("Label", ["text": $0]) }
                try context.save()
                let orders = [[2, 1, 0], [1, 2, 0]]
                for (round, order) in orders.enumerated() {
                    shelf.setValue(NSOrderedSet(array: order.map { goods[$0] }), forKey: "goods")
                    goods[0].mutableSetValue(forKey: "labels").add(labels[round])
                    if round == 0 {
                        proxy.losesAnswer(after: "coredata_", closing: true)
                        #expect(code { try context.save() } != nil)
                        proxy.open()
                    } else {
                        expectSave(context)
                    }
                }
            }
            try stack.inContext { context in
                let shelf = try #require(try context.rows("Shelf").first)
                let goods = (shelf.value(forKey: "goods") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                #expect(goods.map { $0.value(forKey: "code") as? String } == ["b", "c", "a"])
                #expect((goods.last?.value(forKey: "labels") as? Set<NSManagedObject>)?.count == 2)
            }
        }

        /// The server has got a save's statements and waits for a row lock. The network is cut, and the save continues
        /// on another connection. After the row is unlocked, only one of the two writes.
        @Test func aSaveStillRunningOnTheServerIsNotWrittenTwice() throws {
            let stack = try ServerStack(Shop.model())
            let cluster = try #require(PostgreSQLCluster.shared)
            let proxy = try CuttableProxy(to: cluster.port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy)
            let label = "\"\(stack.schema)\".\"Label\""
            let settings = try ConnectionSettings(cluster.url(), applicationName: "tests")
            let (holder, watcher) = (try PostgreSQLConnection(settings), try PostgreSQLConnection(settings))
            func waiting() throws -> PostgreSQLValue {
                try watcher.run(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND strpos(query, $1) > 0",
                    [.value(.text(label), .text)]
                ).value(0, 0)
            }
            func wait(for count: Int64) throws {
                try eventually("\(count) wait for the lock") { try waiting() == .integer(count) }
            }
            let saver = DispatchQueue(label: "saver")
            let done = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var refusal: (any Error)?
            try context.performAndWait {
                context.insert("Label", ["text": "a"])
                try context.save()
            }
            try holder.run("BEGIN")
            try holder.run("SELECT 1 FROM \(label) FOR UPDATE")
            saver.async {
                context.performAndWait {
                    // A new row of another entity, which makes the save reserve keys and send the commit with its rows.
                    context.insert("Shelf", ["name": "new"])
                    do {
                        try context.rows("Label").first?.setValue("b", forKey: "text")
                        try context.save()
                    } catch { refusal = error }
                }
                done.signal()
            }
            try wait(for: 1)
            proxy.tear()
            usleep(50_000)
            proxy.mend()
            try wait(for: 2)
            try holder.run("COMMIT")
            done.wait()
            #expect(refusal == nil)
            // The abandoned transaction ends, too.
            try wait(for: 0)
            #expect(try stack.psql("SELECT string_agg(text || _version, ',') FROM \(label)") == "b2")
            #expect(try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Shelf\"") == "1")
            #expect(try stack.coordinator.findings(in: stack.store).isEmpty)
            try readsPastWhatWasGivenUp(stack)
        }

        private func readsPastWhatWasGivenUp(_ stack: ServerStack) throws {
            try stack.inContext { context in
                context.insert("Label", ["text": "c"])
                try context.save()
                let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                let result = try context.execute(history) as? NSPersistentHistoryResult
                let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                #expect(transactions.flatMap { $0.changes ?? [] }.count == 4)
            }
        }

        /// Repeats the save until it succeeds, because the server is not asked again directly after a failure.
        private func expectSave(_ context: NSManagedObjectContext) {
            eventually("the save succeeds") { (try? context.save()) != nil }
            #expect(!context.hasChanges)
        }

        /// The first save reserves keys, and commits together with its rows.
        @Test(arguments: [false, true])
        func aCommitSentWithItsRowsIsLookedUpToo(isAway: Bool) throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [
                    NSPersistentStoreTimeoutOption: 0.2, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
                ])
            let context = ServerStack.context(coordinator)
            try context.performAndWait {
                context.insert("Label", ["text": "a"])
                // `nextval` reserves the keys of new rows; everything after it is the save itself.
                proxy.losesAnswer(after: "nextval", closing: isAway)
                if isAway {
                    let error = #expect(throws: NSError.self) { try context.save() }
                    #expect(error?.userInfo["outcome"] as? String == "unknown")
                    proxy.open()
                } else {
                    try context.save()
                    #expect(!context.hasChanges)
                }
                context.insert("Label", ["text": "b"])
                expectSave(context)
            }
            #expect(
                try stack.psql("SELECT string_agg(text, '' ORDER BY text) FROM \"\(stack.schema)\".\"Label\"") == "ab")
            #expect(try stack.psql("SELECT count(*) FROM \"\(stack.schema)\"._transactions") == "2")
        }

        /// A connection that broke before such a save does not make the outcome unknown.
        @Test func aSaveWithNewKeysIsRetriedOnANewConnection() throws {
            let stack = try ServerStack(Shop.model())
            let name = "keys\(UInt32.random(in: 0 ... .max))"
            let context = ServerStack.context(try named(stack, name))
            try context.performAndWait {
                try context.obtainPermanentIDs(for: [context.insert("Label", ["text": "a"])])
                try _ = stack.psql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)'")
                try context.save()
            }
            #expect(try stack.psql("SELECT string_agg(text, '') FROM \"\(stack.schema)\".\"Label\"") == "a")
        }

        @Test func aCutNetworkLosesAndRepeatsNoSave() throws {
            let stack = try ServerStack(Shop.model())
            let cluster = try #require(PostgreSQLCluster.shared)
            let proxy = try CuttableProxy(to: cluster.port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [
                    NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSPersistentStoreTimeoutOption: 1,
                ])
            let follower = ServerStack.context(coordinator)
            follower.automaticallyMergesChangesFromParent = true
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: follower, sectionNameKeyPath: nil, cacheName: nil)
            controller.followsChanges = true
            try follower.performAndWait { try controller.performFetch() }
            let seconds = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] == nil ? 0.3 : 10
            let writer = ServerStack.context(coordinator)
            var (there, refused, unknown): (Set<String>, Set<String>, Set<String>) = ([], [], [])
            var counts: [String] = []
            let cuts = DispatchQueue(label: "cuts")
            for round in 0..<3 {
                // Round 0 holds the traffic, round 1 closes the connections, round 2 does both.
                let isOver = Mutex(false)
                cuts.asyncAfter(deadline: .now() + 0.02) {
                    if round != 1 { proxy.hold() }
                    if round != 0 { proxy.close() }
                    Thread.sleep(forTimeInterval: seconds)
                    proxy.open()
                    isOver.withLock { $0 = true }
                }
                var (number, after) = (0, there.count)
                // Saves during the cut, and until a few saves have succeeded after it.
                eventually("saves succeed after cut \(round)", within: seconds + 120) {
                    if !isOver.withLock({ $0 }) { after = there.count }
                    number += 1
                    let text = "\(round).\(number)"
                    writer.performAndWait {
                        writer.insert("Label", ["text": text])
                        do {
                            try writer.save()
                            there.insert(text)
                        } catch let error as NSError {
                            writer.rollback()
                            if error.userInfo["outcome"] != nil { unknown.insert(text) } else { refused.insert(text) }
                        }
                    }
                    return there.count >= after + 3
                }
                cuts.sync {}
                counts.append("\(there.count) there, \(refused.count) refused, \(unknown.count) unknown")
            }
            // The saves of others are merged again.
            try stack.inContext { context in
                context.insert("Label", ["text": "last"])
                try context.save()
            }
            let found = try stack.psql("SELECT text FROM \"\(stack.schema)\".\"Label\"").split(separator: "\n").map(
                String.init)
            #expect(Set(found).count == found.count && refused.isDisjoint(with: found))
            #expect(there.isSubset(of: found) && Set(found).subtracting(there).subtracting(unknown) == ["last"])
            #expect(there.count > 3)
            if seconds > 1 { print("cuts of \(seconds) s: \(counts)") }
            eventually("the list is whole", within: 120) {
                follower.performAndWait {
                    Set((controller.fetchedObjects ?? []).compactMap { $0.value(forKey: "text") as? String })
                        == Set(found)
                }
            }
        }

        @Test func aServerThatIsDownIsNotAskedConstantly() throws {
            let stack = try ServerStack(Shop.model())
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
            try coordinator.addPersistentStore(
                type: .postgreSQL, at: try proxy.url(schema: stack.schema),
                options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = ServerStack.context(coordinator)
            let before = proxy.connectionCount
            proxy.close()
            context.performAndWait {
                for _ in 0..<100 {
                    let refused = code { _ = try context.rows("Label") }
                    #expect(refused != nil)
                }
            }
            // Without a pause each attempt would connect.
            #expect(proxy.connectionCount - before < 50)
            proxy.open()
            eventually("the server is asked again") { context.performAndWait { (try? context.rows("Label")) != nil } }
        }

        @Test func aSaveOfManyBytesIsWrittenInParts() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for number in 0..<5 {
                    context.insert("Good", ["code": "\(number)", "picture": Data(count: 5 << 20)])
                }
                try context.save()
                for good in try context.rows("Good") { good.setValue(Data(count: 6 << 20), forKey: "picture") }
                try context.save()
            }
            #expect(
                try stack.psql("SELECT count(*), sum(length(picture)) / 1048576 FROM \"\(stack.schema)\".\"Good\"")
                    == "5|30")
        }
    }
#endif
