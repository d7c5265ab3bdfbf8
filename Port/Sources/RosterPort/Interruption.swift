import Glibc
import Synchronization

/// A global variable, since a signal handler captures nothing.
private let interruptionFlag = Atomic(false)

/// Ctrl-C, a closed terminal and `kill` as requests to stop after the current file. The second one ends the program at once.
enum Interruption {
    static var isRaised: Bool { interruptionFlag.load(ordering: .relaxed) }

    static func install() {
        // The flag is initialised before a signal arrives.
        _ = isRaised
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // Storing an atomic flag and calling `signal` are safe in a handler.
            signal(number) { raised in
                interruptionFlag.store(true, ordering: .relaxed)
                signal(raised, SIG_DFL)
            }
        }
    }
}
