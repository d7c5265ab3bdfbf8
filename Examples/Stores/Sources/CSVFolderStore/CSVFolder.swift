import CoreData
import Foundation

/// The folder of a store, whose files are read and replaced together.
struct CSVFolder {
    static let metadataName = "store.plist"
    static let keyName = "key"
    let url: URL

    init(_ url: URL) { self.url = url }

    /// A temporary folder of a save: `new` for the new files, `old` for the old ones until the new ones replace them.
    private func sibling(_ what: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(what)")
    }

    /// True if the folder exists. If a program was killed between the two moves of a replacement, the old folder is
    /// moved back first.
    func exists() throws -> Bool {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: url.path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw Self.damage(url, "this is a file, not a folder of CSV files") }
            guard manager.fileExists(atPath: url.appendingPathComponent(Self.metadataName).path) else {
                throw Self.damage(url, "this folder is no store: it has no \(Self.metadataName)")
            }
            return true
        }
        guard manager.fileExists(atPath: sibling("old").path) else { return false }
        try manager.moveItem(at: sibling("old"), to: url)
        return true
    }

    static func damage(_ url: URL, _ reason: String) -> CocoaError {
        CocoaError(
            .fileReadCorruptFile,
            userInfo: [NSFilePathErrorKey: url.path, NSLocalizedDescriptionKey: "\(url.path): \(reason)."])
    }

    // MARK: Reading

    func metadata() throws -> [String: Any] {
        guard try exists() else { throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: url.path]) }
        let file = url.appendingPathComponent(Self.metadataName)
        let data = try Data(contentsOf: file)
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw Self.damage(file, "this is no property list")
        }
        return list
    }

    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        guard try exists() else { return files }
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
            files[name] = try Data(contentsOf: url.appendingPathComponent(name))
        }
        return files
    }

    /// Returns the rows of an entity; nil if the entity has no file.
    func table(_ entity: String) throws -> CSVTable? {
        let file = url.appendingPathComponent("\(entity).csv")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let text = String(data: try Data(contentsOf: file), encoding: .utf8) else {
            throw Self.damage(file, "the text is not UTF-8")
        }
        do { return try CSVTable(try CSVText.rows(text), file) } catch let damage as CSVText.Damage {
            throw Self.damage(file, "line \(damage.line): \(damage.reason)")
        }
    }

    // MARK: Writing

    static func data(of metadata: [String: Any]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
    }

    /// Replaces the folder's files. After any failure the old folder or the new one is complete.
    func replace(with files: [String: Data]) throws {
        let manager = FileManager.default
        let (new, old) = (sibling("new"), sibling("old"))
        let stands = try exists()
        try? manager.removeItem(at: new)
        try? manager.removeItem(at: old)
        do {
            try manager.createDirectory(at: new, withIntermediateDirectories: false)
            for (name, data) in files { try data.write(to: new.appendingPathComponent(name)) }
        } catch {
            try? manager.removeItem(at: new)
            throw error
        }
        if stands { try manager.moveItem(at: url, to: old) }
        try manager.moveItem(at: new, to: url)
        try? manager.removeItem(at: old)
    }
}

/// The rows of one file by field name.
struct CSVTable {
    struct Row {
        fileprivate let fields: [String: String]
        fileprivate let file: URL
        fileprivate let number: Int

        subscript(name: String) -> String? { fields[name] }

        func key() throws -> Int64 {
            guard let key = fields[CSVFolder.keyName].flatMap({ Int64($0) }) else {
                throw damage("the row has no key")
            }
            return key
        }

        func damage(_ reason: String) -> CocoaError { CSVFolder.damage(file, "row \(number): \(reason)") }
    }

    let rows: [Row]

    init(_ lines: [[String?]], _ file: URL) throws {
        let names = lines.first?.map { $0 ?? "" } ?? []
        guard Set(names).count == names.count else { throw CSVFolder.damage(file, "two columns have one name") }
        rows = try lines.dropFirst().enumerated().map { index, line in
            guard line.count == names.count else {
                throw CSVFolder.damage(file, "row \(index + 1) has \(line.count) fields, not \(names.count)")
            }
            let fields = zip(names, line).compactMap { name, value in value.map { (name, $0) } }
            return Row(fields: Dictionary(fields) { first, _ in first }, file: file, number: index + 1)
        }
    }
}
