import Foundation
import Glibc

enum Output {
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes to standard output without buffering.
    ///
    /// - Throws: ``CommandError`` if it cannot be written, for example to a full disk.
    static func write(_ text: String) throws {
        let number = FileWriter.write(Array(text.utf8), to: STDOUT_FILENO)
        guard number == 0 else {
            throw CommandError.failure("cannot write standard output: \(String(cString: strerror(number)))")
        }
    }

    /// Writes one line to standard error. On a terminal, control characters are made visible.
    static func tell(_ line: String) {
        let text = isatty(STDERR_FILENO) == 1 ? VisibleText.shown(line) : line
        _ = FileWriter.write(Array("\(text)\n".utf8), to: STDERR_FILENO)
    }
}

/// The process services that a command uses. Tests replace them.
struct Surroundings {
    var write: (String) throws -> Void = Output.write
    /// True if the output is a terminal, where control characters must be made visible.
    var isOnScreen = Output.isTerminal
    var isStopped: () -> Bool = { Interruption.isRaised }
}

/// A progress bar on standard error, if it is a terminal. Redrawn at most ten times per second.
struct ProgressLine {
    private let isShown = isatty(STDERR_FILENO) == 1
    private var lastDrawn = Date.distantPast
    private var isDrawn = false

    mutating func report(_ done: Int, of count: Int) {
        guard isShown, Date().timeIntervalSince(lastDrawn) >= 0.1 else { return }
        lastDrawn = Date()
        isDrawn = true
        let full = 24 * done / max(count, 1)
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 24 - full)
        draw("\r[\(bar)] \(100 * done / max(count, 1)) % \(done) of \(count) files\u{1B}[K")
    }

    mutating func end() {
        if isDrawn { draw("\r\u{1B}[K") }
        isDrawn = false
    }

    private func draw(_ text: String) { _ = FileWriter.write(Array(text.utf8), to: STDERR_FILENO) }
}
