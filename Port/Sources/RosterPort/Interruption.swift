import Glibc
import Synchronization

/// A global variable, because a signal handler cannot capture values.
private let interruptionFlag = Atomic(false)

/// Requests to stop after the current file: Ctrl-C, a closed terminal, or `kill`. A second request ends the program at
/// once.
enum Interruption {
    static var isRaised: Bool { interruptionFlag.load(ordering: .relaxed) }

    static func install() {
        // Initialises the flag before a signal can arrive.
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
