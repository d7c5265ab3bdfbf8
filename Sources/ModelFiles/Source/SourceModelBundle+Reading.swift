import Foundation

extension SourceModelBundle {
    /// A source model with all its versions.
    package struct Contents: Sendable {
        /// The versions by name.
        package var versions: [(name: String, model: ModelDocument)]
        /// The name of the version that programs load.
        package var current: String
        /// What was passed over, a line each, with its place.
        package var notes: [String]
    }

    /// Reads all versions of a `.xcdatamodeld`, or the one of an `.xcdatamodel` or a `contents` file.
    ///
    /// - Throws: ``ModelFileError`` where one version cannot be read, or nothing says which is the current one.
    package static func read(_ url: URL) throws -> Contents {
        let current: URL
        let all: [URL]
        switch url.pathExtension {
        case "xcdatamodeld":
            current = try currentVersion(of: url)
            all = try versions(of: url)
        case "xcdatamodel": (current, all) = (url, [url])
        default:
            // A bare `contents` file has the name of its folder.
            let folder = url.deletingLastPathComponent()
            let named = url.lastPathComponent == "contents" && folder.pathExtension == "xcdatamodel" ? folder : url
            (current, all) = (named, [named])
        }
        var result = Contents(versions: [], current: name(of: current), notes: [])
        for version in all {
            let file = version.pathExtension == "xcdatamodel" ? try contents(of: version) : version
            let (model, notes) = try SourceModelReader.read(ModelFile.contents(of: file), file: file.path)
            result.versions.append((name(of: version), model))
            result.notes += notes.map { "\(file.path):\($0.line.map { "\($0):" } ?? "") \($0.text)" }
        }
        return result
    }

    private static func name(of version: URL) -> String { version.deletingPathExtension().lastPathComponent }
}
