import Foundation
import ModelFiles

/// A model that was read, with the lines of its parts.
package struct ModelSource: Sendable {
    /// The name of the model's file without its extension, as in `WorldCup`.
    package var name: String
    /// The name of the model's file.
    package var fileName: String
    /// The path of the file that was read, for messages.
    package var file: String
    package var model: ModelDocument
    /// The lines of entities (`Team`), properties (`Team.wins`) and fetch requests, if known.
    package var lines: [String: Int] = [:]
    /// Notes on skipped parts.
    package var notes: [ModelNote] = []

    package init(name: String, fileName: String, file: String, model: ModelDocument) {
        self.name = name
        self.fileName = fileName
        self.file = file
        self.model = model
    }

    /// Reads the model at `url`; if there are several versions, the current one. Compiled models are supported.
    ///
    /// - Throws: `ModelFileError`.
    package static func read(_ url: URL) throws -> ModelSource {
        let folder = url.lastPathComponent == "contents" ? url.deletingLastPathComponent() : url
        func source(_ file: String, _ model: ModelDocument) -> ModelSource {
            ModelSource(
                name: folder.deletingPathExtension().lastPathComponent, fileName: folder.lastPathComponent, file: file,
                model: model)
        }
        var file = url
        if ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) {
            file = try SourceModelBundle.contents(of: url)
        }
        if !["momd", "mom", "omo"].contains(url.pathExtension) {
            let data = try ModelFile.contents(of: file)
            if !data.starts(with: Array("bplist".utf8)) {
                let (model, notes, lines) = try SourceModelReader.readWithLines(data, file: file.path)
                var result = source(file.path, model)
                result.lines = lines
                result.notes = notes
                return result
            }
        }
        let (model, notes) = try ModelFile.read(url)
        var result = source(url.path, model)
        result.notes = notes
        return result
    }

    /// The notes on skipped parts, as warnings.
    package var warnings: [Diagnostic] {
        notes.map { Diagnostic(.warning, file: file, line: $0.line, $0.text) }
    }

    /// A message about an entity, or a property as `Entity.property`.
    func diagnostic(_ severity: Diagnostic.Severity, at path: String, _ text: String) -> Diagnostic {
        Diagnostic(severity, file: file, line: lines[path], text)
    }
}
