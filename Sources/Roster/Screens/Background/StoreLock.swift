import CoreData
import Foundation

/// Stores locked by another program: detecting the lock and waiting for it.
nonisolated enum StoreLock {
    /// Longest time in seconds that one attempt may block the keys.
    static let attempt: TimeInterval = 0.1
    /// Total time for repeated attempts, between which keys are handled.
    static let patience = Duration.seconds(15)

    /// True if the error means that another program has locked the store.
    static func isReason(for error: any Error) -> Bool {
        let error = error as NSError
        if let code = error.userInfo[NSSQLiteErrorDomain] as? Int { return [5, 6].contains(code & 0xFF) }
        if let below = error.userInfo[NSUnderlyingErrorKey] as? any Error { return isReason(for: below) }
        let several = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        return several.contains { isReason(for: $0) }
    }

    /// Repeats `body` while another program has locked the store. Blocks its thread.
    ///
    /// - Throws: other errors of `body` at once; the lock error after `patience` or if `stop` is raised.
    static func waiting<Result>(_ stop: JobControl, _ body: () throws -> Result) throws -> Result {
        let end = ContinuousClock.now + patience
        while true {
            do {
                return try body()
            } catch {
                guard isReason(for: error), !stop.isRaised, ContinuousClock.now < end else { throw error }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }
}
