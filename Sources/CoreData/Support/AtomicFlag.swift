import Synchronization

/// A flag that any thread may raise and another one takes down.
final class AtomicFlag: Sendable {
    private let isUp = Atomic<Bool>(false)

    func raise() { isUp.store(true, ordering: .releasing) }

    /// - Returns: whether the flag was up. Costs one plain load as long as it is not.
    @inline(__always)
    func takeDown() -> Bool {
        guard isUp.load(ordering: .relaxed) else { return false }
        return isUp.exchange(false, ordering: .acquiring)
    }
}
