import CoreData
import Foundation

/// `create`: creates an empty store with history for a model.
public struct CreateCommand {
    /// The path or URL of the new store.
    public var store: String
    /// The path of a model.
    public var model: String

    /// Creates the command; see the properties.
    public init(store: String, model: String) {
        self.store = store
        self.model = model
    }

    /// - Throws: ``CommandError`` if the store exists already, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let place = try StorePlace(store)
        let model = try StoreModel.model(atPath: model)
        try NewStoreFiles.checkThatItIsFree(place)
        try NewStoreFiles.make(at: place) { made in
            let session = try StoreSession(creating: made, model: model)
            try session.close()
        }
        try SavedReport.telling(true, of: .store) {
            let name = VisibleText.shown(place.isOnServer ? place.name : store)
            try surroundings.output.write("created \(name)\(VisibleText.shown(Self.undivided(place.url, model)))\n")
            try surroundings.output.flush()
        }
    }

    /// A remark on the entities whose tables are not partitioned, for a store with partitioned tables: a server keeps
    /// values unique within a partition only.
    private static func undivided(_ url: URL, _ model: NSManagedObjectModel) -> String {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        guard let parts = items.first(where: { $0.name == "partitions" })?.value, parts != "1" else { return "" }
        func hasConstraints(_ entity: NSEntityDescription) -> Bool {
            !entity.uniquenessConstraints.isEmpty || entity.subentities.contains(where: hasConstraints)
        }
        let whole = model.entities.filter { $0.superentity == nil && hasConstraints($0) }.compactMap(\.name).sorted()
        guard !whole.isEmpty else { return "" }
        return "; not partitioned because they have unique values: \(whole.joined(separator: ", "))"
    }
}
