#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import TestSupport
    import Testing

    /// Many writers of one store and a watcher of its lists. Each has its own coordinator and connection.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerWritersTests {
        /// With `ROSTER_LONG_TESTS=n`: 20 writers for a minute on 10,000·n rows, at most a million.
        private struct Plan {
            var writers = 3
            var rows = 60
            var seconds = 0.5

            init() {
                guard let text = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] else { return }
                (writers, seconds) = (20, 60)
                rows = min(10_000 * (Int(text) ?? 1), 1_000_000)
            }
        }

        /// Times at which labels were committed and seen.
        private final class Times: Sendable {
            private struct Lists {
                var committed: [String: DispatchTime] = [:]
                var seen: [String: DispatchTime] = [:]
            }

            private let lists = Mutex(Lists())

            func commit(_ text: String) { lists.withLock { $0.committed[text] = .now() } }
            func see(_ text: String) { lists.withLock { $0.seen[text] = .now() } }
            var committed: Set<String> { lists.withLock { Set($0.committed.keys) } }
            var seenCount: Int { lists.withLock { $0.seen.count } }

            /// Delays in milliseconds, ascending. A label seen before the writer got its answer counts as 0.
            var delays: [Double] {
                lists.withLock { lists in
                    lists.committed.compactMap { text, time in
                        lists.seen[text].map { seen in
                            seen < time ? 0 : Double(seen.uptimeNanoseconds - time.uptimeNanoseconds) / 1e6
                        }
                    }.sorted()
                }
            }
        }

        private final class LabelWatcher: NSObject, NSFetchedResultsControllerDelegate {
            let times: Times
            init(_ times: Times) { self.times = times }

            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange object: Any,
                at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) {
                guard type == .insert, let label = object as? NSManagedObject else { return }
                if let text = label.value(forKey: "text") as? String { times.see(text) }
            }
        }

        private func list(
            _ entity: String, by key: String, sections: String?, _ context: NSManagedObjectContext
        ) -> NSFetchedResultsController<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [sections, key].compactMap(\.self).map {
                NSSortDescriptor(key: $0, ascending: true)
            }
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
            controller.followsChanges = true
            return controller
        }

        /// Moves one item between the stocks of two goods and inserts a label, until the time is over.
        private static func work(
            _ context: NSManagedObjectContext, _ writer: Int, _ plan: Plan, _ times: Times
        ) throws {
            let end = Date().addingTimeInterval(plan.seconds)
            var number = 0
            while number < 3 || Date() < end {
                number += 1
                let codes = (0..<2).map { _ in "g\(Int.random(in: 0..<plan.rows))" }
                guard codes[0] != codes[1] else { continue }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
                request.predicate = NSPredicate(format: "code IN %@", codes)
                let goods = try context.fetch(request)
                for (good, step) in zip(goods, [1, -1]) {
                    good.setValue((good.value(forKey: "stock") as? Int ?? 0) + step, forKey: "stock")
                    good.setValue(Bool.random(), forKey: "sold")
                }
                let text = "\(writer).\(number)"
                context.insert("Label", ["text": text])
                do {
                    try context.save()
                    times.commit(text)
                } catch let error as NSError where error.code == 133020 { context.rollback() }
                // Reads the others' changes in the next round.
                context.refreshAllObjects()
            }
        }

        @Test func sumsAreRightAndTheWatcherSeesAll() throws {
            let plan = Plan()
            let stack = try ServerStack(
                Shop.model(), options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            try stack.inContext { context in
                let insert = NSBatchInsertRequest(
                    entityName: "Good", objects: (0..<plan.rows).map { ["code": "g\($0)", "stock": 5, "sold": false] })
                _ = try context.execute(insert)
            }
            let times = Times()
            let watcher = stack.context()
            watcher.automaticallyMergesChangesFromParent = true
            let goods = list("Good", by: "code", sections: "sold", watcher)
            let labels = list("Label", by: "text", sections: nil, watcher)
            let delegate = LabelWatcher(times)
            labels.delegate = delegate
            try watcher.performAndWait {
                try goods.performFetch()
                try labels.performFetch()
            }
            let contexts = try (0..<plan.writers).map { _ in ServerStack.context(try stack.another()) }
            // A thread for each: there may be fewer processors.
            let isDone = DispatchGroup()
            let failures = Mutex<[String]>([])
            for writer in contexts.indices {
                isDone.enter()
                Thread.detachNewThread {
                    contexts[writer].performAndWait {
                        do { try Self.work(contexts[writer], writer, plan, times) } catch {
                            failures.withLock { $0.append("\(error)") }
                        }
                    }
                    isDone.leave()
                }
            }
            isDone.wait()
            #expect(failures.withLock { $0 }.isEmpty)
            func table(_ name: String) -> String { "\"\(stack.schema)\".\"\(name)\"" }
            #expect(try stack.psql("SELECT sum(stock) FROM \(table("Good"))") == "\(plan.rows * 5)")
            let found = try stack.psql("SELECT text FROM \(table("Label"))").split(separator: "\n").map(String.init)
            #expect(Set(found) == times.committed && found.count == times.committed.count)
            // A busy watcher may be late.
            eventually("the watcher sees all", within: plan.seconds > 1 ? 600 : 120) { times.seenCount >= found.count }
            let delays = times.delays
            #expect(delays.count == found.count && !found.isEmpty)
            // The lists that were updated step by step are equal to new fetches.
            try watcher.performAndWait {
                watcher.refreshAllObjects()
                func lines(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
                    (controller.sections ?? []).flatMap { section in
                        [section.name]
                            + ((section.objects as? [NSManagedObject]) ?? []).map {
                                "\($0.value(forKey: "code") ?? "")"
                            }
                    }
                }
                let fresh = list("Good", by: "code", sections: "sold", watcher)
                try fresh.performFetch()
                let (followed, fetched) = (lines(goods), lines(fresh))
                let first = zip(followed, fetched).first { $0 != $1 }
                let isSame = followed == fetched
                #expect(isSame, "\(followed.count) and \(fetched.count) lines, first difference \(first ?? ("", ""))")
            }
            if plan.seconds > 1 {
                let place = { (part: Double) in delays[min(Int(Double(delays.count) * part), delays.count - 1)] }
                print(
                    "\(plan.writers) writers, \(plan.rows) rows, \(Int(plan.seconds)) s: \(found.count) saves, seen after "
                        + "p50 \(place(0.5)) ms, p99 \(place(0.99)) ms")
            }
        }
    }
#endif
