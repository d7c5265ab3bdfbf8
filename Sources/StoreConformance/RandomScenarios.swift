import CoreData
import Foundation

// Random predicates and orders over relationships have the same results as in memory.
extension StoreConformance {
    static let randomScenarios = [
        Scenario("agrees with memory over relationships", agreesOverRelationships),
        Scenario("sorts over relationships", sortsOverRelationships),
    ]

    /// Random numbers from a seed (SplitMix64).
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func one(of texts: [String]) -> String { texts.randomElement(using: &self) ?? "" }
        mutating func number(_ range: ClosedRange<Int>) -> String { "\(Int.random(in: range, using: &self))" }
    }

    private static let names = ["Ada", "ada", "鲁迅", "نجيب", "Bo", "😀"]
    private static let cities = ["Rome", "北京", "rome"]
    private static let tags = ["red", "blue", "Été", "دولة", "x"]

    /// Seven authors, of which two have the same name and one has none, with and without books and addresses; thirty
    /// books, some without an author, with up to three tags.
    private func fillLibrary() throws {
        var dice = Dice(state: 19)
        try inContext { context in
            let tags = Self.tags.map { context.make("Tag", named: $0) }
            let authors = (0..<7).map { number -> NSManagedObject in
                let author = context.make("Author", named: number == 6 ? nil : Self.names[number == 5 ? 0 : number])
                if number != 3 { author.setValue(1900 + number % 4, forKey: "born") }
                if number % 3 != 2 {
                    let address = context.make("Address", named: number == 4 ? nil : Self.cities[number % 3], "city")
                    author.setValue(address, forKey: "address")
                }
                return author
            }
            for number in 0..<30 {
                let book = context.make(["Book", "Novel", "Atlas"][number % 3], named: "b\(number)", "title")
                if number % 7 != 0 { book.setValue(number * 37 % 50, forKey: "pages") }
                // The last author has no books.
                if number % 5 != 4 {
                    authors[Int.random(in: 0..<6, using: &dice)].mutableOrderedSetValue(forKey: "books").add(book)
                }
                for _ in 0..<(number % 4) {
                    book.mutableSetValue(forKey: "tags").add(tags[Int.random(in: 0..<tags.count, using: &dice)])
                }
            }
            try context.save()
        }
        if keepsRows { try reopen() }
    }

    private static func comparison(_ dice: inout Dice) -> String { dice.one(of: ["==", "!=", "<", ">=", ">"]) }

    /// A random condition on a book.
    private static func bookTerm(_ dice: inout Dice) -> String {
        let (compare, pages, count) = (comparison(&dice), dice.number(0...50), dice.number(0...3))
        let (name, tag, other) = (dice.one(of: names), dice.one(of: tags), dice.one(of: tags))
        return dice.one(of: [
            "author.name == '\(name)'", "author.name ==[cd] '\(name)'", "author.name BEGINSWITH[c] 'a'",
            "author == nil", "author.born \(compare) \(dice.number(1899...1904))", "author.born == nil",
            "author.address.city == '\(dice.one(of: cities))'", "author.address != nil", "author.address.city == nil",
            "ANY tags.name == '\(tag)'", "ANY tags.name IN {'\(tag)', '\(other)'}", "ALL tags.name != '\(tag)'",
            "NONE tags.name CONTAINS[cd] 'e'", "tags.@count \(compare) \(count)",
            "author.books.@count \(compare) \(dice.number(0...8))", "ANY author.books.pages \(compare) \(pages)",
            "SUBQUERY(tags, $t, $t.name > '\(tag)' OR $t.name == '\(other)').@count \(compare) \(count)",
            "SUBQUERY(author.books, $b, $b.pages \(compare) \(pages) AND $b.title != title).@count > \(count)",
            "author.books.@max.pages \(compare) \(pages)", "pages \(compare) \(pages)", "title ENDSWITH '1'",
        ])
    }

    /// A random condition on an author.
    private static func authorTerm(_ dice: inout Dice) -> String {
        let (compare, pages, count) = (comparison(&dice), dice.number(0...50), dice.number(0...8))
        let tag = dice.one(of: tags)
        return dice.one(of: [
            "name == '\(dice.one(of: names))'", "born \(compare) \(dice.number(1899...1904))",
            "address.city ==[c] 'ROME'", "address == nil", "books.@count \(compare) \(count)",
            "ANY books.pages \(compare) \(pages)", "ALL books.pages \(compare) \(pages)",
            "NONE books.title == 'b\(count)'", "ANY books.tags.name == '\(tag)'",
            "SUBQUERY(books, $b, $b.pages \(compare) \(pages)).@count >= \(dice.number(0...3))",
            "SUBQUERY(books, $b, ANY $b.tags.name == '\(tag)').@count \(compare) 1",
            "SUBQUERY(books, $b, $b.tags.@count > 1 AND $b.pages != nil).@count > 0",
            "books.@sum.pages \(compare) \(dice.number(0...150))", "books.@min.pages \(compare) \(pages)",
        ])
    }

    private static func condition(_ depth: Int, _ dice: inout Dice, _ term: (inout Dice) -> String) -> String {
        switch depth == 0 ? 5 : Int.random(in: 0..<6, using: &dice) {
        case 0, 1: "(\(condition(depth - 1, &dice, term)) AND \(condition(depth - 1, &dice, term)))"
        case 2, 3: "(\(condition(depth - 1, &dice, term)) OR \(condition(depth - 1, &dice, term)))"
        case 4: "NOT (\(condition(depth - 1, &dice, term)))"
        default: term(&dice)
        }
    }

    @Sendable private static func agreesOverRelationships(_ stack: StoreConformance) throws {
        try stack.fillLibrary()
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(state: seed)
        try stack.inContext { context in
            for (entity, order, term) in [("Book", "title", bookTerm), ("Author", "name", authorTerm)] {
                let all = try context.all(entity, by: order)
                for depth in [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3] {
                    let format = condition(depth, &dice, term)
                    let predicate = NSPredicate(format: format)
                    let wanted = Set(all.filter { predicate.evaluate(with: $0) }.map(\.objectID))
                    let found = try context.all(entity, where: predicate, by: order).map(\.objectID)
                    try expect(found.count, Set(found).count, "an object is found once by \(format) (seed \(seed))")
                    try expect(
                        Set(found).symmetricDifference(wanted).map { "\($0)" }, [],
                        "the \(entity)s that the store and memory do not both find by \(format) (seed \(seed))")
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    request.predicate = predicate
                    try expect(try context.count(for: request), wanted.count, "the count of \(format) (seed \(seed))")
                }
            }
        }
    }

    @Sendable private static func sortsOverRelationships(_ stack: StoreConformance) throws {
        try stack.fillLibrary()
        let keys = ["author.name", "author.born", "author.address.city", "pages"]
        let predicates = [nil, NSPredicate(format: "ANY tags.name == 'red' OR author.books.@count > 3")]
        try stack.inContext { context in
            let all = try context.all("Book", by: "title")
            for (key, ascending) in keys.flatMap({ key in [true, false].map { (key, $0) } }) {
                let predicate = predicates[key == "author.name" ? 1 : 0]
                let order = [
                    NSSortDescriptor(key: key, ascending: ascending),
                    NSSortDescriptor(key: "author.born", ascending: !ascending),
                    NSSortDescriptor(key: "title", ascending: true),
                ]
                let wanted = all.filter { predicate?.evaluate(with: $0) ?? true }.sorted(using: order).map(\.objectID)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                (request.predicate, request.sortDescriptors) = (predicate, order)
                let what = "the order by \(key) \(ascending ? "upwards" : "downwards")"
                try expect(try context.fetch(request).map(\.objectID), wanted, what)
                (request.fetchOffset, request.fetchLimit) = (3, 5)
                try expect(
                    try context.fetch(request).map(\.objectID), Array(wanted.dropFirst(3).prefix(5)), "a cut of \(what)"
                )
            }
        }
    }
}
