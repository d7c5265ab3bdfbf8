import CoreData
import Foundation

/// `model`: the entities of a store's model, or of a model's file.
public struct ModelCommand {
    /// A store, or a model.
    public var path: String
    public var format: OutputFormat

    public init(path: String, format: OutputFormat = .table) {
        self.path = path
        self.format = format
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let model = try model()
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            try write(entity, in: surroundings)
        }
        try surroundings.output.flush()
    }

    private func model() throws -> NSManagedObjectModel {
        let url = try StoreLocation.fileURL(path)
        switch url.pathExtension {
        case "xcdatamodeld", "xcdatamodel", "momd", "mom": return try StoreModel.model(atPath: url.path)
        default:
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw CommandError.failure("nothing at \(url.path)")
            }
            return try StoreModel.model(inStoreAt: url)
        }
    }

    private func write(_ entity: NSEntityDescription, in surroundings: CommandSurroundings) throws {
        let description = EntityOutline(entity)
        switch format {
        case .json: try surroundings.output.write(description.json.text + "\n")
        case .table: try surroundings.output.write(description.text(surroundings.textStyle))
        case .csv, .tsv: throw CommandError.misuse("a model is printed as table or json")
        }
    }
}
