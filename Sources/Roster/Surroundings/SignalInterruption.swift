import Dispatch
@preconcurrency import Glibc

/// Turns SIGINT, SIGTERM and SIGHUP into requests to stop at the next clean point. A second signal ends the program.
nonisolated struct SignalInterruption {
    private let sources: [any DispatchSourceSignal]

    /// Begins to handle the signals.
    init(_ control: JobControl) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler {
                signal(number, SIG_DFL)
                control.raise()
            }
            source.resume()
            return source
        }
    }
}
