import Foundation
import SQLiteAccess

/// Converts SQLite's errors to the framework's, with one line that describes the remedy.
struct SQLiteStoreErrors {
    let path: String
    /// The time for which the connection waits for a lock, for the message.
    var timeout: TimeInterval = 0

    /// The operation in progress.
    enum Activity {
        case opening
        case creating
        case reading
        case saving
        case destroying
        case migrating

        var verb: String {
            switch self {
            case .opening: "open"
            case .creating: "create"
            case .reading: "read"
            case .saving: "save to"
            case .destroying: "destroy"
            case .migrating: "migrate"
            }
        }
    }

    /// Runs `body` and converts an ``SQLiteError`` to a `CocoaError`. Other errors are rethrown.
    func translating<Result>(_ activity: Activity, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw make(error, activity)
        }
    }

    func make(_ error: SQLiteError, _ activity: Activity) -> NSError {
        let (code, reason) = describe(error, activity)
        return CoreDataError.make(
            code, "Cannot \(activity.verb) the store \(path): \(reason)", underlying: error,
            userInfo: ["NSSQLiteErrorDomain": Int(error.extendedCode), NSFilePathErrorKey: path])
    }

    /// Returns the kind of the SQLite error in an error made here; `nil` for any other error.
    static func kind(of error: NSError) -> SQLiteError.Kind? {
        guard let code = error.userInfo["NSSQLiteErrorDomain"] as? Int else { return nil }
        return SQLiteError(extendedCode: Int32(truncatingIfNeeded: code), message: "").kind
    }

    private func describe(_ error: SQLiteError, _ activity: Activity) -> (code: Int, reason: String) {
        switch error.kind {
        case .busy:
            let waited = timeout > 0 ? " (waited \(Self.seconds(timeout)))" : ""
            return (134090, "another program has locked it\(waited). Try again later.")
        case .full:
            return (640, "the disk is full. Nothing was written. Free some space and try again.")
        case .readOnly where error.extendedCode == Self.needsRollback:
            return (
                513,
                "a program crashed while writing the file. To roll back its changes, run sqlite3 "
                    + "\(SideFiles.quoted(path)) 'PRAGMA schema_version' and open the store again."
            )
        case .readOnly:
            return (
                513, "it is not writable. Open it read-only, or change the permissions of the file and its folder."
            )
        case .notADatabase:
            return (259, "the file is not an SQLite database, or it is encrypted.")
        case .corrupt:
            return (259, "the file is damaged (\(error.message)). Restore it from a copy.")
        case .cannotOpen:
            return (134080, "the file cannot be opened (\(error.message)).")
        case .uniqueConstraint:
            return (133021, "another object already has the same unique value (\(error.message)).")
        case .inputOutput:
            return (
                activity == .saving ? 134030 : 134080, "reading or writing the file failed (\(error.message))."
            )
        case .statement:
            return (134020, "its tables do not match the model (\(error.message)).")
        case .interrupted:
            return (3072, "the work was cancelled.")
        case .constraint, .tooBig, .outOfMemory, .other:
            return (134180, "SQLite reports: \(error.message) (code \(error.extendedCode)).")
        }
    }

    /// `SQLITE_READONLY_ROLLBACK`: a rollback journal has to be played back first.
    static let needsRollback: Int32 = 776

    private static func seconds(_ time: TimeInterval) -> String {
        let text = String(format: "%.1f", time)
        return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " s"
    }
}
