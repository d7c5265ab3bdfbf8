import Foundation
import RosterCommands
import Translation

/// Background work with one result.
///
/// The result is delivered once, on the main thread. Releasing a job cancels it without delivering a result.
final class Job<Value>: AnyJob {
    let name: String
    let began = ContinuousClock.now
    let control = JobControl()
    private(set) var status = JobStatus.running
    /// The task; nil if the work runs on its own thread.
    private(set) var task: Task<Void, Never>?
    private let answer = Answer<Value>()
    private let deliver: (Result<Value, any Error>) -> Void

    /// Starts asynchronous work on the main actor.
    ///
    /// - Parameter deliver: receives the result.
    init(
        _ name: String = "", _ work: @escaping () async throws -> Value,
        then deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        (self.name, self.deliver) = (name, deliver)
        task = Task { [weak self] in
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            self?.end(result)
        }
    }

    /// Starts work on its own thread.
    ///
    /// - Parameters:
    ///   - work: has to end soon after the control is raised.
    ///   - deliver: receives the result.
    init(
        _ name: String = "", onThread work: @escaping @Sendable (JobControl) throws -> Value,
        then deliver: @escaping (Result<Value, any Error>) -> Void
    ) {
        (self.name, self.deliver) = (name, deliver)
        let thread = Thread { [weak self, control, answer] in
            answer.give(Result { try work(control) })
            DispatchQueue.main.async { [weak self] in _ = self?.wait() }
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    deinit {
        control.raise()
        task?.cancel()
    }

    /// Asks the work to end at a clean point. Its result is still delivered.
    func stop() { control.raise() }

    /// Ends the work without delivering a result.
    func cancel() {
        if status == .running { status = .cancelled }
        control.raise()
        task?.cancel()
    }

    /// Waits up to `time` for the result of work on a thread and delivers it. Returns true if the job has ended.
    @discardableResult
    func wait(_ time: Duration = .zero) -> Bool {
        if status == .running, let result = answer.take(time) { end(result) }
        return status != .running
    }

    private func end(_ result: Result<Value, any Error>) {
        guard status == .running else { return }
        status = .ended
        deliver(result)
    }
}

enum JobStatus { case running, ended, cancelled }

/// A job with any type of result.
protocol AnyJob: AnyObject {
    var name: String { get }
    var status: JobStatus { get }
    var control: JobControl { get }
    func stop()
    func wait(_ time: Duration) -> Bool
}

extension AnyJob {
    /// `export 40 %`, or `export …` if the fraction is unknown.
    var progress: String { "\(tr(name)) \(control.fraction.map { "\(Int($0 * 100)) %" } ?? "…")" }
}

/// The result of work on another thread, which the main thread takes once.
// SAFETY: the semaphore orders writing the result before reading it.
private nonisolated final class Answer<Value>: @unchecked Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    func give(_ result: Result<Value, any Error>) {
        self.result = result
        ended.signal()
    }

    func take(_ time: Duration) -> Result<Value, any Error>? {
        guard ended.wait(timeout: .now() + time / .seconds(1)) == .success else { return nil }
        defer { result = nil }
        return result
    }
}
