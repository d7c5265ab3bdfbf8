import CoreData
import Foundation
import RosterCommands
@preconcurrency import Glibc

/// Standard error, where the program says what a person should know. What cannot be written there is lost without a word.
nonisolated enum StandardError {
    /// Writes `text` as it is to a file or a pipe, and neutralised to a terminal.
    static func write(_ text: String) { send(isTerminal ? TerminalText.neutralised(text) : text) }

    /// Writes escape sequences of the program's own.
    static func send(_ text: String) { _ = FileWriting.write(Array(text.utf8), to: STDERR_FILENO) }

    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Puts something in the place of standard streams that are closed: else the next file that is opened, a store perhaps, would
    /// be taken for one of them.
    static func occupyStandardStreams() {
        // What reads from standard input, or writes to standard output, fails as it should; standard error swallows.
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
