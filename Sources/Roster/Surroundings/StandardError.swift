import CoreData
import Foundation
import RosterCommands
@preconcurrency import Glibc

/// Standard error, for messages to the user. Write errors are ignored.
nonisolated enum StandardError {
    /// Writes `text`. On a terminal, control characters are neutralised.
    static func write(_ text: String) { send(isTerminal ? TerminalText.neutralised(text) : text) }

    /// Writes escape sequences of the program unchanged.
    static func send(_ text: String) { _ = FileWriting.write(Array(text.utf8), to: STDERR_FILENO) }

    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Opens `/dev/null` for each standard stream that is closed. Otherwise the next opened file, such as a store,
    /// would get its descriptor.
    static func occupyStandardStreams() {
        // The modes are reversed for input and output: reads and writes fail as on a closed stream.
        for (descriptor, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)] {
            guard fcntl(descriptor, F_GETFD) == -1, errno == EBADF else { continue }
            let opened = open("/dev/null", flags)
            if opened >= 0, opened != descriptor {
                dup2(opened, descriptor)
                close(opened)
            }
        }
    }
}
