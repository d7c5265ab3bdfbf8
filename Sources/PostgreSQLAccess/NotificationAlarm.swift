#if PostgreSQL
    import Foundation
    import Synchronization

    /// Calls a closure when the server has sent something that no statement waits for: a notification, or the end of the
    /// connection.
    ///
    /// Rings once, and then not before it was set again. While a statement runs it is silent: what comes then are results.
    package final class NotificationAlarm: Sendable {
        private struct State {
            /// The source waits for bytes.
            var isWaiting = true
            /// A statement runs.
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

        /// - Parameter queue: where `wake` is called.
        package init(
            _ connection: PostgreSQLConnection, on queue: DispatchQueue, _ wake: @escaping @Sendable () -> Void
        ) {
            self.queue = queue
            self.wake = wake
            // A descriptor of its own: the library closes its own at any time, and the system would give it to others.
            let descriptor = dup(connection.descriptor)
            self.descriptor = descriptor
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            self.source = UncheckedSource(source: source)
            source.setCancelHandler { close(descriptor) }
            source.setEventHandler { [weak self] in self?.bytesCame() }
            source.resume()
        }

        deinit {
            // A source that is held up is not released.
            if !state.withLock({ $0.isWaiting }) { source.source.resume() }
            source.source.cancel()
        }

        private func bytesCame() {
            let rings = state.withLock { state in
                // The queue may be late: a statement has taken the bytes since then, which were its results.
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard state.isWaiting, poll(&entry, 1, 0) != 0 else { return false }
                source.source.suspend()
                state.isWaiting = false
                return !state.isSilent
            }
            if rings { wake() }
        }

        /// A statement begins.
        func silence() { state.withLock { $0.isSilent = true } }

        /// The statement is over, or what came was taken.
        ///
        /// - Parameter rings: whether there is something to be taken already.
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
