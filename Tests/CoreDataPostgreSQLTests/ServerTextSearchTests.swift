#if PostgreSQL
    import CoreData
    import Foundation
    import PostgreSQLCluster
    import TestSupport
    import Testing

    /// Searches without case or diacritics find on a server what they find in memory. The server narrows the rows.
    @Suite(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
    struct ServerTextSearchTests {
        /// Texts that are easy to fold, and some whose characters fold to ASCII, to several, or not at all.
        private static let texts = [
            "", "Kelvin", "kelvin", "KELVIN scale", "\u{212A}elvin", "Stra\u{DF}e", "STRASSE", "stra\u{17F}se",
            "\u{130}zmir",
            "izmir", "I\u{307}zmir", "\u{131}zmir", "Caf\u{E9}", "cafe\u{301}", "CAFE", "\u{6771}\u{4EAC}Tower",
            "\u{6771}\u{4EAC}tower", "\u{FF34}ower", "a_b%c\\d", "A_B%C\\D", "\u{FB01}sh", "FISH", "o'Neil", "\u{30AC}",
            "\u{30AB}\u{3099}",
        ]
        private static let parts = [
            "", "k", "K", "\u{212A}", "kel", "ss", "\u{DF}", "\u{17F}", "i", "I", "\u{130}", "\u{131}", "z", "e",
            "\u{E9}", "fe", "\u{4EAC}t",
            "\u{6771}", "tower", "_b%", "\\D", "fi", "'n", "\u{30AB}", "\u{301}",
        ]

        @Test func rowsThatTheServerOmitsDoNotMatch() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for text in Self.texts { context.insert("Label", ["text": text]) }
                context.insert("Label", [:])
                try context.save()
                let all = try context.rows("Label")
                var conditions: [String] = []
                for operation in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "=="] {
                    for options in ["[c]", "[d]", "[cd]"] { conditions.append("text \(operation)\(options) $part") }
                }
                conditions += [
                    "text CONTAINS[c] $part OR text CONTAINS[cd] 'o'", "NOT text CONTAINS[c] $part",
                    "text CONTAINS[c] $part AND text ENDSWITH[d] 'e'",
                    "(text CONTAINS[cd] $part AND text > 'b') OR text LIKE[c] 'k*'",
                ]
                for condition in conditions {
                    let template = NSPredicate(format: condition)
                    for part in Self.parts {
                        let predicate = template.withSubstitutionVariables(["part": part])
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
                        request.predicate = predicate
                        let found = Set(try context.fetch(request).map(\.objectID))
                        let wanted = Set(all.filter { predicate.evaluate(with: $0) }.map(\.objectID))
                        #expect(found == wanted, "\(predicate)")
                        #expect(try context.count(for: request) == wanted.count, "\(predicate)")
                    }
                }
            }
        }

        /// Compounds whose depth is equal to their length.
        @Test func longChainsOfConditionsAreFetched() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for text in Self.texts { context.insert("Label", ["text": text]) }
                try context.save()
                let all = try context.rows("Label")
                for operation in ["CONTAINS[c]", "LIKE[c]", "MATCHES"] {
                    let last = NSPredicate(format: "text \(operation) 'k'")
                    let chain = (0..<40).reduce(last) { chain, number in
                        NSCompoundPredicate(orPredicateWithSubpredicates: [
                            chain, NSPredicate(format: "text \(operation) %@", "x\(number)"),
                        ])
                    }
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
                    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [chain, last])
                    let wanted = all.count { chain.evaluate(with: $0) && last.evaluate(with: $0) }
                    #expect(try context.fetch(request).count == wanted, "\(operation)")
                }
            }
        }

        /// Of 1,000 ASCII texts the server sends only those that match.
        @Test func theServerNarrowsTheRows() throws {
            let stack = try ServerStack(Shop.model())
            try stack.inContext { context in
                for number in 0..<1000 { context.insert("Label", ["text": "Label Nr. \(number)"]) }
                try context.save()
            }
            let proxy = try CuttableProxy(to: try #require(PostgreSQLCluster.shared).port)
            defer { proxy.stop() }
            let context = try stack.context(by: proxy)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Label")
            request.predicate = NSPredicate(format: "text CONTAINS[cd] 'NR. 99' OR text ==[c] 'label nr. 1'")
            request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
            let before = proxy.answered
            let count = try context.performAndWait { try context.fetch(request).count }
            #expect(count == 12)
            // A row has about fifty bytes, so reading the whole table would exceed this.
            #expect(proxy.answered - before < 10_000)
        }
    }
#endif
