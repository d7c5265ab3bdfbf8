import CTerminalRestore
import Foundation

/// The terminal for as long as the program runs: taken at the start and given back on every way out.
///
/// Standard error is collected meanwhile, since it would be written over the screen; `close()` prints it.
public final class TerminalSession {
    /// The screen of the terminal.
    public let screen: CursesScreen
    private let savedErrors: Int32
    private let errorLog: Int32
    private var isClosed = false

    /// Takes the terminal, and arms the handlers that give it back after a crash or `exit`.
    ///
    /// - Throws: ``TerminalError`` where the terminal is not known, or its cursor cannot be placed.
    // SAFETY: the C code copies the bytes during the call.
    public init(options: CursesScreen.Options = CursesScreen.Options()) throws {
        // The modes to return to are those from before curses.
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

    /// Makes sure that there is a terminal, before anything is done for it.
    ///
    /// - Throws: ``TerminalError`` when standard input or output is something else.
    public static func requireTerminal() throws { try CursesScreen.requireTerminal() }

    /// Gives the terminal back and prints what was written to standard error meanwhile.
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

    /// A file that has no name and vanishes with the process.
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
