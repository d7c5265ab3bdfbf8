import Foundation

/// An error as one line: what failed, why, and where.
struct CommandError: Error {
    enum Kind {
        /// The arguments are invalid.
        case misuse
        /// The arguments are valid, but the work failed.
        case failure
    }

    let kind: Kind
    let message: String

    static func misuse(_ message: String) -> CommandError { CommandError(kind: .misuse, message: message) }
    static func failure(_ message: String) -> CommandError { CommandError(kind: .failure, message: message) }

    /// The text of any error as one line.
    static func line(for error: any Error) -> String {
        VisibleText.oneLine((error as? CommandError)?.message ?? error.localizedDescription)
    }
}
