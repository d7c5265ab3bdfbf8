import Foundation

import Glibc

/// What the file system says of a file. One system call.
struct FileFacts: Equatable {
    let device: UInt64
    let node: UInt64
    let size: Int64
    /// When its content was changed last, in nanoseconds.
    let modified: Int64
    /// When its content, its name or its permissions were changed last, in nanoseconds. Programs cannot set it.
    let changed: Int64
    /// Permissions, owner, group and number of names: setting them changes the file's second time.
    let access: String

    /// `nil` where nothing is at the path.
    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    /// - Parameter descriptor: of an open file.
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
        access = "\(facts.st_mode).\(facts.st_uid).\(facts.st_gid).\(facts.st_nlink)"
    }

    /// A file may come from a system whose clock is far off.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        let (seconds, isTooMuch) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooMuch else { return time.tv_sec < 0 ? .min : .max }
        let (sum, overflow) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
        return overflow ? .max : sum
    }

    func isSameFile(as other: FileFacts) -> Bool { device == other.device && node == other.node }

    /// Whether the content is as it was, as far as length and time tell.
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
