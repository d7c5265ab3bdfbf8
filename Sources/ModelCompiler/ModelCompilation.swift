import Foundation
import ModelFiles

/// Compiles source models for programs.
package enum ModelCompilation {
    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - source: A `.xcdatamodeld` with its versions, one `.xcdatamodel`, or an `.xcmappingmodel`.
    ///   - target: A `.momd` folder for all versions, or a `.mom` file for the current one; a `.cdm` for a mapping
    ///     model.
    ///   - module: The module of the classes whose names begin with a dot; `nil` leaves those names unchanged.
    /// - Returns: Notes on skipped parts.
    /// - Throws: `ModelFileError`.
    package static func compile(_ source: URL, to target: URL, module: String? = nil) throws -> [Diagnostic] {
        if source.pathExtension == "xcmappingmodel" {
            var mappings = try SourceMappingReader.read(source)
            for index in mappings.indices {
                mappings[index].policyClassName = mappings[index].policyClassName.map { inModule(module, $0) }
            }
            try CompiledMappingWriter.write(mappings, to: target)
            return []
        }
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
        var model = model
        for index in model.entities.indices {
            model.entities[index].className = model.entities[index].className.map { inModule(module, $0) }
        }
        return model
    }

    /// The name of a class; a leading dot is replaced by the module.
    private static func inModule(_ module: String?, _ name: String) -> String {
        guard let module, name.hasPrefix("."), name.count > 1 else { return name }
        return module + name
    }
}
