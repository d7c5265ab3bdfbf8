import Dispatch
import Testing

@testable import CoreData

/// Which rows are put into place again with a merge.
@Suite struct RecentPlacementsTests {
    private func row(_ number: UInt64) -> RowToken { RowToken(code: number) }

    private func codes(_ rows: [RowToken]) -> Set<UInt64> { Set(rows.map(\.code)) }

    @Test func onlyWhatWasComparedWithAChangedRowIsPutIntoPlaceAgain() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10)), .init(row: row(2), placed: row(10))])
        recent.note([.init(row: row(3), placed: row(20)), .init(row: row(10), placed: row(30))])
        #expect(recent.takeForMerge(of: [row(9)]).isEmpty)
        #expect(codes(recent.takeForMerge(of: [row(3)])) == [20])
        // What was compared with a row that stood in the wrong place may stand in the wrong place as well.
        #expect(codes(recent.takeForMerge(of: [row(2)])) == [10, 30])
        // What changed itself gets its place anyway.
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

    /// What was compared before all that is merged now was committed cannot be wrong any more.
    @Test func comparisonsAreForgottenOnceEarlierCommitsAreMerged() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10))])
        func placed(_ recent: inout RecentPlacements, completeSince: DispatchTime?) -> Set<UInt64> {
            codes(recent.takeForMerge(of: [row(1)], completeSince: completeSince))
        }
        // The same moment: a commit may have been on its way.
        let taken = [DispatchTime.now(), nil, .now() + 3600, nil].map { placed(&recent, completeSince: $0) }
        #expect(taken == [[10], [10], [10], []])
    }

    /// While more waits to be merged, it may be long since that was committed: longer than comparisons are remembered otherwise.
    @Test func comparisonsAreKeptWhileMoreWaitsToBeMerged() {
        var recent = RecentPlacements()
        recent.note([.init(row: row(1), placed: row(10))])
        let later = DispatchTime.now() + 60
        for _ in 0..<9 { _ = recent.takeForMerge(of: [row(9)], isBehind: true, now: later) }
        // The last merge of those that waited counts, too.
        #expect(codes(recent.takeForMerge(of: [row(1)], now: later)) == [10])
        #expect(recent.takeForMerge(of: [row(1)], now: later).isEmpty)
        #expect(!recent.isIncomplete)
        // So much was compared that some of it had to go: only a fetch tells then.
        for _ in 0..<300 { recent.note((0..<1000).map { .init(row: row(UInt64($0)), placed: row(UInt64(5000 + $0))) }) }
        #expect(recent.isIncomplete)
        recent.removeAll()
        #expect(!recent.isIncomplete)
    }
}
