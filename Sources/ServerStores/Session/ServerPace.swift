import Dispatch
import Synchronization

/// The response time of a server, estimated from recent responses.
///
/// Over a network, or with a busy server, a query takes as long as reading very many rows. If each result leads to the
/// next query, as in a search for positions in a list, it is faster to read more rows at once.
final class ServerPace: Sendable {
    /// The nanoseconds of a query without its rows. Written under the coordinator's lock, read on any thread.
    private let wait = Atomic<Int>(0)

    /// The time for a row, in nanoseconds.
    private static let row = 10_000
    /// The weight of the last response, as its reciprocal.
    private static let answers = 8
    /// The maximum. Longer responses only show that the machine was busy.
    private static let longest = 20_000_000

    func note(rows: Int, since begin: DispatchTime) {
        note(rows: rows, nanoseconds: Int(clamping: DispatchTime.now().uptimeNanoseconds &- begin.uptimeNanoseconds))
    }

    func note(rows: Int, nanoseconds: Int) {
        let last = min(max(0, nanoseconds - rows * Self.row), Self.longest)
        let known = wait.load(ordering: .relaxed)
        wait.store(known == 0 ? last : known + (last - known) / Self.answers, ordering: .relaxed)
    }

    /// The number of rows that take as long as a query.
    var rowsOfQuestion: Int { wait.load(ordering: .relaxed) / Self.row }
}
