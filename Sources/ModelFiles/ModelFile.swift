import Foundation

/// Opens models of any form.
package enum ModelFile {
    /// The largest file that is accepted as a model.
    private static let greatestSize = 256 << 20

    /// Reads the model at `url`: `.xcdatamodeld` and `.momd` (the current version), `.xcdatamodel`, a `contents` file
    /// or `.mom`. If the name does not determine the form, the content does.
    ///
    /// - Returns: The model, and notes on unknown parts.
    /// - Throws: ``ModelFileError`` with the file, the line if known, and the reason.
    package static func read(_ url: URL) throws -> (model: ModelDocument, notes: [ModelNote]) {
        let found = try open(url)
        return (found.model, found.notes)
    }

    private struct Opened {
        let model: ModelDocument
        let notes: [ModelNote]
        let file: String
        /// The lines of the parts of a source model; `nil` for other models.
        let lines: [String: Int]?
    }

    private static func open(_ url: URL) throws -> Opened {
        let file: URL
        switch url.pathExtension {
        case "xcdatamodeld", "xcdatamodel": file = try SourceModelBundle.contents(of: url)
        case "momd": file = try CompiledModelBundle.currentVersion(of: url)
        case "omo":
            throw ModelFileError(
                .unsupported, file: url.path, "cannot read an optimised model (.omo): use the .mom in the same folder")
        default: file = url
        }
        let data = try contents(of: file)
        if data.starts(with: Array("bplist".utf8)) {
            let (model, notes) = try CompiledModelReader.read(data, file: file.path)
            return Opened(model: model, notes: notes, file: file.path, lines: nil)
        }
        if file.pathExtension == "mom" {
            throw ModelFileError(
                .malformed, file: file.path, "this is not a compiled model: it is not a binary property list")
        }
        if !mayBeSource(data, file) {
            throw ModelFileError(
                .malformed, file: file.path,
                "this is not a model: models are .xcdatamodeld, .xcdatamodel, .momd and .mom")
        }
        let (model, notes, lines) = try SourceModelReader.readWithLines(data, file: file.path)
        return Opened(model: model, notes: notes, file: file.path, lines: lines)
    }

    /// True if a file may be XML: the `contents` of a model, or another file that begins like XML.
    private static func mayBeSource(_ data: Data, _ file: URL) -> Bool {
        guard !file.pathExtension.isEmpty, let first = data.first(where: { ![0x09, 0x0A, 0x0D, 0x20].contains($0) })
        else { return true }
        // A byte order mark, for which the XML reader has a better message.
        return first == UInt8(ascii: "<") || first >= 0xEF
    }

    /// Reads the model at `url` like ``read(_:)``, and compiles a source model.
    ///
    /// - Returns: The model, and notes on unknown parts, a line each, with file and line.
    /// - Throws: ``ModelFileError``.
    package static func readForUse(_ url: URL) throws -> (model: ModelDocument, notes: [String]) {
        let found = try open(url)
        let notes = found.notes.map { $0.text(in: found.file) }
        guard let lines = found.lines else { return (found.model, notes) }
        return (try found.model.compiled(file: found.file, lines: lines), notes)
    }

    /// The bytes of a file that may be a model: a regular file that is not too large.
    package static func contents(of file: URL) throws -> Data {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw ModelFileError(.missing, file: file.path, "the file does not exist")
        }
        guard !isFolder.boolValue else {
            throw ModelFileError(
                .malformed, file: file.path,
                "this folder is not a model: its name must end in .xcdatamodeld, .xcdatamodel or .momd")
        }
        // Reading a pipe could block, and a device has no end.
        let facts = try? FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)
        guard facts?[.type] as? FileAttributeType == .typeRegular else {
            throw ModelFileError(.malformed, file: file.path, "this is not a regular file")
        }
        let size = facts?[.size] as? Int
        guard (size ?? 0) <= greatestSize else {
            throw ModelFileError(.malformed, file: file.path, "the file is too large for a model")
        }
        do { return try Data(contentsOf: file) } catch { throw SourceModelBundle.missing(file, error) }
    }

    private static let keptModel = "cannot read the model in the store: "

    /// Reads the model in `Z_MODELCACHE` of a store.
    ///
    /// - Parameter store: The path of the store, for messages.
    /// - Throws: ``ModelFileError``.
    package static func readCached(_ data: Data, store: String) throws -> (model: ModelDocument, notes: [ModelNote]) {
        do {
            return try CompiledModelReader.read(RawDeflate.expand(data), file: store)
        } catch let failure as RawDeflate.Failure {
            let reason =
                switch failure {
                case .damaged: "its compressed data is damaged"
                case .truncated: "its compressed data is truncated"
                case .tooLarge: "it is too large"
                case .outOfMemory: "not enough memory to expand it"
                }
            throw ModelFileError(.malformed, file: store, keptModel + reason)
        } catch let error as ModelFileError {
            throw ModelFileError(error.kind, file: store, keptModel + error.reason)
        }
    }

    /// The form of the model in a store.
    ///
    /// - Throws: ``ModelFileError`` if a predicate or expression is still text.
    package static func writeCached(_ model: ModelDocument) throws -> Data {
        do {
            return try RawDeflate.compress(CompiledModelWriter.write(model, form: .store))
        } catch is RawDeflate.Failure {
            throw ModelFileError(
                .unsupported, file: "the archive of a model", "not enough memory to compress it")
        }
    }
}
