import Foundation
import Glibc
import SourcePort

/// `port --package`: writes a `Package.swift` for the folder of an Xcode project.
struct PackageCommand {
    /// The folder that becomes a package.
    let path: String
    /// Path or address of the package with `CoreData`.
    let roster: String

    /// Writes the manifest and prints its path. Nothing else is written.
    ///
    /// - Parameter remark: Receives messages about files left out, renamed modules and missing modules.
    /// - Returns: Number of imported modules that no target, package or toolchain has.
    /// - Throws: ``CommandError``. The manifest is then not written, unless only the output of its path failed.
    func run(in surroundings: Surroundings = Surroundings(), remark: (String) -> Void) throws -> Int {
        let folder = try SourceFolder(path)
        let manifest = folder.full("Package.swift")
        let exists = CommandError.failure("cannot write \(manifest): the file exists. Move it away and run this again")
        var status = stat()
        guard lstat(manifest, &status) != 0 else { throw exists }
        var problem: CommandError?
        var packages: [String] = []
        let paths = folder.files(problem: { problem = problem ?? $0 }) { path, names in
            if names.contains("Package.swift") { packages.append(path) }
            return packages.last == path || PackageLayout.isWholeFolder(path)
        }
        if let problem { throw problem }
        var notes: [String] = []
        let layout = try layout(of: folder, paths, surroundings) { notes.append($0) }
        guard !layout.isEmpty else {
            throw CommandError.failure("\(path) has no Swift files. Pass the folder that contains the .xcodeproj")
        }
        let text = PackageManifest(name: folderName, roster: roster, layout: layout).text
        guard try FileWriter.create(manifest, Array(text.utf8)) else { throw exists }
        try surroundings.write("wrote \(VisibleText.shown(manifest))\n")
        let nested = Set(packages).subtracting(layout.localPackages).sorted().map {
            "\($0): left out because it is a separate package. Add it as a dependency"
        }
        for line in layout.remarks + nested + notes { remark(VisibleText.oneLine(line)) }
        let shims = PackageManifest.isAddress(roster) ? layout.shims : []
        if !shims.isEmpty {
            remark(
                "the package Shims in the repository of roster has these modules: \(shims.joined(separator: ", ")). "
                    + "Add its folder in a clone as a dependency, or pass the clone with --roster")
        }
        let missing = layout.missingModules
        if !missing.isEmpty {
            remark(
                "no target or package in \(VisibleText.oneLine(manifest)) has these modules: \(missing.joined(separator: ", ")). "
                    + "Add their packages or remove their imports")
        }
        return missing.count + shims.count
    }

    /// The layout of the program's source after porting.
    private func layout(
        of folder: SourceFolder, _ paths: [String], _ surroundings: Surroundings, remark: (String) -> Void
    ) throws -> PackageLayout {
        let projects = paths.filter { $0.hasSuffix(".xcodeproj/") && $0.firstIndex(of: "/") == $0.lastIndex(of: "/") }
        let packages = projects.flatMap { project -> [XcodePackage] in
            let file = project + "project.pbxproj"
            do {
                return try XcodeProject(try folder.read(file)).packages
            } catch {
                remark("\(file): cannot read the packages of the project: \(CommandError.line(for: error))")
                return []
            }
        }
        // If there is exactly one project, the program has its name.
        let name = projects.count == 1 ? String(projects[0].dropLast(".xcodeproj/".count)) : folderName
        let swift = paths.filter { $0.hasSuffix(".swift") }
        let facts = PortFacts(of: try swift.map { try folder.read($0) })
        return try PackageLayout(name: name, paths: paths, packages: packages) { file in
            if surroundings.isStopped() { throw CommandError.failure("stopped. Nothing was written") }
            return SourcePort.port(try folder.read(file), knowing: facts).text
        }
    }

    private var folderName: String { URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent }
}
