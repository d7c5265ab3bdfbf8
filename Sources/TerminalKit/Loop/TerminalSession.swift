import CTerminalRestore
import Foundation

/// The terminal while the program runs: acquired at the start and restored at every exit.
///
/// Standard error is collected in the meantime, as it would overwrite the screen; `close()` prints it.
public final class TerminalSession {
    /// The terminal's screen.
    public let screen: CursesScreen
    private let savedErrors: Int32
    private let errorLog: Int32
    private var isClosed = false

    /// Acquires the terminal, and installs the handlers that restore it after a crash or `exit`.
    ///
    /// - Throws: ``TerminalError`` if the terminal type is unknown, or cannot position the cursor.
    // SAFETY: the C code copies the bytes during the call.
    public init(options: CursesScreen.Options = CursesScreen.Options()) throws {
        // The modes to restore are those before curses changes them.
        terminal_restore_remember(STDIN_FILENO)
        screen = try CursesScreen(options: options)
        signal(SIGPIPE, SIG_IGN)
        savedErrors = dup(STDERR_FILENO)
        errorLog = Self.makeLog()
        if errorLog >= 0 { dup2(errorLog, STDERR_FILENO) }
        let reset = Array(screen.resetText.utf8)
        reset.withUnsafeBytes { bytes in
            terminal_restore_arm(STDOUT_FILENO, bytes.baseAddress, bytes.count, errorLog >= 0 ? savedErrors : -1)
        }
    }

    deinit { close() }

    /// Checks that there is a terminal, before the program starts any work.
    ///
    /// - Throws: ``TerminalError`` if standard input or output is not a terminal.
    public static func requireTerminal() throws { try CursesScreen.requireTerminal() }

    /// Restores the terminal, and prints the collected standard error.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        terminal_restore_disarm()
        screen.close()
        if errorLog >= 0 {
            dup2(savedErrors, STDERR_FILENO)
            copyLog()
            Foundation.close(errorLog)
        }
        Foundation.close(savedErrors)
    }

    /// Creates an unnamed file, which is deleted when the process ends.
    private static func makeLog() -> Int32 {
        guard let file = tmpfile() else { return -1 }
        defer { fclose(file) }
        return dup(fileno(file))
    }

    private func copyLog() {
        lseek(errorLog, 0, SEEK_SET)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(errorLog, &buffer, buffer.count)
            guard count > 0 else { return }
            FileHandle.standardError.write(Data(buffer[..<count]))
        }
    }
}
