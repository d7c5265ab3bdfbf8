import CoreData
import Foundation
import Translation

/// Why a command did not do what was asked, in one line that says what is wrong, where, and what to do.
public struct CommandError: LocalizedError, CustomStringConvertible {
    /// Whose fault it is; the program's exit status follows from it, in one place.
    public enum Kind: Sendable {
        /// Unknown verb, flag, entity or key, or an impossible value.
        case misuse
        /// A valid request that failed.
        case failure
    }

    /// The kind decides the exit status.
    public let kind: Kind
    /// One line: what failed, where, and what to do.
    public let message: String

    public var errorDescription: String? { message }
    public var description: String { message }

    /// An error in what was asked, told in the user's language.
    public static func misuse(_ message: Sentence) -> CommandError { misuse(text: sentence(message)) }
    /// An error in doing what was asked, told in the user's language.
    public static func failure(_ message: Sentence) -> CommandError { failure(text: sentence(message)) }
    /// An error in what was asked, told in words made elsewhere.
    public static func misuse(text: String) -> CommandError { CommandError(kind: .misuse, message: text) }
    /// An error in doing what was asked, told in words made elsewhere.
    public static func failure(text: String) -> CommandError { CommandError(kind: .failure, message: text) }

    /// The text of any error as one line, without passwords: the framework's errors with the errors they carry.
    public static func line(for error: any Error) -> String {
        let text: String
        if let error = error as? CommandError {
            text = error.message
        } else {
            text = frameworkLine(for: error as NSError)
        }
        return VisibleText.oneLine(HiddenPasswords.hidden(text))
    }

    private static func frameworkLine(for error: NSError) -> String {
        if let several = error.userInfo["NSDetailedErrors"] as? [any Error], !several.isEmpty {
            // Sentences become parts of one.
            let shown = several.prefix(3).map { error -> String in
                let line = frameworkLine(for: error as NSError)
                return line.hasSuffix(".") ? String(line.dropLast()) : line
            }
            let rest = several.count - shown.count
            return shown.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more errors" : "")
        }
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
        if !conflicts.isEmpty {
            return line(for: conflicts)
        }
        let own = error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
        guard let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String, !own.contains(reason) else {
            return own
        }
        return own + ": " + reason
    }

    private static func line(for conflicts: [NSMergeConflict]) -> String {
        let names = conflicts.prefix(3).map { RecordLabel.short($0.sourceObject) }.joined(separator: ", ")
        let rest = conflicts.count - 3
        let records = rest > 0 ? names + " " + sentence("and \(rest) more") : names
        return sentence("another program changed \(records) at the same time, and this was not saved: try again")
    }
}
