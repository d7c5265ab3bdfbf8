import Dispatch
@preconcurrency import Glibc

/// Ctrl-C, a closed terminal and `kill` as requests to stop at the next clean point. The second one ends the program at once.
nonisolated struct SignalInterruption {
    private let sources: [any DispatchSourceSignal]

    /// Begins to handle the signals; until then they end the program.
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
