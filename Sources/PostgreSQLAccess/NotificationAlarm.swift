#if PostgreSQL
    import Foundation
    import Synchronization

    /// Calls a closure when the server has sent something while no statement is running: a notification, or the end of
    /// the connection.
    ///
    /// Fires once, then not again until it is reset. Silent while a statement runs, when results arrive.
    package final class NotificationAlarm: Sendable {
        private struct State {
            /// True if the source waits for bytes.
            var isWaiting = true
            /// True while a statement runs.
            var isSilent = false
        }

        private let source: UncheckedSource
        private let state = Mutex(State())
        private let descriptor: Int32
        private let queue: DispatchQueue
        private let wake: @Sendable () -> Void

        // SAFETY: a source may be used from any thread.
        private struct UncheckedSource: @unchecked Sendable {
            let source: any DispatchSourceRead
        }

        /// - Parameter queue: the queue on which `wake` is called.
        package init(
            _ connection: PostgreSQLConnection, on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void
        ) {
            self.queue = queue
            self.wake = wake
            // A duplicate, because libpq may close its own descriptor at any time, and the system would reuse the
            // number.
            let descriptor = dup(connection.descriptor)
            self.descriptor = descriptor
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            self.source = UncheckedSource(source: source)
            source.setCancelHandler { close(descriptor) }
            source.setEventHandler { [weak self] in self?.bytesCame() }
            source.resume()
        }

        deinit {
            // A suspended source must not be released.
            if !state.withLock({ $0.isWaiting }) { source.source.resume() }
            source.source.cancel()
        }

        private func bytesCame() {
            let rings = state.withLock { state in
                // The queue may be late: a statement may have read the bytes, which were its results.
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard state.isWaiting, poll(&entry, 1, 0) != 0 else { return false }
                source.source.suspend()
                state.isWaiting = false
                return !state.isSilent
            }
            if rings { wake() }
        }

        /// Called when a statement begins.
        func silence() { state.withLock { $0.isSilent = true } }

        /// Called when the statement has ended, or the notifications were taken.
        ///
        /// - Parameter rings: true if there are already notifications to be taken.
        func resume(rings: Bool) {
            state.withLock { state in
                state.isSilent = false
                guard !rings, !state.isWaiting else { return }
                state.isWaiting = true
                source.source.resume()
            }
            if rings { queue.async(execute: wake) }
        }
    }
#endif
