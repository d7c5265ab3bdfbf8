import Foundation

/// Binary values of attributes that may be kept in files beside the store: one byte in front of the value says where.
///
/// Values are read from both places. They are written into the row, which every reader of such stores understands.
struct ExternalData {
    /// The folder of the files: `.<store name>_SUPPORT/_EXTERNAL_DATA` beside the store.
    let folder: URL

    private static let inlineMark: UInt8 = 1
    private static let fileMark: UInt8 = 2

    init(storePath: String) {
        folder = Self.supportFolder(ofStoreAt: storePath).appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }

    static func supportFolder(ofStoreAt path: String) -> URL {
        let store = URL(fileURLWithPath: path)
        let name = store.deletingPathExtension().lastPathComponent
        return store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
    }

    /// The value behind the bytes of the column; `nil` where its file cannot be read.
    func value(of stored: Data) -> Data? {
        guard let mark = stored.first else { return stored }
        switch mark {
        case Self.inlineMark: return Data(stored.dropFirst())
        case Self.fileMark:
            let name = String(decoding: stored.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            // The name is a UUID; anything else could lead out of the folder.
            guard UUID(uuidString: name) != nil else { return nil }
            return try? Data(contentsOf: folder.appendingPathComponent(name))
        default: return stored
        }
    }

    /// The bytes of the column for a value.
    static func stored(_ value: Data) -> Data {
        var stored = Data(capacity: value.count + 1)
        stored.append(inlineMark)
        stored.append(value)
        return stored
    }
}
