import Synchronization

/// A flag that any thread may raise and another thread clears.
final class AtomicFlag: Sendable {
    private let isUp = Atomic<Bool>(false)

    func raise() { isUp.store(true, ordering: .releasing) }

    /// Lowers the flag.
    ///
    /// - Returns: True if the flag was raised. While it is not, the cost is one plain load.
    @inline(__always)
    func takeDown() -> Bool {
        guard isUp.load(ordering: .relaxed) else { return false }
        return isUp.exchange(false, ordering: .acquiring)
    }
}
