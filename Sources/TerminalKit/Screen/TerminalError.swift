import Foundation

/// The reason why there is no usable terminal. One line each, with the remedy.
public enum TerminalError: Error, LocalizedError, CustomStringConvertible {
    case notATerminal
    case cannotPlaceCursor(type: String)
    case cannotOpen(type: String)

    public var description: String {
        switch self {
        case .notATerminal:
            "standard input and output must be a terminal; the terminal program does not run in pipes"
        case .cannotPlaceCursor(let type):
            "this terminal (TERM=\(type)) cannot place the cursor"
        case .cannotOpen(let type):
            "the terminal (TERM=\(type)) is not known here; try TERM=xterm or install its terminfo entry"
        }
    }

    public var errorDescription: String? { description }
}
