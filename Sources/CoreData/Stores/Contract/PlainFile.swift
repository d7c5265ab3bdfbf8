import Foundation

import Glibc

/// The kind of file at a path, without following links. The framework writes and removes plain files only.
enum PlainFile {
    enum Kind {
        case nothing
        case plain
        case folder
        case link
        /// A device, a pipe, a socket.
        case special
    }

    static func kind(_ path: String) -> Kind {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return .nothing }
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return .plain
        case S_IFDIR: return .folder
        case S_IFLNK: return .link
        default: return .special
        }
    }

    /// The permissions of the file at the path, following links; `nil` if there is none.
    static func permissions(_ path: String) -> mode_t? {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & 0o777 : nil
    }

    /// Removes the file at the path if it is a plain file.
    static func remove(_ path: String) {
        if kind(path) == .plain { unlink(path) }
    }

    /// Returns true if a plain file exists at the path, false if nothing does.
    ///
    /// - Parameter action: what the caller is about to do to the store, for the error.
    /// - Throws: 134080 for a folder, 259 for a link, a device, a pipe or a socket.
    static func check(_ path: String, for action: String) throws -> Bool {
        let (code, what): (Int, String)
        switch kind(path) {
        case .nothing: return false
        case .plain: return true
        case .folder: (code, what) = (134080, "a folder")
        case .link: (code, what) = (259, "a link. Name its target instead")
        case .special: (code, what) = (259, "not a regular file")
        }
        throw CoreDataError.make(
            code, "Cannot \(action) the store \(path): it is \(what).", userInfo: [NSFilePathErrorKey: path])
    }
}
