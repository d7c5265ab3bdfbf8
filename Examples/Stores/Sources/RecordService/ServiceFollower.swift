import CoreData
import Foundation
import Synchronization

/// Merges changes by a service's other clients into contexts, whose lists then update.
public final class ServiceFollower: Sendable {
    private let isStopped = Mutex(false)

    /// Starts to follow after the service's last change.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - contexts: Contexts of its coordinator, which are retained.
    /// - Throws: An error if the service does not answer.
    public init(_ store: ServiceStore, into contexts: [NSManagedObjectContext]) throws {
        guard let url = store.url else { throw CocoaError(.fileReadUnsupportedScheme) }
        let client = ServiceClient(url: url)
        let start = try client.ask(ServiceChanges.self, "changes", [("after", "-1")]).last
        Thread.detachNewThread { [weak self] in
            var last = start
            while let self, !self.isStopped.withLock({ $0 }) {
                guard let news = try? client.ask(ServiceChanges.self, "changes", [("after", "\(last)")]) else {
                    usleep(100_000)
                    continue
                }
                last = news.last
                if !news.changes.isEmpty { Self.merge(news.changes, from: store, into: contexts) }
            }
        }
    }

    /// Stops within about a second.
    public func stop() { isStopped.withLock { $0 = true } }

    private static func merge(
        _ changes: [ServiceChange], from store: ServiceStore, into contexts: [NSManagedObjectContext]
    ) {
        store.forget(changes.map(\.reference))
        let keys: [ServiceChange.Kind: String] = [
            .inserted: NSInsertedObjectIDsKey, .updated: NSUpdatedObjectIDsKey, .deleted: NSDeletedObjectIDsKey,
        ]
        var told: [AnyHashable: Any] = [:]
        for (kind, changes) in Dictionary(grouping: changes, by: \.kind) {
            guard let key = keys[kind] else { continue }
            told[key] = Set(changes.compactMap { try? store.id(of: $0.reference, $0.entity) })
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: told, into: contexts)
    }
}
