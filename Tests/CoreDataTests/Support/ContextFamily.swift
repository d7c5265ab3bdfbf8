import Foundation

@testable import CoreData

/// A root context, a child, and the store's contents.
struct ContextFamily {
    let stack: ClubStack
    let root: NSManagedObjectContext
    let child: NSManagedObjectContext

    init() throws {
        stack = try ClubStack()
        root = stack.context()
        child = root.child()
    }

    /// Names of the teams in the store.
    func saved() throws -> [String] { try stack.context().use { try $0.teamNames() } }
}

extension NSManagedObjectContext {
    func child(
        _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = self
        return child
    }

    func teamNames(_ predicate: String? = nil, limit: Int = 0) throws -> [String] {
        let request = NSFetchRequest<ClubTeam>(entityName: "Team")
        request.predicate = predicate.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = limit
        return try fetch(request).map(\.name)
    }
}
