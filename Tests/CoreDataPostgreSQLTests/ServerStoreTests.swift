#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerStoreTests {
        private func fill(_ stack: ServerStack) throws {
            try stack.inContext { context in
                let shelf = context.insert("Shelf", ["name": "top"])
                let goods = (0..<3).map {
                    context.insert($0 == 1 ? "Book" : "Good", ["code": "g\($0)", "stock": $0 * 10])
                }
                goods[1].setValue("Эссе", forKey: "title")
                shelf.setValue(NSOrderedSet(array: [goods[2], goods[0], goods[1]]), forKey: "goods")
                let label = context.insert("Label", ["text": "new"])
                goods[0].mutableSetValue(forKey: "labels").add(label)
                goods[2].mutableSetValue(forKey: "labels").add(label)
                try context.save()
            }
        }

        @Test func aContainerOpensTheStoreThatAURLNames() throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let schema = "container_\(UInt32.random(in: 0 ... .max))"
            let container = NSPersistentContainer(name: "Shop", managedObjectModel: Shop.model())
            let description = NSPersistentStoreDescription(url: cluster.url(schema: schema))
            #expect(description.type == "PostgreSQL")
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.insert("Label", ["text": "x"])
                try context.save()
                #expect(try context.rows("Label").count == 1)
            }
            #expect(try cluster.psql("SELECT text FROM \"\(schema)\".\"Label\"") == "x")
            try cluster.psql("DROP SCHEMA \"\(schema)\" CASCADE")
        }

        @Test func commentsComeFromTheModel() throws {
            let model = Shop.model()
            let good = try #require(model.entitiesByName["Good"])
            good.userInfo = ["about": "What's on the shelves"]
            let price = try #require(good.attributesByName["price"])
            price.renamingIdentifier = "cost"
            price.userInfo = ["unit": "Euro; with taxes", "import": "p", "number": 3]
            good.attributesByName["code"]?.isOptional = false
            let stack = try ServerStack(model)
            let table = "'\"\(stack.schema)\".\"Good\"'::regclass"
            let found = try stack.psql(
                "SELECT attname || ' = ' || col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = "
                    + "\(table) AND attnum > 3 ORDER BY attname"
            ).split(separator: "\n").map(String.init)
            #expect(
                found == [
                    "code = Good.code: String, not optional", "id = Good.id: UUID",
                    "made = Good.made: Date; seconds since 2001-01-01 00:00:00 UTC",
                    "picture = Good.picture: Binary Data",
                    "price = Good.price: Decimal; was cost; import: p; unit: Euro; with taxes",
                    "shelf = Good.shelf: the key of a row of Shelf",
                    "shelf_order = Good.shelf: the position in Shelf.goods", "sold = Good.sold: Boolean",
                    "stock = Good.stock: Integer 32", "title = Book.title: String",
                ])
            let comment = try stack.psql("SELECT obj_description(\(table))")
            #expect(comment.hasSuffix("; Good: about: What's on the shelves"), "\(comment)")
        }

        @Test func theTablesAreThoseThatAnAdministratorExpects() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            let columns = try stack.psql(
                """
                SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_name) FROM
                information_schema.columns WHERE table_schema = '\(stack.schema)' AND table_name = 'Good'
                """)
            #expect(
                columns == "_entity integer, _id bigint, _version bigint, code text, id uuid, made double precision, "
                    + "picture bytea, price numeric, shelf bigint, shelf_order bigint, sold boolean, stock integer, title text"
            )
            let rules = try stack.psql(
                """
                SELECT count(*) FILTER (WHERE contype = 'f' AND condeferrable AND condeferred),
                count(*) FILTER (WHERE contype = 'u' AND condeferrable) FROM pg_constraint AS c
                JOIN pg_namespace AS n ON n.oid = c.connamespace WHERE n.nspname = '\(stack.schema)'
                """)
            #expect(rules == "3|1")
            // The view of all indexes would fail if another test drops its own now.
            let indexes = try stack.psql(
                """
                SELECT count(*) FROM pg_index WHERE indrelid = '"\(stack.schema)"."Good"'::regclass
                AND pg_get_indexdef(indexrelid) LIKE '%(stock NULLS FIRST)'
                """)
            #expect(indexes == "1")
            let comment = try stack.psql("SELECT obj_description('\"\(stack.schema)\".\"Good\"'::regclass)")
            #expect(comment.hasPrefix("Rows of the entities Good"))
            #expect(
                try stack.psql("SELECT title, stock FROM \"\(stack.schema)\".\"Good\" WHERE title IS NOT NULL")
                    == "Эссе|10")
            // An index is used for its query.
            let plan = try stack.psql(
                "SET enable_seqscan = off; EXPLAIN SELECT * FROM \"\(stack.schema)\".\"Good\" AS t0 ORDER BY t0.stock NULLS FIRST"
            )
            #expect(plan.contains("Index Scan"))
        }

        @Test func hostileNamesAndValuesAreOnlyNamesAndValues() throws {
            let stack = try ServerStack(Shop.hostile())
            let text = "'); DROP SCHEMA public CASCADE; --\\ \" $1 ? %s"
            try stack.inContext { context in
                let user = context.insert(
                    "user; drop", ["select \"x\"; --": text, "a'b?": 7, "\"\u{301} text; '\u{301}": "accent"])
                let name = String(repeating: "Long", count: 30)
                let far = context.insert(name + "B", ["naïve 名": text])
                user.mutableSetValue(forKey: "group by ?").add(far)
                let long = context.insert(
                    name + "A",
                    [
                        String(repeating: "name", count: 30) + "1": "1",
                        String(repeating: "name", count: 30) + "2": "2", "_id": text,
                    ])
                long.mutableSetValue(forKey: "table").add(context.insert("_store", ["changes": 3]))
                try context.save()
            }
            try stack.reopen()
            try stack.inContext { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "user; drop")
                request.predicate = NSPredicate(format: "%K == %@ AND %K > 6", "select \"x\"; --", text, "a'b?")
                let user = try #require(try context.fetch(request).first)
                #expect(user.value(forKey: "\"\u{301} text; '\u{301}") as? String == "accent")
                let far = user.mutableSetValue(forKey: "group by ?").allObjects.first as? NSManagedObject
                #expect(far?.value(forKey: "naïve 名") as? String == text)
                let name = String(repeating: "Long", count: 30)
                let long = try #require(try context.rows(name + "A").first)
                #expect(long.value(forKey: String(repeating: "name", count: 30) + "1") as? String == "1")
                #expect(long.value(forKey: String(repeating: "name", count: 30) + "2") as? String == "2")
                #expect(long.value(forKey: "_id") as? String == text)
                #expect(long.mutableSetValue(forKey: "table").count == 1)
                user.setValue("a\u{0}b", forKey: "select \"x\"; --")
                #expect(code { try context.save() } == 134030)
                context.rollback()
            }
        }

        @Test func numbersOfAllKindsAreFound() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                context.insert(
                    "Good", ["code": "least", "stock": Int(Int32.min), "price": NSDecimalNumber(string: "1.5")])
                context.insert("Good", ["code": "two", "stock": -2, "price": NSDecimalNumber(string: "2")])
                try context.save()
                func codes(_ predicate: NSPredicate) throws -> [String] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
                    request.predicate = predicate
                    return try context.fetch(request).compactMap { $0.value(forKey: "code") as? String }.sorted()
                }
                #expect(try codes(NSPredicate(format: "abs(stock) > 2")) == ["least"])
                let prices: [Any] = [2, NSDecimalNumber(string: "1.5")]
                #expect(try codes(NSPredicate(format: "price IN %@", prices)) == ["least", "two"])
                let stocks: [Any] = [-2, 0.5]
                #expect(try codes(NSPredicate(format: "stock IN %@", stocks)) == ["two"])
            }
        }

        @Test func conflictsAreFoundAndResolved() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            let other = ServerStack.context(try stack.another())
            let context = stack.context()
            try context.performAndWait {
                let goods = try context.rows("Good", by: "code")
                goods[0].setValue(1, forKey: "stock")
                goods[1].setValue(2, forKey: "stock")
                try other.performAndWait {
                    let theirs = try other.rows("Good", by: "code")
                    theirs[0].setValue(100, forKey: "stock")
                    theirs[0].setValue(true, forKey: "sold")
                    other.delete(theirs[1])
                    try other.save()
                }
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == 133020)
                let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
                #expect(conflicts.count == 2)
                #expect(
                    try stack.psql("SELECT count(*) FROM \"\(stack.schema)\".\"Good\" WHERE stock IN (1, 2)") == "0")
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                context.refresh(goods[1], mergeChanges: false)
                try context.save()
                #expect(
                    try stack.psql("SELECT stock, sold FROM \"\(stack.schema)\".\"Good\" WHERE code = 'g0'") == "1|t")
            }
        }

        @Test func uniqueValuesAreKeptAndMayBeSwapped() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            try stack.inContext { context in
                let goods = try context.rows("Good", by: "code")
                goods[0].setValue("g2", forKey: "code")
                goods[2].setValue("g0", forKey: "code")
                try context.save()
                context.insert("Good", ["code": "g1", "stock": 77])
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == 133021)
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try context.save()
                #expect(try context.rows("Good", "code == 'g1'").map { $0.value(forKey: "stock") as? Int } == [77])
            }
        }

        @Test func theHistoryContainsAuthorsAndChanges() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
            try stack.inContext { context in
                context.transactionAuthor = "lu"
                context.name = "desk"
                let goods = try context.rows("Good", by: "code")
                goods[0].setValue(5, forKey: "stock")
                context.delete(goods[1])
                try context.save()
            }
            try stack.reopen()
            try stack.inContext { context in
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
                let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
                #expect(transactions.map(\.author) == ["lu"] && transactions.first?.contextName == "desk")
                let changes = transactions.first?.changes ?? []
                #expect(changes.count >= 2)
                let update = changes.first {
                    $0.changeType == .update && $0.updatedProperties?.contains { $0.name == "stock" } == true
                }
                #expect(update != nil)
                let deletion = changes.first { $0.changeType == .delete }
                #expect(deletion?.tombstone?["code"] as? String == "g1")
                let removal = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
                _ = try context.execute(removal)
                let left = try #require(
                    (try context.execute(
                        NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
                        as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
                #expect(left.isEmpty)
            }
        }

        @Test func batchesAreWrittenInOneTransaction() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            try stack.inContext { context in
                let insert = NSBatchInsertRequest(
                    entityName: "Label", objects: (0..<2000).map { ["text": "l\($0)"] })
                insert.resultType = .count
                #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2000)
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Label")) == 2001)
                let update = NSBatchUpdateRequest(entityName: "Good")
                update.predicate = NSPredicate(format: "stock >= 10")
                update.propertiesToUpdate = ["stock": 99]
                update.resultType = .updatedObjectsCountResultType
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
                #expect(try context.rows("Good", "stock == 99").count == 2)
                let labels = NSFetchRequest<NSFetchRequestResult>(entityName: "Label")
                labels.predicate = NSPredicate(format: "text BEGINSWITH 'l'")
                let delete = NSBatchDeleteRequest(fetchRequest: labels)
                delete.resultType = .resultTypeCount
                #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 2000)
                #expect(try context.rows("Label").count == 1)
                // A batch that violates a constraint inserts nothing.
                let twice = NSBatchInsertRequest(entityName: "Good", objects: [["code": "x"], ["code": "x"]])
                #expect(code { _ = try context.execute(twice) } == 133021)
                let broken = try context.rows("Good", "code == 'x'")
                #expect(broken.isEmpty)
            }
        }

        @Test func aGenerationDoesNotChange() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            let context = stack.context()
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                #expect(try context.rows("Good").count == 3)
                try stack.inContext { other in
                    other.insert("Good", ["code": "new"])
                    try other.save()
                }
                #expect(try context.rows("Good").count == 3)
                try context.setQueryGenerationFrom(nil)
                #expect(try context.rows("Good").count == 4)
            }
        }

        @Test func fetchesRunOffTheQueue() throws {
            let stack = try ServerStack(Shop.model())
            try fill(stack)
            let context = stack.context()
            let done = DispatchSemaphore(value: 0)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Good")
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            var codes: [String] = []
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                codes = (result.finalResult ?? []).compactMap { $0.value(forKey: "code") as? String }
                done.signal()
            }
            try context.performAndWait { _ = try context.execute(asynchronous) }
            #expect(done.wait(timeout: .now() + 120) == .success, "the fetch has not ended")
            #expect(codes == ["g0", "g1", "g2"])
        }

        @Test func groupsAndSumsAreCalculatedByTheServer() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for number in 0..<60 {
                    context.insert("Good", ["code": "c\(number)", "stock": number % 7, "sold": number % 2 == 0])
                }
                try context.save()
                let request = NSFetchRequest<NSDictionary>(entityName: "Good")
                request.resultType = .dictionaryResultType
                let sum = NSExpressionDescription()
                sum.name = "total"
                sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "stock")])
                sum.expressionResultType = .integer64AttributeType
                let mean = NSExpressionDescription()
                mean.name = "mean"
                mean.expression = NSExpression(forFunction: "average:", arguments: [NSExpression(forKeyPath: "stock")])
                mean.expressionResultType = .doubleAttributeType
                request.propertiesToGroupBy = ["sold"]
                request.propertiesToFetch = ["sold", sum, mean]
                request.sortDescriptors = [NSSortDescriptor(key: "sold", ascending: true)]
                let found = try context.fetch(request)
                let expected = [false, true].map { sold in
                    (0..<60).filter { ($0 % 2 == 0) == sold }.map { $0 % 7 }
                }
                #expect(found.map { $0["total"] as? Int } == expected.map { $0.reduce(0, +) })
                #expect(
                    found.map { $0["mean"] as? Double } == expected.map { Double($0.reduce(0, +)) / Double($0.count) })
            }
        }
    }
#endif
