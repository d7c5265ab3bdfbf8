import Foundation

/// The places of a program's models: its folder, and the resource bundles that the package manager puts there, one
/// per module, named `Package_Module.resources`.
enum ModelResources {
    /// The program's folder and its resource bundles, by name.
    static var folders: [URL] { [programFolder] + bundles }

    /// The folders that replace the main bundle: the program's folder and the bundle of its own module. If these have
    /// no model, all bundles, because a program's model may be in a library.
    static var mainFolders: [URL] {
        let own = bundles.filter { modules(of: $0).contains(programModule) }
        let folders = [Bundle.main.resourceURL, programFolder].compactMap { $0 } + own
        return folders.contains { !models(in: $0).isEmpty } ? folders : folders + bundles
    }

    /// The models in a folder, compiled ones first, each name once: a compiled model equals its source.
    static func models(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var seen: Set<String> = []
        return ["momd", "mom", "xcdatamodeld", "xcdatamodel"].flatMap { suffix in
            names.sorted().map { folder.appendingPathComponent($0) }.filter {
                $0.pathExtension == suffix && seen.insert($0.deletingPathExtension().lastPathComponent).inserted
            }
        }
    }

    /// The modules to which the file at `url` may belong, from the name of its bundle. In a name such as
    /// `my_league_App` the start of the module's name is ambiguous, so all candidates are returned.
    static func modules(around url: URL) -> [String] {
        var folder = url.standardizedFileURL
        while folder.pathComponents.count > 1 {
            if isBundle(folder) { return modules(of: folder) }
            folder.deleteLastPathComponent()
        }
        return []
    }

    /// The program's module, derived from its file name.
    static let programModule = moduleName(
        CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "")

    /// The modules of a package whose tests the program runs; empty in other programs. The package manager puts the
    /// modules in the same folder as the test bundle.
    static let testModules: [String] = {
        guard URL(fileURLWithPath: CommandLine.arguments.first ?? "").pathExtension == "xctest" else { return [] }
        let modules = programFolder.appendingPathComponent("Modules").path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: modules)) ?? []
        return files.sorted().map { URL(fileURLWithPath: $0) }.filter { $0.pathExtension == "swiftmodule" }
            .map { $0.deletingPathExtension().lastPathComponent }
    }()

    private static func modules(of bundle: URL) -> [String] {
        let parts = bundle.deletingPathExtension().lastPathComponent.split(
            separator: "_", omittingEmptySubsequences: false)
        return parts.indices.dropFirst().map { moduleName(parts[$0...].joined(separator: "_")) }.filter { !$0.isEmpty }
    }

    private static func moduleName(_ target: String) -> String {
        String(target.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    private static func isBundle(_ url: URL) -> Bool { ["resources", "bundle"].contains(url.pathExtension) }

    private static var programFolder: URL {
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? ".").resolvingSymlinksInPath()
        return Bundle.main.executableURL?.deletingLastPathComponent() ?? program.deletingLastPathComponent()
    }

    private static var bundles: [URL] {
        let entries = try? FileManager.default.contentsOfDirectory(at: programFolder, includingPropertiesForKeys: nil)
        return (entries ?? []).filter(isBundle).sorted { $0.path < $1.path }
    }
}
