import Foundation

extension SourceModelBundle {
    /// A source model with all its versions.
    package struct Contents: Sendable {
        /// The versions by name.
        package var versions: [Version]
        /// The name of the version that programs load.
        package var current: String

        /// Notes on unknown parts, a line each, with file and line.
        package var notes: [String] {
            versions.flatMap { version in version.notes.map { $0.text(in: version.file) } }
        }
    }

    /// One version of a source model.
    package struct Version: Sendable {
        package var name: String
        package var model: ModelDocument
        /// The path of the file that was read.
        package var file: String
        /// The lines of named parts, as ``SourceModelReader/readWithLines(_:file:)`` returns them.
        package var lines: [String: Int]
        /// Notes on unknown parts.
        package var notes: [ModelNote]
    }

    /// Reads all versions of a `.xcdatamodeld`, or the one of an `.xcdatamodel` or a `contents` file.
    ///
    /// - Throws: ``ModelFileError`` if a version cannot be read, or the current one is not known.
    package static func read(_ url: URL) throws -> Contents {
        let current: URL
        let all: [URL]
        switch url.pathExtension {
        case "xcdatamodeld":
            current = try currentVersion(of: url)
            all = try versions(of: url)
        case "xcdatamodel": (current, all) = (url, [url])
        default:
            // A `contents` file has the name of its folder.
            let folder = url.deletingLastPathComponent()
            let named = url.lastPathComponent == "contents" && folder.pathExtension == "xcdatamodel" ? folder : url
            (current, all) = (named, [named])
        }
        var result = Contents(versions: [], current: name(of: current))
        for version in all {
            let file = version.pathExtension == "xcdatamodel" ? try contents(of: version) : version
            let (model, notes, lines) = try SourceModelReader.readWithLines(
                ModelFile.contents(of: file), file: file.path)
            result.versions.append(
                Version(name: name(of: version), model: model, file: file.path, lines: lines, notes: notes))
        }
        return result
    }

    private static func name(of version: URL) -> String { version.deletingPathExtension().lastPathComponent }
}
