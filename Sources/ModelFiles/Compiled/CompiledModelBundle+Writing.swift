import Foundation

extension CompiledModelBundle {
    /// One version of a model to be written.
    package struct Version: Sendable {
        /// The name of the version, which becomes the name of its `.mom`.
        package var name: String
        package var model: ModelDocument
        /// The version hashes that Apple's tools wrote for the same model, by entity. They are kept; only those of
        /// other entities are computed.
        package var writtenHashes: [String: Data]
        /// The file that the model was read from, if any, and the lines of its parts, for messages.
        package var source: (file: String, lines: [String: Int])?

        package init(
            name: String, model: ModelDocument, writtenHashes: [String: Data] = [:],
            source: (file: String, lines: [String: Int])? = nil
        ) {
            self.name = name
            self.model = model
            self.writtenHashes = writtenHashes
            self.source = source
        }

        init(_ version: SourceModelBundle.Version) {
            self.init(name: version.name, model: version.model, source: (version.file, version.lines))
        }

        func compiled() throws(ModelFileError) -> ModelDocument {
            try model.compiled(file: source?.file ?? name, lines: source?.lines ?? [:])
        }
    }

    /// Writes a `.momd`: a `.mom` for each version and `VersionInfo.plist` with the hashes and checksums.
    ///
    /// The folder is written next to `folder` and moved into place when it is complete; an existing compiled model is
    /// replaced.
    ///
    /// - Parameter current: The name of the version that programs load.
    /// - Throws: ``ModelFileError`` if the text of a predicate cannot be parsed, `folder` exists and is not a compiled
    ///   model, or the folder cannot be written.
    package static func write(_ versions: [Version], current: String, to folder: URL) throws {
        precondition(versions.contains { $0.name == current }, "The current version must be one of the versions.")
        var files: [(name: String, data: Data)] = []
        var hashes: [String: [String: Data]] = [:]
        for version in versions {
            let model = try version.compiled()
            files.append(("\(version.name).mom", try CompiledModelWriter.write(model, form: .file)))
            hashes[version.name] = ModelHashes.entities(of: model).merging(version.writtenHashes) { $1 }
        }
        let info: [String: PropertyListValue] = [
            "NSManagedObjectModel_CurrentVersionName": .string(current),
            "NSManagedObjectModel_VersionHashes": .dictionary(
                hashes.mapValues { .dictionary($0.mapValues(PropertyListValue.data)) }),
            "NSManagedObjectModel_VersionChecksums": .dictionary(
                hashes.mapValues { .string(VersionHashFormula.checksum($0)) }),
        ]
        files.append(("VersionInfo.plist", BinaryPropertyListWriter.write(.dictionary(info))))
        try FileReplacement.folder(at: folder, isReplaceable: isCompiledModel) { files }
    }

    /// Writes one version as a `.mom`.
    ///
    /// - Throws: ``ModelFileError``, as ``write(_:current:to:)``.
    package static func write(_ model: ModelDocument, to file: URL) throws {
        let data = try CompiledModelWriter.write(model.compiled(file: file.path), form: .file)
        try FileReplacement.file(at: file, data)
    }

    /// True if a folder was written by a model compiler, or is empty: it may be replaced.
    private static func isCompiledModel(_ names: [String]) -> Bool {
        names.allSatisfy { $0.hasSuffix(".mom") || $0.hasSuffix(".omo") || $0 == "VersionInfo.plist" }
    }

    /// Compiles a source model.
    ///
    /// - Parameters:
    ///   - source: A `.xcdatamodeld` with its versions, an `.xcdatamodel` or its `contents`.
    ///   - target: A `.momd` folder, or, for one version, a `.mom` file, depending on its extension.
    /// - Returns: Notes on unknown parts, a line each.
    /// - Throws: ``ModelFileError``.
    package static func compile(_ source: URL, to target: URL) throws -> [String] {
        let bundle = try SourceModelBundle.read(source)
        guard target.pathExtension == "mom" else {
            try write(bundle.versions.map(Version.init), current: bundle.current, to: target)
            return bundle.notes
        }
        guard let version = bundle.versions.first(where: { $0.name == bundle.current }) else { return bundle.notes }
        try write(Version(version).compiled(), to: target)
        return bundle.notes
    }
}
