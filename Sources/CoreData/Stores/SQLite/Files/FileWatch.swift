import Foundation

/// Tells once that files were written, moved or removed, or that their names or rights changed (inotify). What another
/// machine does to a file of a network file system is not told.
// SAFETY: the queue guards `isTold`; the rest is immutable.
final class FileWatch: @unchecked Sendable {
    private let source: any DispatchSourceRead
    private var isTold = false

    /// - Parameters:
    ///   - queue: where `tell` is called.
    /// - Returns: `nil` where one of the files is not there, or the system watches no more files.
    init?(_ paths: [String], on queue: DispatchQueue, _ tell: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let changes = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
        guard paths.allSatisfy({ inotify_add_watch(descriptor, $0, changes) >= 0 }) else {
            close(descriptor)
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in
            guard let self, !isTold else { return }
            isTold = true
            // Nothing more is read: the watch has done its work.
            source.cancel()
            tell()
        }
        source.resume()
    }

    deinit { source.cancel() }
}
