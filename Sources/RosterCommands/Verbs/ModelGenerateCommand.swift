import Foundation
import ModelCompiler

/// `model generate`: generates Swift classes for the entities of a model.
public struct ModelGenerateCommand {
    /// Path of a model's file.
    public var path: String
    /// A folder for Xcode's files, or one file whose name ends in `.swift`.
    public var output: String
    /// True to generate classes even for entities with hand-written classes.
    public var everything: Bool

    /// Creates the command; see the properties.
    public init(path: String, output: String, everything: Bool = false) {
        self.path = path
        self.output = output
        self.everything = everything
    }

    /// - Throws: ``CommandError`` that names the model's file and line, or an error of the file system.
    public func run(in surroundings: CommandSurroundings) throws {
        let generator = try generator()
        guard !generator.classNames.isEmpty else {
            if everything {
                throw CommandError.failure("no entity of \(path) names a class (representedClassName)")
            }
            throw CommandError.failure(
                "no entity of \(path) has a codeGenerationType that generates classes; --all generates them anyway")
        }
        let url = try OutputPlace(output, readingFrom: path).url
        if url.pathExtension == "swift" {
            try generator.writeSingleFile(to: url)
        } else {
            for file in generator.files { _ = try OutputPlace(url.appendingPathComponent(file.name).path) }
            _ = try generator.write(into: url)
        }
        let names = VisibleText.shown(generator.classNames.joined(separator: ", "))
        try surroundings.output.write("generated \(names) in \(VisibleText.shown(output))\n")
        try surroundings.output.flush()
    }

    private func generator() throws -> ClassGenerator {
        do {
            return try ClassGenerator(ModelSource.read(URL(fileURLWithPath: path)), everything: everything)
        } catch {
            throw CommandError.failure(
                text: CompilerTool.diagnostics(for: error).map(\.description).joined(separator: "; "))
        }
    }
}
