import Foundation
import TerminalKit
@preconcurrency import Glibc

/// Redirects standard input and output to the process's terminal and can restore them. A program in a pipe can then
/// have a screen.
nonisolated final class TerminalRedirection {
    private let input: Int32
    private let output: Int32
    private var isEnded = false

    /// True if the process has a terminal.
    static var isPossible: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// - Throws: ``TerminalError`` if the process has no terminal.
    init() throws {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { throw TerminalError.notATerminal }
        input = dup(STDIN_FILENO)
        output = dup(STDOUT_FILENO)
        dup2(terminal, STDIN_FILENO)
        dup2(terminal, STDOUT_FILENO)
        close(terminal)
    }

    deinit { end() }

    /// Restores standard input and output.
    func end() {
        guard !isEnded else { return }
        isEnded = true
        if input >= 0 {
            dup2(input, STDIN_FILENO)
            close(input)
        }
        if output >= 0 {
            dup2(output, STDOUT_FILENO)
            close(output)
        }
    }
}
