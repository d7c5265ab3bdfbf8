import CoreData
import Foundation

/// `count`: prints the number of records.
public struct CountCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// Predicate format text; `nil` counts all records.
    public var predicate: String?

    /// Creates the command; see the properties.
    public init(store: StoreLocation, entity: String, predicate: String? = nil) {
        self.store = store
        self.entity = entity
        self.predicate = predicate
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        let count = try session.perform {
            let request = try RecordQuery(predicate: predicate).request(for: try session.entity(named: entity))
            return try RecordQuery.asking { try session.context.count(for: request) }
        }
        try surroundings.output.write("\(count)\n")
        try surroundings.output.flush()
    }
}
