import Foundation

@testable import CoreData

extension SectionReplayTests.Setup {
    /// A random valid combination of sections, sort, predicate, window and aggregates.
    static func random(seed: UInt64) -> SectionReplayTests.Setup {
        var random = SeededGenerator(seed: seed)
        var choice = RandomSetup(random: SeededGenerator(seed: random.next()))
        return choice.setup(seed: seed)
    }
}

private struct RandomSetup {
    var random: SeededGenerator

    private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func one<Value>(_ values: [Value]) -> Value { values[number(values.count)] }

    mutating func setup(seed: UInt64) -> SectionReplayTests.Setup {
        var words: [String] = []
        var section: SectionBy?
        if number(6) > 0 {
            let (made, name) = ordered(sections())
            (section, words) = (made, [name])
        }
        let keys = ["name", "team", "salary", "isActive", "hired", "department.name"].shuffled(using: &random)
        let sort = keys.prefix(1 + number(3)).map { number(2) == 0 ? $0 : "-\($0)" }
        let predicate = one([
            nil, nil, "salary > 3", "salary BETWEEN {2, 12}", "team != 'T2'", "isActive == YES",
            "department.name != 'D4' OR salary < 9", "name BEGINSWITH 'N' OR team == NULL",
            "team IN {'T0', 'T2', 'T3'}",
            "department != NULL AND hired != NULL", "ANY department.employees.salary > 15",
        ])
        var made = SectionReplayTests.Setup(name: "", sectionBy: section, sort: Array(sort), seed: seed)
        made.predicate = predicate
        if number(4) == 0 { (made.limit, made.offset) = (number(4) == 0 ? 0 : 1 + number(25), number(3) * number(8)) }
        made.aggregates = SectionReplayTests.all.shuffled(using: &random).prefix(number(7)).map { $0 }
        words += ["by \(sort)", predicate ?? "all", "from \(made.offset) limit \(made.limit)", "\(made.aggregates)"]
        return made.named(words.joined(separator: ", "))
    }

    /// One level of sections read from the store.
    private mutating func level() -> (SectionBy, String) {
        let utc = SectionReplayTests.utc
        switch number(8) {
        case 0, 1:
            let key = one(["team", "salary", "isActive", "department.name", "name"])
            return (.value(key), "\(key)")
        case 2, 3:
            let key = one(["name", "team", "department.name"])
            return (.firstLetter(key), "\(key):letter")
        case 4:
            let size = one([3, 6, 10])
            return (.bucket("salary", size: Decimal(size)), "bucket(\(size))")
        case 5: return (.month("hired", calendar: utc), "month")
        case 6: return one([(.year("hired", calendar: utc), "year"), (.day("hired", calendar: utc), "day")])
        default: return (.week("hired", calendar: utc), "week")
        }
    }

    private mutating func sections() -> (SectionBy, String) {
        switch number(8) {
        case 0:
            let by = SectionBy.computed {
                .integer((($0.value(forKey: "salary") as? Int32).map(Int.init) ?? 0) % 3)
            }
            return (by, "computed")
        case 1, 2:
            let levels = (0..<(2 + number(2))).map { _ in arranged(level()) }
            return (.levels(levels.map(\.0)), levels.map(\.1).joined(separator: "/"))
        case 3: return (.value("team").keeping(["T9", "T1", "T7"]), "team, T9 T1 T7 kept")
        default: return arranged(level())
        }
    }

    private mutating func arranged(_ level: (SectionBy, String)) -> (SectionBy, String) {
        var (by, name) = level
        if number(3) == 0 { (by, name) = (by.descending(), name + " desc") }
        switch number(4) {
        case 0: return (by.missing(.last), name + " missing last")
        case 1: return (by.missing(.first), name + " missing first")
        default: return (by, name)
        }
    }

    /// Sometimes changes the order of the sections.
    private mutating func ordered(_ sections: (SectionBy, String)) -> (SectionBy, String) {
        let (by, name) = sections
        switch number(10) {
        case 0:
            let key = one(["isActive", "team", "salary"])
            return (by.ordered(by: key), name + " ordered by \(key)")
        case 1: return (by.ordered { "\($0)" > "\($1)" }, name + " ordered backwards")
        default: return sections
        }
    }
}
