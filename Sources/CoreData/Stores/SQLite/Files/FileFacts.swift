import Foundation

import Glibc

/// The result of `stat` for a file. One system call.
struct FileFacts: Equatable {
    let device: UInt64
    let node: UInt64
    let size: Int64
    /// The last modification of its content, in nanoseconds.
    let modified: Int64
    /// The last change of its content, names or permissions, in nanoseconds. Programs cannot set it.
    let changed: Int64
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t
    private let links: nlink_t

    /// `nil` if there is no file at the path.
    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// Facts of an open file; `nil` if `fstat` fails.
    init?(descriptor: Int32) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return nil }
        self.init(facts)
    }

    private init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        node = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        modified = Self.nanoseconds(facts.st_mtim)
        changed = Self.nanoseconds(facts.st_ctim)
        (mode, owner, group, links) = (facts.st_mode, facts.st_uid, facts.st_gid, facts.st_nlink)
    }

    /// Permissions, owner, group and link count. Setting them updates ``changed``.
    var access: String { "\(mode).\(owner).\(group).\(links)" }

    /// Clamps the time: a file may come from a system with a wrong clock.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (seconds, isTooMuch) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooMuch else { return time.tv_sec < 0 ? .min : .max }
        let (sum, overflow) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        return overflow ? .max : sum
    }

    func isSameFile(as other: FileFacts) -> Bool { device == other.device && node == other.node }

    /// True if size and modification time are equal, so that the content seems unchanged.
    func hasSameContent(as other: FileFacts) -> Bool { size == other.size && modified == other.modified }

    /// The current path of a file that this process has open, even if it was moved; `nil` if it was deleted.
    static func place(ofOpen file: FileFacts) -> String? {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for descriptor in names.compactMap({ Int32($0) }) {
            guard FileFacts(descriptor: descriptor)?.isSameFile(as: file) == true,
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)"),
                FileFacts(path)?.isSameFile(as: file) == true
            else { continue }
            return path
        }
        return nil
    }
}
