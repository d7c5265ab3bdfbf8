import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Random batches over random sorts, kinds of sections, aggregates, predicates, windows and changing requests, caused
/// by edits, saves, merges, batch requests, undo, rollback, a second coordinator and a second process. After each, the
/// callbacks replay to the contents, contents and aggregates equal those of a fresh fetch, and snapshots, differences
/// and batches agree.
@Suite(.needs(.campaign)) struct SectionReplayTests {
    struct Setup: CustomTestStringConvertible, Sendable {
        private(set) var name: String
        let sectionBy: SectionBy?
        var sort = ["name"]
        var predicate: String?
        var limit = 0
        var offset = 0
        let seed: UInt64
        var aggregates = SectionReplayTests.all
        var testDescription: String { "\(name), seed \(seed)" }

        func named(_ name: String) -> Setup {
            var copy = self
            copy.name = name
            return copy
        }
    }

    static let all: [SectionAggregate] = [
        .sum("salary"), .average("salary"), .minimum("salary"), .maximum("salary"), .count("team"), .maximum("name"),
    ]

    static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "UTC") ?? .current
        return calendar
    }()

    static let setups = [
        Setup(name: "flat", sectionBy: nil, sort: ["-salary", "name"], seed: 1),
        Setup(name: "by value", sectionBy: .value("team").missing(.last), sort: ["-salary"], seed: 2),
        Setup(name: "by value, descending", sectionBy: .value("salary").descending(), predicate: "salary > 3", seed: 3),
        Setup(name: "by letter", sectionBy: .firstLetter("name"), sort: ["salary", "-name"], seed: 4),
        Setup(name: "by bucket", sectionBy: .bucket("salary", size: 6), sort: ["-name"], seed: 5),
        Setup(
            name: "by related value", sectionBy: .value("department.name").descending().missing(.first), seed: 6),
        Setup(
            name: "levels", sectionBy: .levels(.value("department.name"), .value("team").descending()),
            predicate: "isActive == YES", seed: 7),
        Setup(
            name: "kept", sectionBy: .value("team").keeping(["T9", "T1", "T7"]), predicate: "salary BETWEEN {2, 12}",
            seed: 8),
        Setup(name: "ordered", sectionBy: .value("team").ordered(by: "isActive"), seed: 9),
        Setup(
            name: "computed",
            sectionBy: .computed { .integer((($0.value(forKey: "salary") as? Int32).map(Int.init) ?? 0) % 3) }, seed: 10
        ),
        Setup(name: "window", sectionBy: .value("team"), sort: ["-salary", "name"], limit: 12, seed: 11),
        Setup(
            name: "flat window", sectionBy: nil, sort: ["name", "-salary"], predicate: "salary > 2", limit: 9,
            offset: 4,
            seed: 12),
        Setup(name: "by month", sectionBy: .month("hired", calendar: utc), sort: ["-hired", "name"], seed: 13),
        Setup(
            name: "by year", sectionBy: .year("hired", calendar: utc).descending().missing(.first), sort: ["name"],
            predicate: "team != 'T2'", seed: 14),
        Setup(
            name: "levels of days and letters",
            sectionBy: .levels(.week("hired", calendar: utc), .firstLetter("department.name")), sort: ["-salary"],
            predicate: "department.name != 'D4' OR salary < 9", seed: 15),
        Setup(name: "where related", sectionBy: nil, sort: ["department.name", "-team"], seed: 16),
    ]

    /// Eight rounds of edits for each set-up; `ROSTER_LONG_TESTS=n` runs 20·n.
    @Test(arguments: setups)
    func randomBatches(setup: Setup) throws {
        try Staff.run { staff in
            let world = SectionReplayWorld(staff, setup, seed: setup.seed)
            try ResultsLoader.$fewRows.withValue(0) {
                try world.begin()
                for round in 0..<(Self.factor.map { 20 * $0 } ?? 8) {
                    try world.change()
                    if let problem = try world.problem() {
                        Issue.record("\(problem), \(setup.testDescription), round \(round): \(world.last)")
                        return
                    }
                }
            }
            #expect(world.recorder.batches > 2)
        }
    }

    /// `ROSTER_LONG_SEED`: the first seed of `randomSetups`.
    private static let firstSeed = ProcessInfo.processInfo.environment["ROSTER_LONG_SEED"].flatMap { UInt64($0) } ?? 0

    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    /// Random combinations: 12 lists of ten rounds; `ROSTER_LONG_TESTS=n` runs 8·n of 250 and prints them.
    @Test(arguments: 0..<4)
    func randomSetups(part: UInt64) throws {
        var tally = ReplayTally()
        for number in 0..<UInt64(Self.factor.map { 2 * $0 } ?? 3) {
            let setup = Setup.random(seed: Self.firstSeed + 1_000_000 * (part + 1) + number)
            try Staff.run { staff in
                let world = SectionReplayWorld(staff, setup, seed: setup.seed)
                // Every other list computes its aggregates in the store, like long lists.
                try ResultsLoader.$fewRows.withValue(number % 2 == 0 ? 0 : ResultsLoader.fewRows) {
                    try world.begin()
                    for round in 0..<(Self.factor == nil ? 10 : 250) {
                        try world.change()
                        if let problem = try world.problem() {
                            Issue.record("\(problem), \(setup.testDescription), round \(round): \(world.last)")
                            break
                        }
                    }
                }
                tally.add(world)
            }
        }
        #expect(tally.batches > 20)
        if Self.factor != nil { print("replayed, part \(part): \(tally)") }
    }

    /// The list changes between set-ups repeatedly.
    @MainActor
    @Test func requestsThatChange() async throws {
        let staff = try Staff(queue: .mainQueueConcurrencyType)
        var random = SeededGenerator(seed: 77)
        let world = SectionReplayWorld(staff, Self.setups[0], seed: 78)
        try world.begin()
        for round in 0..<30 {
            guard let setup = Self.setups.randomElement(using: &random) else { return }
            world.use(setup)
            let change = Task { @MainActor in try await world.controller.refetch() }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                await Task.yield()
                try world.change(follows: false)
            }
            try await change.value
            staff.context.processPendingChanges()
            if let problem = try world.problem() {
                Issue.record("\(problem), \(setup.testDescription), round \(round): \(world.last)")
                return
            }
        }
    }
}
