import CoreData
import Foundation
import RosterCommands
import TerminalKit
@preconcurrency import Glibc

/// Buffered standard output. On a terminal, control characters are neutralised.
nonisolated final class StandardOutput: TextOutput {
    private var buffer: [UInt8] = []

    private let isTerminal = isatty(STDOUT_FILENO) == 1

    func write(_ text: String) throws {
        buffer.append(contentsOf: (isTerminal ? TerminalText.neutralised(text) : text).utf8)
        if buffer.count >= 1 << 15 { try flush() }
    }

    func write(bytes: Data) throws {
        guard !isTerminal else {
            throw CommandError.misuse("the value is binary: send it to a file with > FILE, not to the terminal")
        }
        buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 15 { try flush() }
    }

    func flush() throws {
        let failure = FileWriting.write(buffer, to: STDOUT_FILENO)
        guard failure == 0 else {
            throw CommandError.failure("cannot write standard output: \(String(cString: strerror(failure)))")
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Text layout: on a terminal, lines fit its width and have emphasis unless `NO_COLOR` is set; elsewhere they are
    /// plain and complete.
    static var textStyle: TextStyle {
        let measure = TextWidth()
        let environment = ProcessInfo.processInfo.environment
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isEmphasized = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        return TextStyle(columns: isTerminal ? columns(environment) : nil, isEmphasized: isEmphasized) {
            measure.width($0)
        }
    }

    private static func columns(_ environment: [String: String]) -> Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return environment["COLUMNS"].flatMap(Int.init) ?? 80
    }
}
