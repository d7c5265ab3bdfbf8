import CoreData
import Dispatch
@preconcurrency import Glibc

/// Turns SIGINT, SIGTERM and SIGHUP into requests to stop at the next clean point. A second signal ends the program.
///
/// A verb that is still running after ``patience`` is in one long statement, which then fails and is rolled back. One
/// that is still running after ``longest`` does not look: it is ended, as by a power failure, which its files survive.
nonisolated struct SignalInterruption {
    private static let patience = DispatchTimeInterval.milliseconds(500)
    private static let longest = DispatchTimeInterval.seconds(5)

    private let sources: [any DispatchSourceSignal]

    /// Begins to handle the signals.
    ///
    /// - Parameter name: the command for the line on standard error, if the verb has to be ended.
    init(_ control: JobControl, of name: String) {
        let queue = DispatchQueue.global(qos: .userInitiated)
        sources = [SIGINT, SIGTERM, SIGHUP].map { (number: Int32) -> any DispatchSourceSignal in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                signal(number, SIG_DFL)
                control.raise()
                queue.asyncAfter(deadline: .now() + Self.patience) { StatementObservation.stopAll() }
                queue.asyncAfter(deadline: .now() + Self.longest) {
                    StandardError.write("\(name): interrupted\n")
                    _exit(128 + number)
                }
            }
            source.resume()
            return source
        }
    }
}
