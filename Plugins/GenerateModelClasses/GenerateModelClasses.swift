import Foundation
import PackagePlugin

/// Generates Swift classes and compiled models from the Core Data models in a target, at build time.
///
/// `X.xcdatamodeld` becomes `X.momd` in the resource bundle, with classes for the entities whose generation is on.
/// `X.xcmappingmodel` becomes `X.cdm`. Outputs are made again only if a file of the model changes.
@main
struct GenerateModelClasses: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let compiler = try context.tool(named: "momc").url
        let files = target.sourceFiles.map(\.url)
        let folder = context.pluginWorkDirectoryURL
        return files.filter(Self.isModel).flatMap { model in
            commands(for: model, module: target.moduleName, compiler: compiler, in: folder)
        }
            + files.filter { $0.pathExtension == "xcmappingmodel" }.map { mapping in
                command(for: mapping, module: target.moduleName, compiler: compiler, in: folder)
            }
    }

    private func command(for mapping: URL, module: String, compiler: URL, in folder: URL) -> Command {
        let compiled = folder.appending(path: mapping.deletingPathExtension().lastPathComponent + ".cdm")
        return .buildCommand(
            displayName: "Compiling \(mapping.lastPathComponent)", executable: compiler,
            arguments: ["--module", module, mapping.path, compiled.path],
            inputFiles: [mapping] + Self.contents(of: mapping), outputFiles: [compiled])
    }

    private static func isModel(_ url: URL) -> Bool { ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) }

    private func commands(for model: URL, module: String, compiler: URL, in folder: URL) -> [Command] {
        let name = model.deletingPathExtension().lastPathComponent
        let classes = folder.appending(path: "\(name)+CoreDataModel.swift")
        let compiled = folder.appending(path: "\(name).\(model.pathExtension == "xcdatamodeld" ? "momd" : "mom")")
        let inputs = [model] + Self.contents(of: model)
        return [
            .buildCommand(
                displayName: "Generating classes of \(model.lastPathComponent)", executable: compiler,
                arguments: ["--generate", model.path, classes.path], inputFiles: inputs, outputFiles: [classes]),
            .buildCommand(
                displayName: "Compiling \(model.lastPathComponent)", executable: compiler,
                arguments: ["--module", module, model.path, compiled.path], inputFiles: inputs,
                outputFiles: [compiled]),
        ]
    }

    /// The files of a model, whose changes are changes of the model.
    private static func contents(of model: URL) -> [URL] {
        guard let walker = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil) else { return [] }
        return walker.compactMap { $0 as? URL }.sorted { $0.path < $1.path }
    }
}
