import CoreData
import Foundation

/// `grants`: prints the least rights that a role needs on a store of a server.
public struct GrantsCommand {
    /// The store, and where its model is.
    public var store: StoreLocation
    /// The role; `nil` for psql's variable `role`.
    public var role: String?
    /// True for a role that saves nothing.
    public var readOnly: Bool

    /// Creates the command; see the properties.
    public init(store: StoreLocation, role: String? = nil, readOnly: Bool = false) {
        self.store = store
        self.role = role
        self.readOnly = readOnly
    }

    /// Prints one statement a line. Changes nothing.
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
