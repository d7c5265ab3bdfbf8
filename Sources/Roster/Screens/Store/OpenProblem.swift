import CoreData
import Foundation
import RosterCommands
import Translation

/// A store that can be opened neither for writing, for the given reason, nor for reading.
nonisolated struct UnreadableStore: Error {
    let reason: any Error
}

/// The reason why a store could not be opened for writing, and possible remedies.
nonisolated struct OpenProblem {
    nonisolated enum Kind {
        /// The store may be readable.
        case readable
        /// The store requires another model.
        case otherModel
        case hopeless
    }

    let kind: Kind
    /// One line with the problem and the store's path.
    let text: String
    /// The text for a dialog, which already states that the store cannot be opened and where it is.
    let shortText: String

    init(_ error: any Error, store: URL) {
        let unreadable = error as? UnreadableStore
        let text = CommandError.line(for: unreadable?.reason ?? error)
        self.init(kind: unreadable == nil ? Self.kind(of: error as NSError) : .hopeless, text: text, store: store)
    }

    /// True if opening for reading may succeed; false for locked stores and servers.
    static func mayBeReadable(_ error: any Error, store: URL) -> Bool {
        store.isFileURL && !(error is CommandError) && !StoreLock.isReason(for: error)
            && kind(of: error as NSError) == .readable
    }

    private init(kind: Kind, text: String, store: URL) {
        self.kind = kind
        self.text = text
        var short = text
        for prefix in ["Cannot open the store ", "cannot open the store "] where short.hasPrefix(prefix) {
            short = String(short.dropFirst(prefix.count))
        }
        let place = StorePlace(url: store)
        shortText = short.replacingOccurrences(of: place.name, with: place.shortName)
    }

    /// Checks a store before it is opened; `nil` if it is on a server, or a non-empty file that is writable with its
    /// folder.
    init?(unwritable url: URL) {
        guard url.isFileURL else { return nil }
        let manager = FileManager.default
        let text: String
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
            self.init(kind: .hopeless, text: sentence("\(url.path) is a folder, not a store"), store: url)
            return
        }
        // Opening an empty file read-only would fail, too.
        if let size = (try? manager.attributesOfItem(atPath: url.path))?[.size] as? Int, size == 0 {
            self.init(
                kind: .hopeless, text: sentence("\(url.path) is empty; “roster create” makes a store"), store: url)
            return
        }
        if !manager.isWritableFile(atPath: url.path) {
            text = sentence("\(url.path) is not writable; open it with --read-only")
        } else if !manager.isWritableFile(atPath: url.deletingLastPathComponent().path) {
            text = sentence("the folder of \(url.path) is not writable; open the store with --read-only")
        } else {
            return nil
        }
        self.init(kind: .readable, text: text, store: url)
    }

    private static func kind(of error: NSError) -> Kind {
        // SQLITE_NOTADB (26): the file is not a database, so opening it read-only would fail, too.
        if error.userInfo[NSSQLiteErrorDomain] as? Int == 26 { return .hopeless }
        switch error.code {
        case 134_100, 134_110, 134_130, 134_140: return .otherModel
        default: return error.domain == NSCocoaErrorDomain && error.code == 260 ? .hopeless : .readable
        }
    }
}
