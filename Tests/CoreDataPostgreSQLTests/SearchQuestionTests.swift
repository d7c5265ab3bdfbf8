#if PostgreSQL
    import Foundation
    import Testing

    @testable import CoreData
    @testable import ServerStores

    /// Number of rows per query in a search where each answer leads to the next query.
    @Suite struct SearchQuestionTests {
        private func fanout(_ count: Int, _ pace: ServerPace) -> Int {
            ListFollower.fanout(forArrivals: count, rowsOfQuestion: pace.rowsOfQuestion)
        }

        @Test func slowServersGetQueriesAboutMoreRows() {
            let pace = ServerPace()
            #expect([1, 32, 100].map { fanout($0, pace) } == [9, 3, 2])
            // A server as fast as a file does not change the pace.
            for _ in 0..<20 { pace.note(rows: 50, nanoseconds: 700_000) }
            #expect([1, 32, 100].map { fanout($0, pace) } == [9, 3, 2])
            for _ in 0..<40 { pace.note(rows: 50, nanoseconds: 10_500_000) }
            #expect((900...1000).contains(pace.rowsOfQuestion))
            #expect([1, 32, 100, 1000].map { fanout($0, pace) } == [16, 16, 10, 2])
            for _ in 0..<60 { pace.note(rows: 50, nanoseconds: 700_000) }
            #expect(fanout(32, pace) == 3)
        }

        /// The transfer time of many rows does not count, and one slow answer counts little.
        @Test func transferTimeOfRowsDoesNotCount() {
            let pace = ServerPace()
            for _ in 0..<20 { pace.note(rows: 5000, nanoseconds: 50_200_000) }
            #expect(pace.rowsOfQuestion <= 20)
            pace.note(rows: 1, nanoseconds: 10_000_000_000)
            #expect(pace.rowsOfQuestion < 300)
        }
    }
#endif
