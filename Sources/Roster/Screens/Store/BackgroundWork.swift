import CoreData
import Foundation
import RosterCommands
import Synchronization
import Translation

/// A command that runs beside the event loop, on a thread and in a container of its own: an export, an import.
final class BackgroundWork: ProgressDisplay, Interruption, Sendable {
    private struct State {
        var isRaised = false
        var fraction: Double? = 0
        var actions: [@Sendable @MainActor () -> Void] = []
    }

    /// How it ended.
    enum Outcome {
        /// With what the command printed.
        case done(String)
        case failed(String)
    }

    /// What is done, in one word.
    let name: String
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(_ name: String) { self.name = name }

    /// What has been done so far: `export 40 %`; nothing at the beginning. A command that cannot know its share says so.
    var progress: String {
        state.withLock { state in
            let share = state.fraction.map { "\(Int($0 * 100)) %" } ?? "…"
            return "\(tr(name)) \(share)"
        }
    }

    /// Asks the command to end at the next clean point.
    func stop() {
        let actions = state.withLock { state in
            state.isRaised = true
            return state.actions
        }
        for action in actions { DispatchQueue.main.async { action() } }
    }

    /// Waits until the command has ended, so that nothing is written any more.
    func waitForEnd(upTo seconds: Double) {
        if ended.wait(timeout: .now() + seconds) == .success { ended.signal() }
    }

    /// Begins.
    ///
    /// - Parameter finish: called on the main queue.
    // SAFETY: `command` is used by the new thread alone, and `finish` called on the main thread, which made it.
    func run(_ command: @escaping (CommandSurroundings) throws -> Void, finish: @escaping (Outcome) -> Void) {
        // The one is used by the new thread alone, the other called on the main thread, which made it.
        nonisolated(unsafe) let command = command
        nonisolated(unsafe) let finish = finish
        let thread = Thread { [self] in
            let output = CollectedOutput()
            let surroundings = CommandSurroundings(
                output: output, progress: self, interruption: self,
                textStyle: TextStyle(columns: nil, isEmphasized: false, width: { $0.count }))
            var outcome: Outcome
            do {
                try command(surroundings)
                outcome = .done(output.text.trimmingCharacters(in: .whitespacesAndNewlines))
            } catch {
                outcome = .failed(CommandError.line(for: error))
            }
            let result = outcome
            ended.signal()
            DispatchQueue.main.async { finish(result) }
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    // MARK: What the command asks

    func report(fraction: Double?, _ text: @autoclosure () -> String) { state.withLock { $0.fraction = fraction } }

    func end() {}

    var isRaised: Bool { state.withLock { $0.isRaised } }

    func wait(for time: Duration) {
        let end = ContinuousClock.now + time
        // In pieces, so that a request to stop is heard.
        while !isRaised, case let rest = end - ContinuousClock.now, rest > .zero {
            Thread.sleep(forTimeInterval: min(0.05, rest / .seconds(1)))
        }
    }

    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {
        state.withLock { $0.actions.append(action) }
    }
}

/// Keeps the last lines of what a command prints.
private final class CollectedOutput: TextOutput {
    private static let limit = 4096
    private(set) var text = ""

    func write(_ text: String) {
        self.text += text
        if self.text.count > Self.limit { self.text = String(self.text.suffix(Self.limit / 2)) }
    }

    func flush() {}
}
