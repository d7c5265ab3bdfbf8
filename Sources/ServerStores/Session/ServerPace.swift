import Dispatch
import Synchronization

/// How long a server takes to answer, learned from what its answers took lately.
///
/// Over a network, or from a server with much else to do, a question takes as long as very many rows of its answer. Where each
/// answer leads to the next question, as in the search for places in a list, it is better then to ask for more rows at once.
final class ServerPace: Sendable {
    /// Nanoseconds that a question takes beside its rows. Written under the coordinator's lock, read on any thread.
    private let wait = Atomic<Int>(0)

    /// What a row takes, in nanoseconds.
    private static let row = 10_000
    /// The share of the last answer, as its reciprocal.
    private static let answers = 8
    /// An answer that took longer says no more than that the machine did something else.
    private static let longest = 20_000_000

    func note(rows: Int, since begin: DispatchTime) {
        note(rows: rows, nanoseconds: Int(clamping: DispatchTime.now().uptimeNanoseconds &- begin.uptimeNanoseconds))
    }

    func note(rows: Int, nanoseconds: Int) {
        let last = min(max(0, nanoseconds - rows * Self.row), Self.longest)
        let known = wait.load(ordering: .relaxed)
        wait.store(known == 0 ? last : known + (last - known) / Self.answers, ordering: .relaxed)
    }

    /// As many rows as take as long as a question.
    var rowsOfQuestion: Int { wait.load(ordering: .relaxed) / Self.row }
}
