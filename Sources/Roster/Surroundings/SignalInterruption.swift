import Dispatch
import Foundation
import RosterCommands
import Synchronization
@preconcurrency import Glibc

/// Ctrl-C, a closed terminal and `kill` as requests to stop at the next clean point. The second one ends the program at once.
// SAFETY: the flag and the actions are behind a mutex; `sources` is only touched by `install()`, called once.
final class SignalInterruption: Interruption, @unchecked Sendable {
    private struct State {
        var isRaised = false
        var actions: [@Sendable @MainActor () -> Void] = []
    }

    private let state = Mutex(State())
    private let raised = DispatchSemaphore(value: 0)
    /// Only touched by ``install()``.
    private var sources: [any DispatchSourceSignal] = []

    var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Begins to hear the signals; until then they end the program.
    func install() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler { [self] in
                signal(number, SIG_DFL)
                raise()
            }
            source.resume()
            sources.append(source)
        }
    }

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

    private func raise() {
        let actions = state.withLock { state in
            state.isRaised = true
            defer { state.actions = [] }
            return state.actions
        }
        raised.signal()
        for action in actions { DispatchQueue.main.async { action() } }
    }
}
