import CoreData
import Dispatch
import Foundation
import Synchronization

/// Connections on which a store was asked for its model or metadata, kept for a moment: who asks for those opens the store next, and
/// a connection takes several round trips to make.
enum ServerSpares {
    private static let spares = Mutex<[URL: UncheckedSendable<any ServerConnection>]>([:])
    /// Milliseconds after which an unused connection is closed.
    private static let patience = 1000

    // SAFETY: the connection is in the table alone until it is taken.
    static func keep(_ connection: any ServerConnection, for place: ServerPlace) {
        guard !connection.isInTransaction else { return }
        let (spare, url) = (UncheckedSendable(connection), place.url)
        spares.withLock { $0[url] = spare }
        // Not the connection itself, which whoever took it may end meanwhile.
        let identity = ObjectIdentifier(connection)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(patience)) {
            // Ended outside of the lock.
            let old = spares.withLock { spares -> UncheckedSendable<any ServerConnection>? in
                spares[url].map { ObjectIdentifier($0.value) } == identity ? spares.removeValue(forKey: url) : nil
            }
            withExtendedLifetime(old) {}
        }
    }

    /// A connection that the server has not ended meanwhile.
    static func take(for place: ServerPlace) -> (any ServerConnection)? {
        guard let spare = spares.withLock({ $0.removeValue(forKey: place.url) }) else { return nil }
        return (try? spare.value.takeMessages()) == nil ? nil : spare.value
    }
}
