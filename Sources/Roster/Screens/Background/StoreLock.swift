import CoreData
import Foundation

/// Stores that another program holds a lock on: how that is recognised, and how long the program waits for it.
nonisolated enum StoreLock {
    /// How long one attempt may hold up the keys.
    static let attempt: TimeInterval = 0.1
    /// How long attempts are repeated, between the keys.
    static let patience = Duration.seconds(15)

    /// Whether an error says that another program has locked the store.
    static func isReason(for error: any Error) -> Bool {
        let error = error as NSError
        if let code = error.userInfo[NSSQLiteErrorDomain] as? Int { return [5, 6].contains(code & 0xFF) }
        if let below = error.userInfo[NSUnderlyingErrorKey] as? any Error { return isReason(for: below) }
        let several = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
        return several.contains { isReason(for: $0) }
    }

    /// Repeats `body` while another program has the store locked, on a thread that may wait.
    ///
    /// - Throws: what `body` throws otherwise; the error about the lock when the patience is over or the flag is raised.
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
