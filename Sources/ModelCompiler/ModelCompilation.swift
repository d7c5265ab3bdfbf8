import Foundation
import ModelFiles

/// Compiles source models to what programs load.
package enum ModelCompilation {
    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - source: A `.xcdatamodeld` with its versions, or one `.xcdatamodel`.
    ///   - target: A `.momd` folder for all versions, or a `.mom` file for the current one.
    ///   - module: The module of the classes whose names begin with a dot; `nil` leaves those names as they are.
    /// - Returns: What was passed over.
    /// - Throws: `ModelFileError`.
    package static func compile(_ source: URL, to target: URL, module: String? = nil) throws -> [Diagnostic] {
        let bundle = try SourceModelBundle.read(source)
        let versions = try bundle.versions.map { version in
            let model = try version.model.compiled(file: version.file, lines: version.lines)
            return CompiledModelBundle.Version(name: version.name, model: inModule(module, model))
        }
        if target.pathExtension == "mom" {
            guard let current = versions.first(where: { $0.name == bundle.current }) else { return [] }
            try CompiledModelBundle.write(current.model, to: target)
        } else {
            try CompiledModelBundle.write(versions, current: bundle.current, to: target)
        }
        return bundle.versions.flatMap { version in
            version.notes.map { Diagnostic(.warning, file: version.file, line: $0.line, $0.text) }
        }
    }

    private static func inModule(_ module: String?, _ model: ModelDocument) -> ModelDocument {
        guard let module else { return model }
        var model = model
        for index in model.entities.indices {
            guard let name = model.entities[index].className, name.hasPrefix("."), name.count > 1 else { continue }
            model.entities[index].className = module + name
        }
        return model
    }
}
