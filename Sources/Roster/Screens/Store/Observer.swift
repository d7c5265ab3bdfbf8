import Foundation

/// Observes a notification until it is released.
final class Observer {
    private let token: any NSObjectProtocol

    /// Observes what a context of the main queue posts.
    // SAFETY: such a context posts on the main thread alone; `assumeIsolated` checks it.
    init(_ name: Notification.Name, of object: AnyObject, _ tell: @escaping @MainActor ([AnyHashable: Any]) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { notification in
            nonisolated(unsafe) let info = notification.userInfo ?? [:]
            MainActor.assumeIsolated { tell(info) }
        }
    }

    /// Observes what is posted on any thread.
    init(anyThread name: Notification.Name, of object: AnyObject, _ tell: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in tell() }
    }

    isolated deinit { NotificationCenter.default.removeObserver(token) }
}
