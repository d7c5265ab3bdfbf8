import Foundation
import Testing

/// Waits until a condition holds, and records an issue that names it where it does not within the time. Asks every 5 ms.
///
/// - Parameters:
///   - what: What should happen, as in "the controller hears of the commit".
///   - seconds: Far more than it takes on a busy machine.
/// - Returns: `false` if it did not hold in time.
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

/// The same, for tests that are asynchronous: other tasks may use the thread while it waits.
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
