import CSQLite3
import Foundation

/// An error of SQLite.
package struct SQLiteError: Error, Hashable, Sendable {
    /// The kinds of error that a caller can react to.
    package enum Kind: Hashable, Sendable {
        /// Another connection held a lock for too long.
        case busy
        case full
        case readOnly
        case notADatabase
        case corrupt
        case cannotOpen
        case uniqueConstraint
        case constraint
        case interrupted
        case inputOutput
        case tooBig
        case outOfMemory
        /// The file's schema does not match the statement, or the statement is wrong.
        case statement
        case other
    }

    /// The primary result code, such as `SQLITE_BUSY`.
    package var code: Int32 { extendedCode & 0xff }
    /// The extended result code, such as `SQLITE_CONSTRAINT_UNIQUE`; the primary one if there is none.
    package let extendedCode: Int32
    /// SQLite's own message.
    package let message: String
    /// The statement that failed, if there was one.
    package let sql: String?

    package init(extendedCode: Int32, message: String, sql: String? = nil) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    package var kind: Kind {
        switch code {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_NOTADB, SQLITE_FORMAT: .notADatabase
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_CONSTRAINT: isUniqueViolation ? .uniqueConstraint : .constraint
        case SQLITE_INTERRUPT, SQLITE_ABORT: .interrupted
        case SQLITE_IOERR: hasNoRoomForIndex ? .full : .inputOutput
        case SQLITE_TOOBIG: .tooBig
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_MISUSE: .statement
        default: .other
        }
    }

    /// True if the index of the write-ahead log could not be enlarged, usually because the disk is full.
    private var hasNoRoomForIndex: Bool { extendedCode == SQLITE_IOERR | (19 << 8) }

    private var isUniqueViolation: Bool {
        let unique = SQLITE_CONSTRAINT | (8 << 8)
        let primaryKey = SQLITE_CONSTRAINT | (6 << 8)
        return extendedCode == unique || extendedCode == primaryKey
    }

    /// One line for users: the failure, without the statement.
    package var summary: String {
        switch kind {
        case .busy: "the database is locked by another program"
        case .full: "the disk is full"
        case .readOnly: "the database is not writable"
        case .notADatabase: "the file is not an SQLite database"
        case .corrupt: "the database is damaged"
        case .cannotOpen: "cannot open the database file"
        case .inputOutput: "cannot read or write the database file (\(message))"
        default: message
        }
    }
}

extension SQLiteError: CustomStringConvertible, LocalizedError, CustomNSError {
    package static var errorDomain: String { "NSSQLiteErrorDomain" }
    package var errorCode: Int { Int(extendedCode) }

    package var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description, "NSSQLiteErrorDomain": Int(extendedCode)]
        if let sql { info["SQL"] = sql }
        return info
    }

    package var errorDescription: String? { description }

    package var description: String {
        var text = summary == message ? message : "\(summary): \(message)"
        text += " (SQLite code \(extendedCode))"
        if let sql { text += " in: \(sql.count > 300 ? sql.prefix(300) + "…" : sql[...])" }
        return text
    }
}
