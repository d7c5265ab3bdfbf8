import CoreData
import Foundation

/// `count`: how many records there are.
public struct CountCommand {
    public var store: StoreLocation
    public var entity: String
    public var predicate: String?

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
