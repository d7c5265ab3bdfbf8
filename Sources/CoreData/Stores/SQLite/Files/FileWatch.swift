import Foundation

/// Reports once that files were written, moved or removed, or that their names or permissions changed (inotify).
/// Changes by another machine on a network file system are not reported.
// SAFETY: the queue guards `isTold`; the rest is immutable.
final class FileWatch: @unchecked Sendable {
    private let source: any DispatchSourceRead
    private var isTold = false

    /// - Parameters:
    ///   - queue: the queue on which `tell` is called.
    /// - Returns: `nil` if a file does not exist, or the system's limit of watches is reached.
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
            // One event is enough, so the watch ends without reading the descriptor.
            source.cancel()
            tell()
        }
        source.resume()
    }

    deinit { source.cancel() }
}
