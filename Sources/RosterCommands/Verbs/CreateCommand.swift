import CoreData
import Foundation

/// `create`: an empty store for a model, which keeps a history.
public struct CreateCommand {
    /// The path or URL of the new store.
    public var store: String
    /// The path of a model.
    public var model: String

    /// The command with what it is asked for; see the properties.
    public init(store: String, model: String) {
        self.store = store
        self.model = model
    }

    /// - Throws: ``CommandError`` when something is there already, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let place = try StorePlace(store)
        let model = try StoreModel.model(atPath: model)
        try NewStoreFiles.removing(at: place.url) {
            let session = try StoreSession(creating: place.url, model: model)
            try session.close()
        }
        try SavedReport.telling(true, of: .store) {
            try surroundings.output.write("created \(VisibleText.shown(place.isOnServer ? place.name : store))\n")
            try surroundings.output.flush()
        }
    }
}
