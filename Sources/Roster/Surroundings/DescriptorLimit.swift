import Foundation
import RosterCommands
import Glibc

/// The limit of open files.
///
/// Foundation and libdispatch abort silently if they get no descriptor. The program therefore checks first that there
/// are enough for them, the store's files and an export.
nonisolated enum DescriptorLimit {
    /// `roster watch` needs 18 of them on Linux.
    static let fewest = 28
    private static let wanted: rlim_t = 256

    /// Raises the limit if needed and allowed.
    ///
    /// - Throws: a failure that names the command to type if too few descriptors are free.
    static func check() throws {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        if limit.rlim_cur < wanted, limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, wanted)
            if setrlimit(files, &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < wanted else { return }
        let free = (0..<Int32(limit.rlim_cur)).count { fcntl($0, F_GETFD) == -1 }
        guard free < fewest else { return }
        throw CommandError.failure(
            "too few free file descriptors: \(free) of \(fewest) needed. Run “ulimit -n 256” and try again"
        )
    }
}
