import Foundation
import Testing

/// Waits until a condition is true, checking every 5 ms. If that does not happen in time, records an issue that names
/// the condition.
///
/// - Parameters:
///   - what: The expected event, as in "the controller hears of the commit".
///   - seconds: Time limit, far more than needed on a busy machine.
/// - Returns: `false` if the condition was not true in time.
@discardableResult
public func eventually(
    _ what: String, within seconds: TimeInterval = 60, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("not within \(seconds) s: \(what)", sourceLocation: sourceLocation)
            return false
        }
        Thread.sleep(forTimeInterval: 0.005)
    }
    return true
}

/// The same for asynchronous tests: other tasks may use the thread during the wait.
@discardableResult
public func eventuallyAsync(
    _ what: String, within seconds: TimeInterval = 60, isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("not within \(seconds) s: \(what)", sourceLocation: sourceLocation)
            return false
        }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return true
}
