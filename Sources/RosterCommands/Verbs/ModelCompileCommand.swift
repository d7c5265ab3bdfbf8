import CoreData
import Foundation

/// `model compile`: compiles a model to the form that programs load.
public struct ModelCompileCommand {
    /// Path of a source model, or of anything else that contains a model.
    public var path: String
    /// A `.momd`, or for one version a `.mom`; a `.cdm` for a mapping model.
    public var output: String

    /// Creates the command; see the properties.
    public init(path: String, output: String) {
        self.path = path
        self.output = output
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let target = try OutputPlace(output, readingFrom: path).url
        if ["xcmappingmodel", "cdm"].contains(URL(fileURLWithPath: path).pathExtension) {
            return try compileMapping(to: target)
        }
        guard ["momd", "mom"].contains(target.pathExtension) else {
            throw CommandError.misuse("“\(output)” is not a compiled model: the name must end in .momd or .mom")
        }
        let source = try StoreLocation.fileURL(path)
        guard FileManager.default.fileExists(atPath: source.path) else {
            throw CommandError.failure("no file at \(source.path)")
        }
        switch source.pathExtension {
        case "xcdatamodeld", "xcdatamodel":
            for note in try NSManagedObjectModel.compileModel(at: source, to: target) {
                surroundings.note(VisibleText.shown(note))
            }
        default: try StoreModel.any(at: path, in: surroundings).write(to: target)
        }
    }

    private func compileMapping(to target: URL) throws {
        guard target.pathExtension == "cdm" else {
            throw CommandError.misuse("“\(output)” is not a compiled mapping model: the name must end in .cdm")
        }
        try NSMappingModel.read(from: StoreLocation.fileURL(path)).write(to: target)
    }
}
