import CoreData
import Foundation
import Translation

/// Error of a command, as one line: what is wrong, where, and what to do.
public struct CommandError: LocalizedError, CustomStringConvertible {
    /// Cause of an error. It decides the program's exit status.
    public enum Kind: Sendable {
        /// Unknown verb, flag, entity or key, or an invalid value.
        case misuse
        /// A valid request that failed.
        case failure
    }

    /// The cause, which decides the exit status.
    public let kind: Kind
    /// One line: what failed, where, and what to do.
    public let message: String

    public var errorDescription: String? { message }
    public var description: String { message }

    /// An error in the request, with a message in the user's language.
    public static func misuse(_ message: Sentence) -> CommandError { misuse(text: sentence(message)) }
    /// An error in carrying out the request, with a message in the user's language.
    public static func failure(_ message: Sentence) -> CommandError { failure(text: sentence(message)) }
    /// An error in the request, with a given text.
    public static func misuse(text: String) -> CommandError { CommandError(kind: .misuse, message: text) }
    /// An error in carrying out the request, with a given text.
    public static func failure(text: String) -> CommandError { CommandError(kind: .failure, message: text) }

    /// The text of any error as one line without passwords. Errors of the framework include their detailed errors.
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
        if error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.userCancelled.rawValue {
            return tr("interrupted")
        }
        if let several = error.userInfo["NSDetailedErrors"] as? [any Error], !several.isEmpty {
            // Joins the sentences into one.
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
        return sentence("not saved: another program changed \(records) at the same time. Try again")
    }
}
