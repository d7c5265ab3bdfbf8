import Foundation

// Nothing in a write-ahead log names its database, so a store says it itself, in the property list of its metadata. Whoever begins
// a log anew changes that in the first transaction: the page of the metadata is then in the log with a new token beside the one
// that the main file had, and had kept since the log before. So a log belongs to a main file only if that has one of the two: the
// old one until the page is copied from the log to the main file, the new one from then on. Tokens are random: a copy of the store
// that went another way, older or newer, has neither.
//
// A copy from the very moment at which the log began has the old token too. It is told by what the file system knows: the link
// says which file the main file was and when it was last written to; if it is another now, or was written to since, then either by
// a copy of pages from the log, which can be seen, or by whoever put something in its place.

/// What a store says of the write-ahead log that it was written with last.
struct LogLink: Equatable {
    /// The key in the property list. The program's own metadata do not show it.
    static let key = "RosterLogLink"

    /// What the main file has once the page of the metadata is copied from the log.
    var token: String
    /// What it has until then.
    var base: String
    /// The main file and the log as they were when the log began; 0 where that was not noted.
    var mainFile = FileFacts()
    var logFile = FileFacts()

    /// The base of a store that never had a link.
    static func base(forUUID uuid: String) -> String { "uuid:" + uuid }

    /// The link of a new store.
    static func first() -> LogLink { LogLink(token: newToken(), base: "") }

    static func newToken() -> String { String(UInt64.random(in: 1 ... .max), radix: 36) }

    var propertyList: [String: Any] {
        [
            "token": token, "base": base, "mainInode": mainFile.inode, "mainModified": mainFile.modified,
            "logInode": logFile.inode,
        ]
    }

    init(token: String, base: String) {
        self.token = token
        self.base = base
    }

    /// `nil` for anything but what ``propertyList`` makes.
    init?(_ value: Any?) {
        guard let list = value as? [String: Any], let token = list["token"] as? String,
            let base = list["base"] as? String
        else { return nil }
        self.init(token: token, base: base)
        mainFile.inode = list["mainInode"] as? Int ?? 0
        mainFile.modified = list["mainModified"] as? Int ?? 0
        logFile.inode = list["logInode"] as? Int ?? 0
    }
}
