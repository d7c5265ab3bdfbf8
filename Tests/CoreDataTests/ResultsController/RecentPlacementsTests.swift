import Dispatch
import Testing

@testable import CoreData

/// Choice of the rows to place again after a merge.
@Suite struct RecentPlacementsTests {
    private func row(_ number: UInt64) -> RowToken { RowToken(code: number) }

    private func codes(_ rows: [RowToken]) -> Set<UInt64> { Set(rows.map(\.code)) }

    @Test func onlyRowsComparedWithAChangedRowArePlacedAgain() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10)), .init(row: row(2), placed: row(10))])
        recent.note([.init(row: row(3), placed: row(20)), .init(row: row(10), placed: row(30))])
        #expect(recent.takeForMerge(of: [row(9)]).isEmpty)
        #expect(codes(recent.takeForMerge(of: [row(3)])) == [20])
        // A row that was compared with a misplaced row may be misplaced, too.
        #expect(codes(recent.takeForMerge(of: [row(2)])) == [10, 30])
        // A changed row is placed in any case.
        #expect(codes(recent.takeForMerge(of: [row(2), row(10)])) == [30])
        recent.removeAll()
        #expect(recent.takeForMerge(of: [row(2)]).isEmpty)
    }

    @Test func comparisonsAreRememberedForAWhileOnly() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10))])
        for number in 0..<300 {
            recent.note((0..<1000).map { .init(row: row(UInt64(100 + $0)), placed: row(UInt64(5000 + number))) })
        }
        #expect(recent.takeForMerge(of: [row(1)]).isEmpty)
        #expect(recent.takeForMerge(of: [row(100)]).count == 250)
    }

    /// Comparisons made before a time up to which all commits are merged cannot be wrong any more.
    @Test func comparisonsAreForgottenOnceEarlierCommitsAreMerged() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10))])
        func placed(_ recent: inout RecentPlacements, completeSince: DispatchTime?) -> Set<UInt64> {
            codes(recent.takeForMerge(of: [row(1)], completeSince: completeSince))
        }
        // At the same moment, a commit may not have been received yet.
        let taken = [DispatchTime.now(), nil, .now() + 3600, nil].map { placed(&recent, completeSince: $0) }
        #expect(taken == [[10], [10], [10], []])
    }

    /// While more commits wait, comparisons are kept longer than usual, because a waiting commit may be old.
    @Test func comparisonsAreKeptWhileMoreWaitsToBeMerged() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10))])
        let later = DispatchTime.now() + 60
        for _ in 0..<9 { _ = recent.takeForMerge(of: [row(9)], isBehind: true, now: later) }
        // The last merge of the waiting commits counts, too.
        #expect(codes(recent.takeForMerge(of: [row(1)], now: later)) == [10])
        #expect(recent.takeForMerge(of: [row(1)], now: later).isEmpty)
        #expect(!recent.isIncomplete)
        // There were so many comparisons that some were dropped, so only a fetch is reliable.
        for _ in 0..<300 { recent.note((0..<1000).map { .init(row: row(UInt64($0)), placed: row(UInt64(5000 + $0))) }) }
        #expect(recent.isIncomplete)
        recent.removeAll()
        #expect(!recent.isIncomplete)
    }
}
