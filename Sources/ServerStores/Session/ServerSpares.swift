import CoreData
import Dispatch
import Foundation
import Synchronization

/// Connections that were used to read a store's model or metadata, kept for a moment. Usually the store is opened next,
/// and opening a connection takes several round trips.
enum ServerSpares {
    private static let spares = Mutex<[URL: UncheckedSendable<any ServerConnection>]>([:])
    /// Milliseconds after which an unused connection is closed.
    private static let patience = 1000

    // SAFETY: only the table refers to the connection until it is taken.
    static func keep(_ connection: any ServerConnection, for place: ServerPlace) {
        guard !connection.isInTransaction else { return }
        let (spare, url) = (UncheckedSendable(connection), place.url)
        spares.withLock { $0[url] = spare }
        // Captures the identity only, because another owner may close the connection in the meantime.
        let identity = ObjectIdentifier(connection)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(patience)) {
            // Connections are closed outside of the lock.
            let old = spares.withLock { spares -> UncheckedSendable<any ServerConnection>? in
                spares[url].map { ObjectIdentifier($0.value) } == identity ? spares.removeValue(forKey: url) : nil
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Returns a kept connection that the server has not closed.
    static func take(for place: ServerPlace) -> (any ServerConnection)? {
        guard let spare = spares.withLock({ $0.removeValue(forKey: place.url) }) else { return nil }
        return (try? spare.value.takeMessages()) == nil ? nil : spare.value
    }
}
