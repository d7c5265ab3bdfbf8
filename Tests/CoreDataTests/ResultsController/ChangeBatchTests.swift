import Foundation
import Testing

@testable import CoreData

/// The reported changes lead from the old list to the new one, and none is superfluous.
@Suite struct ChangeBatchTests {
    private typealias Path = ListContents.Path

    /// A batch between two lists given as `section: rows`, formatted as text.
    private func events(_ old: [ListModel.Section], _ new: [ListModel.Section], touched: [UInt64]) -> [String] {
        let batch = ChangeBatch(
            from: ListModel(old).contents, to: ListModel(new).contents, touched: Set(touched.map(RowToken.init)))
        #expect(ListModel(old).replaying(batch) == ListModel(new))
        func text(_ path: Path?) -> String { path.map { "(\($0.section),\($0.row))" } ?? "-" }
        return batch.deletedSections.map { "section delete \($0.index)" }
            + batch.insertedSections.map { "section insert \($0.index)" }
            + batch.rowChanges.map { "\($0.kind) \($0.row.code) \(text($0.oldPath))→\(text($0.newPath))" }
    }

    private func section(_ number: UInt32, _ rows: UInt64...) -> ListModel.Section { .init(number: number, rows: rows) }

    @Test func case39And40_shiftedRowsAreNotReported() {
        let rows = Array(1...100 as ClosedRange<UInt64>)
        let whole = ListModel.Section(number: 1, rows: rows)
        let with = ListModel.Section(number: 1, rows: [500] + rows)
        #expect(events([whole], [with], touched: [500]) == ["insert 500 -→(0,0)"])
        #expect(events([with], [whole], touched: [500]) == ["delete 500 (0,0)→-"])
    }

    @Test func case41_samePlaceIsAnUpdate() {
        #expect(events([section(1, 1, 2, 3)], [section(1, 1, 2, 3)], touched: [2]) == ["update 2 (0,1)→(0,1)"])
    }

    @Test func case42_rowThatChangesSectionMovesThoughItsPathStays() {
        #expect(
            events([section(5, 1, 2)], [section(4, 1), section(5, 2)], touched: [1])
                == ["section insert 0", "move 1 (0,0)→(0,0)"])
    }

    @Test func case44_sectionsThatVanishAndAppearByRenaming() {
        #expect(
            events([section(1, 1), section(2, 2), section(9, 3)], [section(7, 1, 2), section(9, 3)], touched: [1, 2])
                == [
                    "section delete 1", "section delete 0", "section insert 0", "move 1 (0,0)→(0,0)",
                    "move 2 (1,0)→(0,1)",
                ])
    }

    @Test func case45_swapIsOneMoveAndOneUpdate() {
        #expect(
            events([section(1, 1, 2)], [section(1, 2, 1)], touched: [1, 2])
                == ["move 2 (0,1)→(0,0)", "update 1 (0,0)→(0,1)"])
    }

    @Test func case47_deletesAreOldPathsAndInsertsNewOnes() {
        #expect(
            events(
                [section(1, 1, 2, 3), section(2, 4, 5)], [section(1, 9, 2, 8), section(2, 5, 3)],
                touched: [1, 3, 4, 5, 8, 9])
                == [
                    "delete 4 (1,0)→-", "delete 1 (0,0)→-", "insert 9 -→(0,0)", "insert 8 -→(0,2)",
                    "move 3 (0,2)→(1,1)", "update 5 (1,1)→(1,0)",
                ])
    }

    @Test func swappedSectionsAreDeletedAndInserted() {
        // Sections cannot move: one of them stays, the other is deleted and inserted, and its row moves.
        #expect(
            events([section(1, 1), section(2, 2)], [section(2, 2), section(1, 1)], touched: [1, 2])
                == ["section delete 1", "section insert 0", "move 2 (1,0)→(0,0)", "update 1 (0,0)→(1,0)"])
    }

    @Test func rowsPutIntoPlaceAgainAreSilentUnlessTheyMove() {
        func events(_ new: [UInt64], replaced: [UInt64]) -> [String] {
            let batch = ChangeBatch(
                from: ListModel([section(1, 1, 2, 3, 4)]).contents,
                to: ListModel([.init(number: 1, rows: new)]).contents, touched: [RowToken(code: 2)],
                replaced: Set(replaced.map(RowToken.init)))
            return batch.rowChanges.map { "\($0.kind) \($0.row.code)" }
        }
        #expect(events([1, 2, 3, 4], replaced: [1, 3]) == ["update 2"])
        #expect(events([1, 3, 2, 4], replaced: [1, 2, 3]) == ["move 2"])
        #expect(events([4, 1, 2, 3], replaced: [1, 4]) == ["move 4", "update 2"])
    }

    // MARK: Random batches

    /// Case 48: 5,000 random batches in ten parts; `ROSTER_LONG_TESTS=n` runs 100,000·n.
    @Test(arguments: 0..<10)
    func case48_replayOfRandomBatchesGivesTheNewContents(part: Int) {
        let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }
        for world in 0..<(factor.map { 20 * $0 } ?? 1) {
            let seed = UInt64(part * 1_000_000 + world)
            var list = RandomWorld(seed: seed, rows: (part + world * 5) % 14, sections: 1 + (part + world) % 4)
            for round in 0..<500 {
                if let problem = list.step(changes: 1 + round % 4) {
                    Issue.record("\(problem), seed \(seed), round \(round)")
                    return
                }
            }
        }
        if let factor { print("change batches, part \(part): \(20 * factor * 500)") }
    }

    /// Compares the number of moves with the minimum, found by testing every set of moves. That is exponential, so
    /// lists are short.
    @Test func movesAreTheFewest() {
        var world = RandomWorld(seed: 7, rows: 8, sections: 3)
        for round in 0..<1_200 {
            if round % 100 == 0 { world = RandomWorld(seed: UInt64(7 + round), rows: 8, sections: 1 + round / 100 % 3) }
            world.checksMinimality = true
            if let problem = world.step(changes: 2 + round % 7) {
                Issue.record("\(problem), seed \(7 + round / 100 * 100), round \(round % 100)")
                return
            }
        }
    }

    @Test func largeBatchesAreMergedToTheSameResult() {
        for seed in 1...6 as ClosedRange<UInt64> {
            var world = RandomWorld(seed: seed, rows: 1_500, sections: seed % 2 == 0 ? 40 : 1)
            for _ in 0..<4 {
                if let problem = world.step(changes: 300) {
                    Issue.record("\(problem), seed \(seed)")
                    return
                }
            }
        }
    }

    @Test func flatListsKeepTheirOneSection() {
        var world = RandomWorld(seed: 3, rows: 5, sections: 1, isSectioned: false)
        for round in 0..<500 {
            if let problem = world.step(changes: 1 + round % 8) {
                Issue.record("\(problem), round \(round)")
                return
            }
        }
    }

    // MARK: Whole lists

    /// A list of `count` rows in random order, grouped by section.
    private func list(
        of rows: [UInt64], sections: UInt64, _ random: inout SeededGenerator
    ) -> ListModel {
        let order = rows.shuffled(using: &random)
        let numbers = (0..<sections).shuffled(using: &random)
        return ListModel(
            numbers.map { number in
                ListModel.Section(number: UInt32(number), rows: order.filter { $0 % sections == number })
            }.filter { !$0.rows.isEmpty })
    }

    /// Keys that are close together, of two entities, of rows without a key, and far apart.
    @Test(
        arguments: [
            [0], [1 << 48, 2 << 48], [1 << 48, 1 << 63], [1 << 48, 2 << 48, 3 << 48, 4 << 48, 5 << 48, 1 << 63],
        ] as [[UInt64]], [1, 1 << 30] as [UInt64])
    func wholeListsAreComparedWithoutLookingRowsUp(entities: [UInt64], distance: UInt64) {
        var random = SeededGenerator(seed: distance + UInt64(entities.count))
        for round in 0..<24 {
            let count = round < 12 ? UInt64(round) : 400
            let all = (0..<count).map { entities[Int($0) % entities.count] + $0 * distance }
            func some() -> [UInt64] { all.filter { _ in round % 3 == 0 || Bool.random(using: &random) } }
            let old = list(of: some(), sections: UInt64(1 + round % 5), &random)
            let isGrown = round % 4 == 0
            let new = isGrown ? old : list(of: some(), sections: UInt64(1 + round % 5), &random)
            let (from, to) = (old.contents, new.contents)
            let batch = ChangeBatch(comparing: from, with: to)
            #expect(old.replaying(batch) == new)
            #expect(from.rows.holder.index == nil && to.rows.holder.index == nil || count < 12)
            let moved = ListComparison.touchedRows(from: from, to: to, known: [])
            let other = ChangeBatch(from: from, to: to, touched: [], replaced: moved)
            #expect(batch.rowChanges.count == other.rowChanges.count)
            #expect(!isGrown || batch.isEmpty)
            #expect(Set(batch.reloaded.map(\.code)).isSubset(of: all) && batch.rowChanges.count >= batch.reloaded.count)
        }
    }

    /// A few rows are looked up and many are found by a walk, with the same results.
    @Test func rowsAreFoundByWalksAsByLookUps() {
        var random = SeededGenerator(seed: 11)
        let rows = (0..<2_000 as Range<UInt64>).map { $0 * 3 }.shuffled(using: &random)
        let contents = ListModel([.init(number: 1, rows: rows)]).contents
        let wanted = (0..<6_000 as Range<UInt64>).shuffled(using: &random).map(RowToken.init)
        let found = contents.positions(of: wanted)
        #expect(found.map(\.position) == Array(0..<2_000))
        #expect(found.map { wanted[$0.number].code } == rows)
        #expect(contents.rows.holder.index == nil)
        let few = contents.positions(of: Array(wanted.prefix(20)))
        #expect(few.map(\.position) == few.map { contents.rows.position(of: wanted[$0.number].code) })
        #expect(contents.rows.holder.index != nil)
    }
}
