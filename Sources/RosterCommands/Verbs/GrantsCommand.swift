import CoreData
import Foundation

/// `grants`: prints the minimal privileges that a role needs for a store on a server.
public struct GrantsCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The role; `nil` for psql's variable `role`.
    public var role: String?
    /// True for a role that only reads.
    public var readOnly: Bool

    /// Creates the command; see the properties.
    public init(store: StoreLocation, role: String? = nil, readOnly: Bool = false) {
        self.store = store
        self.role = role
        self.readOnly = readOnly
    }

    /// Prints one statement per line. Changes nothing.
    ///
    /// - Throws: ``CommandError``, or an error of the framework: 134060 for a store in a file.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        for store in session.coordinator.persistentStores {
            for statement in try session.coordinator.grantStatements(for: role, in: store, readOnly: readOnly) {
                try surroundings.output.write(statement + ";\n")
            }
        }
        try session.close()
        try surroundings.output.flush()
    }
}
