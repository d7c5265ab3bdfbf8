import Foundation

/// The reason why there is no usable terminal. One line each, with the remedy.
public enum TerminalError: Error, LocalizedError, CustomStringConvertible {
    case notATerminal
    case cannotPlaceCursor(type: String)
    case cannotOpen(type: String)

    public var description: String {
        switch self {
        case .notATerminal:
            "standard input and output must be a terminal, not a pipe or file"
        case .cannotPlaceCursor(let type):
            "this terminal (TERM=\(type)) cannot move the cursor; try TERM=xterm"
        case .cannotOpen(let type):
            "unknown terminal (TERM=\(type)): try TERM=xterm or install its terminfo entry"
        }
    }

    public var errorDescription: String? { description }
}
