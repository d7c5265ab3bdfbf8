#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Open programs follow others that write with the SQL of `Documentation/Servers.md`.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerContractTests {
        /// The SQL blocks of the document, in order.
        private static func blocks() throws -> [String] {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            let text = try String(contentsOf: root.appendingPathComponent("Documentation/Servers.md"), encoding: .utf8)
            return text.components(separatedBy: "```sql\n").dropFirst().compactMap {
                $0.components(separatedBy: "```").first
            }
        }

        @Test func foreignWritersAreFollowedAndConflict() throws {
            let team = Shop.entity(
                "Team",
                [Shop.attribute("teamName", .stringAttributeType), Shop.attribute("wins", .integer32AttributeType)])
            let model = NSManagedObjectModel()
            model.entities = [team]
            let stack = try ServerStack(
                model, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let schema = "\"\(stack.schema)\""
            let (list, stale) = (stack.context(), ServerStack.context(try stack.another()))
            list.automaticallyMergesChangesFromParent = true
            try list.performAndWait {
                list.insert("Team", ["teamName": "Japan", "wins": 1])
                try list.save()
            }
            let read = try stale.performAndWait {
                let team = try #require(try stale.rows("Team").first)
                #expect(team.value(forKey: "wins") as? Int == 1)
                return team.objectID
            }
            #expect(read.uriRepresentation().lastPathComponent == "p1")
            let controller = try list.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.sortDescriptors = [NSSortDescriptor(key: "wins", ascending: true)]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: list, sectionNameKeyPath: nil, cacheName: nil)
                controller.followsChanges = true
                try controller.performFetch()
                return controller
            }
            func shown() -> [String] {
                list.performAndWait {
                    (controller.fetchedObjects ?? []).map {
                        "\($0.value(forKey: "teamName")!) \($0.value(forKey: "wins")!)"
                    }
                }
            }
            let blocks = try Self.blocks()
            #expect(blocks.count == 2)
            let expected = [["Japan 12"], ["Atlantis 0", "Japan 12"]]
            for (block, expected) in zip(blocks, expected) {
                _ = try stack.psql(block.replacingOccurrences(of: "app.", with: "\(schema)."))
                eventually("the list shows \(expected)") { shown() == expected }
            }
            #expect(try stack.coordinator.findings(in: stack.store).isEmpty)
            // A program that has not seen the change gets a conflict and overwrites nothing.
            stale.performAndWait {
                stale.object(with: read).setValue(2, forKey: "wins")
                #expect(code { try stale.save() } == 133020)
            }
            // The rest of the keys is not used again.
            try list.performAndWait {
                for number in 0..<100 { list.insert("Team", ["teamName": "n\(number)", "wins": 100]) }
                try list.save()
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let history = try list.execute(request) as? NSPersistentHistoryResult
                let transactions = history?.result as? [NSPersistentHistoryTransaction]
                #expect(transactions?.map(\.author) == [nil, "nightly job", "nightly job", nil])
            }
            #expect(try stack.psql("SELECT count(*) FROM \(schema).\"Team\"") == "102")
        }
    }
#endif
