import Foundation

/// The folders of compiled models: `.momd` with its versions.
package enum CompiledModelBundle {
    /// The contents of `VersionInfo.plist` of a `.momd`.
    package struct VersionInfo: Sendable {
        package var currentVersion: String
        /// The version hashes of the entities, by version and entity.
        package var hashes: [String: [String: Data]]
        /// One text for all hashes of a version, by version; empty in older folders.
        package var checksums: [String: String]
    }

    /// Reads `VersionInfo.plist`.
    ///
    /// - Throws: ``ModelFileError``.
    package static func versionInfo(of url: URL) throws -> VersionInfo {
        let file = url.appendingPathComponent("VersionInfo.plist")
        let data = try ModelFile.contents(of: file)
        let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        guard let list, let current = list["NSManagedObjectModel_CurrentVersionName"] as? String else {
            throw ModelFileError(
                .malformed, file: file.path,
                "this is not a property list with the key 'NSManagedObjectModel_CurrentVersionName'")
        }
        return VersionInfo(
            currentVersion: current,
            hashes: list["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]] ?? [:],
            checksums: list["NSManagedObjectModel_VersionChecksums"] as? [String: String] ?? [:])
    }

    /// The path of the `.mom` file of the current version of a `.momd`, or the only one if no version is named as
    /// current.
    package static func currentVersion(of url: URL) throws -> URL {
        if FileManager.default.fileExists(atPath: url.appendingPathComponent("VersionInfo.plist").path) {
            let name = try versionInfo(of: url).currentVersion
            let file = url.appendingPathComponent(name + ".mom")
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw ModelFileError(.missing, file: file.path, "the current version of the model is missing")
            }
            return file
        }
        let versions = try versions(of: url)
        guard let only = versions.first, versions.count == 1 else {
            throw ModelFileError(
                .malformed, file: url.path,
                versions.isEmpty
                    ? "the folder has no .mom file"
                    : "the folder has \(versions.count) versions and no VersionInfo.plist: name the .mom file itself")
        }
        return only
    }

    /// True if a `.mom` may have an entity of one of the names, which is checked by searching its bytes. Decodes
    /// nothing, which takes a hundredth of the time. Also true for files that cannot be read or are not `.mom` files.
    package static func mayHave(entityOf names: some Sequence<String>, at file: URL) -> Bool {
        guard file.pathExtension == "mom", let data = try? ModelFile.contents(of: file) else { return true }
        return names.contains { name in
            // The encoding of property lists: one byte for each character, or two if one is not ASCII.
            let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
            let bytes = isASCII ? Array(name.utf8) : name.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            return data.range(of: Data(bytes)) != nil
        }
    }

    /// The `.mom` files of a `.momd`, by name.
    package static func versions(of url: URL) throws -> [URL] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            throw SourceModelBundle.missing(url, error)
        }
        return names.filter { $0.hasSuffix(".mom") }.sorted().map { url.appendingPathComponent($0) }
    }
}
