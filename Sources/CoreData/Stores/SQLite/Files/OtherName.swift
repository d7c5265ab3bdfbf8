import Foundation

import Glibc

// SQLite finds a log by the name of its database. A file that two programs open by two names, by hard links or through a bind mount,
// gets two logs, and each is copied over what the other wrote. The locks are the file's, whatever its name is: a program that
// has a lock on the file, but none on the index beside the name that is to be opened, has opened it by another name.

/// Whether a program has a store's file open by another name.
enum OtherName {
    /// Where it cannot be told (no `/proc/locks`, a program in another container), nothing is refused.
    ///
    /// - Throws: 134080 if it has.
    static func check(_ path: String) throws {
        // A program that opens or closes the store has one lock without the other for a moment.
        for _ in 0..<20 {
            guard isOpenByAnotherName(path) else { return }
            usleep(10_000)
        }
        throw CoreDataError.make(
            134080,
            "Cannot open the store \(path) for writing: a program has the same file open by another name (a hard link or a bind mount), "
                + "and would not see what is written. Open it by the same name.", userInfo: [NSFilePathErrorKey: path])
    }

    private static func isOpenByAnotherName(_ path: String) -> Bool {
        guard let main = FileFacts(path), let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else {
            return false
        }
        let index = FileFacts(path + "-shm")
        var (users, followers): (Set<Substring>, Set<Substring>) = ([], [])
        for line in locks.split(separator: "\n") {
            // 1: POSIX  ADVISORY  READ 4711 08:01:123456 1073741826 1073742335
            let parts = line.split(separator: " ")
            guard parts.count == 8, parts[1] == "POSIX", parts[3] == "READ" else { continue }
            if parts[5] == text(main), parts[6] == sharedByte, StoreHeader.usesLog(path) { users.insert(parts[4]) }
            if let index, parts[5] == text(index), parts[6] == followersByte { followers.insert(parts[4]) }
        }
        return !users.isSubset(of: followers)
    }

    /// The first of the bytes that a reader of a database locks, in all modes of the journal.
    private static let sharedByte = "1073741826"
    /// The byte of a log's index that each process locks that follows the log.
    private static let followersByte = "128"

    /// A file as `/proc/locks` names it.
    private static func text(_ file: FileFacts) -> String {
        let device = file.device
        let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        let minor = device & 0xFF | (device >> 12) & ~0xFF
        return String(format: "%02x:%02x:%llu", major, minor, file.node)
    }
}
