import CoreData
import Foundation

/// One version of a model, by its name.
struct ModelVersion {
    let name: String
    let model: NSManagedObjectModel
}

/// The versions of the model at a path, oldest first, and the wanted one.
struct ModelVersions {
    let all: [ModelVersion]
    let destination: ModelVersion
    /// Folders in which compiled mapping models are looked for.
    let folders: [URL]

    /// - Parameter text: `MODEL` or `MODEL:VERSION`, where `MODEL` is a `.xcdatamodeld`, `.momd`, `.xcdatamodel` or `.mom`.
    /// - Throws: ``CommandError``, or an error of the framework for a model that cannot be read.
    init(_ text: String) throws {
        let (path, wanted) = Self.parts(of: text)
        let url = URL(fileURLWithPath: path)
        let isBundle = ["xcdatamodeld", "momd"].contains(url.pathExtension)
        let current = try StoreModel.model(atPath: url.path)
        folders = [url.deletingLastPathComponent()] + (isBundle ? [url] : [])
        guard isBundle else {
            guard wanted == nil else {
                throw CommandError.misuse("\(path) contains only one model version: omit “:\(wanted ?? "")”")
            }
            all = [ModelVersion(name: Self.name(url), model: current)]
            destination = all[0]
            return
        }
        all = try Self.files(in: url).map {
            ModelVersion(name: Self.name($0), model: try StoreModel.model(atPath: $0.path))
        }
        let known = all.map(\.name).joined(separator: ", ")
        let found = all.last { version in wanted.map { version.name == $0 } ?? (version.model == current) }
        guard let found else {
            throw CommandError.misuse("\(path) has no version “\(wanted ?? "")”. Its versions: \(known)")
        }
        destination = found
    }

    /// Splits `MODEL:VERSION` at the last colon. The path of an existing file may contain colons.
    private static func parts(of text: String) -> (path: String, version: String?) {
        guard !FileManager.default.fileExists(atPath: text), let colon = text.lastIndex(of: ":") else {
            return (text, nil)
        }
        let version = text[text.index(after: colon)...]
        return (String(text[..<colon]), version.isEmpty ? nil : String(version))
    }

    private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    /// The versions by name, with numbers compared as numbers: `App`, `App 2`, `App 10`.
    private static func files(in bundle: URL) throws -> [URL] {
        let suffix = bundle.pathExtension == "momd" ? "mom" : "xcdatamodel"
        return try FileManager.default.contentsOfDirectory(at: bundle, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == suffix }
            .sorted { name($0).compare(name($1), options: [.numeric, .caseInsensitive]) == .orderedAscending }
    }
}
