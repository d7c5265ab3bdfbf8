import Foundation

/// Observes notifications until it is released.
final class Observer {
    private let token: any NSObjectProtocol

    /// Observes notifications of a main-queue context.
    // SAFETY: such a context posts on the main thread alone; `assumeIsolated` checks it.
    init(_ name: Notification.Name, of object: AnyObject, _ tell: @escaping @MainActor ([AnyHashable: Any]) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { notification in
            nonisolated(unsafe) let info = notification.userInfo ?? [:]
            MainActor.assumeIsolated { tell(info) }
        }
    }

    /// Observes notifications on any thread.
    init(anyThread name: Notification.Name, of object: AnyObject, _ tell: @escaping @Sendable () -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in tell() }
    }

    isolated deinit { NotificationCenter.default.removeObserver(token) }
}
