import Foundation

/// The folders of source models: `.xcdatamodeld` with its versions, and `.xcdatamodel` for a single one.
package enum SourceModelBundle {
    /// The path of the `contents` file of the model at `url`: of the current version, if there are several.
    ///
    /// - Throws: ``ModelFileError`` if there is none.
    package static func contents(of url: URL) throws -> URL {
        switch url.pathExtension {
        case "xcdatamodeld": try contents(ofVersion: currentVersion(of: url))
        case "xcdatamodel": try contents(ofVersion: url)
        default: url
        }
    }

    /// The versions of a `.xcdatamodeld`, by name.
    package static func versions(of url: URL) throws -> [URL] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            throw missing(url, error)
        }
        return names.filter { $0.hasSuffix(".xcdatamodel") }.sorted().map { url.appendingPathComponent($0) }
    }

    /// The version that `.xccurrentversion` names, or the only one.
    package static func currentVersion(of url: URL) throws -> URL {
        let versions = try versions(of: url)
        let marker = url.appendingPathComponent(".xccurrentversion")
        if let data = try? ModelFile.contents(of: marker) {
            let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            guard let name = list?["_XCCurrentVersionName"] as? String else {
                throw ModelFileError(
                    .malformed, file: marker.path, "this is not a property list with the key '_XCCurrentVersionName'")
            }
            guard let version = versions.first(where: { $0.lastPathComponent == name }) else {
                let known = versions.map(\.lastPathComponent).joined(separator: ", ")
                throw ModelFileError(
                    .malformed, file: marker.path,
                    "the model has no version '\(name)', its current version. Its versions: \(known)")
            }
            return version
        }
        guard let only = versions.first else {
            throw ModelFileError(
                .malformed, file: url.path, "the model has no version: it contains no .xcdatamodel folder")
        }
        guard versions.count == 1 else {
            throw ModelFileError(
                .malformed, file: url.path,
                "the model has \(versions.count) versions but no .xccurrentversion file that names the current one: "
                    + "name the .xcdatamodel folder itself")
        }
        return only
    }

    private static func contents(ofVersion url: URL) throws -> URL {
        let contents = url.appendingPathComponent("contents")
        if FileManager.default.fileExists(atPath: contents.path) { return contents }
        if FileManager.default.fileExists(atPath: url.appendingPathComponent("elements").path) {
            throw ModelFileError(
                .unsupported, file: url.path,
                "the model has the format of Xcode 3: open and save it with a later Xcode, or use its compiled .mom")
        }
        throw missing(contents, nil)
    }

    static func missing(_ url: URL, _ error: (any Error)?) -> ModelFileError {
        if FileManager.default.fileExists(atPath: url.path) {
            return ModelFileError(.unreadable, file: url.path, "cannot read the file; check its permissions")
        }
        return ModelFileError(.missing, file: url.path, "the file does not exist")
    }
}
