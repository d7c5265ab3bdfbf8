import Dispatch
import Foundation
import RosterCommands
import Synchronization

/// Connects work on another thread with the main thread: requests to stop, and progress.
nonisolated final class JobControl: ProgressDisplay, Interruption, Sendable {
    private nonisolated struct State {
        var isRaised = false
        var fraction: Double? = 0
        var actions: [@Sendable @MainActor () -> Void] = []
    }

    private let state = Mutex(State())
    private let raised = DispatchSemaphore(value: 0)

    var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Share of the work that is done, from 0 to 1; nil if unknown.
    var fraction: Double? { state.withLock { $0.fraction } }

    /// Asks the work to end at the next clean point.
    func raise() {
        let actions = state.withLock { state in
            state.isRaised = true
            defer { state.actions = [] }
            return state.actions
        }
        raised.signal()
        for action in actions { DispatchQueue.main.async { action() } }
    }

    /// Surroundings for a command without output.
    var surroundings: CommandSurroundings {
        CommandSurroundings(
            output: NoOutput(), progress: self, interruption: self,
            textStyle: TextStyle(columns: nil, isEmphasized: false, width: { $0.count }))
    }

    func report(fraction: Double?, _ text: @autoclosure () -> String) { state.withLock { $0.fraction = fraction } }

    func end() {}

    func wait(for time: Duration) {
        guard !isRaised else { return }
        if raised.wait(timeout: .now() + max(0, time / .seconds(1))) == .success { raised.signal() }
    }

    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {
        let isLate = state.withLock { state in
            if !state.isRaised { state.actions.append(action) }
            return state.isRaised
        }
        if isLate { DispatchQueue.main.async { action() } }
    }
}

private nonisolated final class NoOutput: TextOutput {
    func write(_ text: String) {}
    func flush() {}
}
