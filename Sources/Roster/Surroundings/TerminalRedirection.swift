import Foundation
import TerminalKit
@preconcurrency import Glibc

/// Standard input and output on the process's own terminal, while what they were is kept: so a program in the middle of a
/// pipe can have a screen.
nonisolated final class TerminalRedirection {
    private let input: Int32
    private let output: Int32
    private var isEnded = false

    /// Whether the process has a terminal.
    static var isPossible: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        if terminal >= 0 { close(terminal) }
        return terminal >= 0
    }

    /// - Throws: ``TerminalError`` where the process has no terminal.
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

    /// Puts them back.
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
