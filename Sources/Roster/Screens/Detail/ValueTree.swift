import CoreData
import Foundation
import RosterCommands
import Translation

/// A value with parts that can be unfolded in a record: JSON, property lists, dictionaries, arrays.
indirect enum ValueTree {
    case leaf(String)
    case list([ValueTree])
    case dictionary([(key: String, value: ValueTree)])

    /// Maximum length of a text that is parsed. Longer texts have too many parts to unfold by hand.
    private static let greatestText = 1 << 20
    private static let deepest = 40

    /// A short summary of the contents: `{3}`, `[12]`.
    var summary: String {
        switch self {
        case .leaf(let text): text
        case .list(let values): "[\(values.count)]"
        case .dictionary(let members): "{\(members.count)}"
        }
    }

    var parts: [(title: String, value: ValueTree)] {
        switch self {
        case .leaf: []
        case .list(let values): values.enumerated().map { ("\($0)", $1) }
        case .dictionary(let members): members.map { ($0.key, $0.value) }
        }
    }

    /// Creates the tree of an attribute's value; `nil` for a value without parts.
    init?(_ value: Any?) {
        switch value {
        case let text as String: self.init(json: text)
        case let data as Data: self.init(bytes: data)
        case let value?:
            let tree = Self.tree(of: value, depth: 0)
            if case .leaf = tree { return nil }
            self = tree
        case nil: return nil
        }
    }

    private init?(json text: String) {
        guard text.utf8.count <= Self.greatestText, let first = text.first(where: { !$0.isWhitespace }),
            first == "{" || first == "[", let value = try? JSONValue(text: text)
        else { return nil }
        self = Self.tree(of: value)
    }

    private init?(bytes: Data) {
        guard bytes.count <= Self.greatestText else { return nil }
        if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: Array("<?xml".utf8)) {
            guard let value = try? PropertyListSerialization.propertyList(from: bytes, options: [], format: nil) else {
                return nil
            }
            self = Self.tree(of: value, depth: 0)
        } else if let text = String(data: bytes, encoding: .utf8) {
            self.init(json: text)
        } else {
            return nil
        }
    }

    private static func tree(of json: JSONValue) -> ValueTree {
        switch json {
        case .null: .leaf("null")
        case .bool(let value): .leaf(value ? "true" : "false")
        case .number(let digits): .leaf(digits)
        case .string(let text): .leaf(text)
        case .array(let values): .list(values.map(tree))
        case .object(let members): .dictionary(members.map { ($0.key, tree(of: $0.value)) })
        }
    }

    private static func tree(of value: Any, depth: Int) -> ValueTree {
        guard depth < deepest else { return .leaf("…") }
        switch value {
        case let members as [String: Any]:
            return .dictionary(
                members.sorted { $0.key < $1.key }.map { ($0.key, tree(of: $0.value, depth: depth + 1)) })
        case let members as NSDictionary:
            let pairs = members.map { (key: String(describing: $0.key), value: tree(of: $0.value, depth: depth + 1)) }
            return .dictionary(pairs.sorted { $0.key < $1.key })
        case let values as [Any]: return .list(values.map { tree(of: $0, depth: depth + 1) })
        case let values as NSSet: return .list(values.allObjects.map { tree(of: $0, depth: depth + 1) })
        case let data as Data: return .leaf(CountedNoun.text(data.count, "byte"))
        case let date as Date: return .leaf(DateDisplay.short(date))
        default: return .leaf(String(describing: value))
        }
    }
}

/// A hex dump with sixteen bytes per line, or eight on narrow screens.
enum HexDump {
    /// Number of bytes shown; the pane is not a hex editor.
    static let greatest = 64 << 10

    /// `00000010  89 50 4e 47 …  .PNG…`
    static func lines(of data: Data, width: Int) -> [String] {
        let perLine = width >= 10 + 16 * 4 ? 16 : 8
        let bytes = [UInt8](data.prefix(greatest))
        var lines = stride(from: 0, to: bytes.count, by: perLine).map { start in
            let row = bytes[start..<min(start + perLine, bytes.count)]
            let hex = row.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined(separator: " ")
            let text = row.map { (0x20..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
            let offset = String(start, radix: 16)
            let padding = String(repeating: " ", count: (perLine - row.count) * 3)
            return String(repeating: "0", count: max(0, 6 - offset.count)) + offset + "  \(hex)\(padding)  \(text)"
        }
        if data.count > greatest {
            lines.append(sentence("and \(CountedNoun.text(data.count - greatest, "byte")) more"))
        }
        return lines
    }
}

/// The format and size of a picture.
struct PictureHeader: Equatable {
    let kind: String
    let width: Int?
    let height: Int?

    var text: String {
        guard let width, let height else { return sentence("\(kind) image") }
        return sentence("\(kind) image, \(width)×\(height)")
    }

    /// Creates the header from a file's bytes; `nil` if they are not a known picture format.
    init?(_ data: Data) {
        let bytes = [UInt8](data.prefix(64 << 10))
        func number(_ place: Int, _ count: Int, littleEndian: Bool = false) -> Int? {
            guard place >= 0, place + count <= bytes.count else { return nil }
            let part = bytes[place..<place + count]
            return (littleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
        }
        func begins(_ text: [UInt8], at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text) }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            (kind, width, height) = ("PNG", number(16, 4), number(20, 4))
        } else if begins(Array("GIF8".utf8)) {
            (kind, width, height) = ("GIF", number(6, 2, littleEndian: true), number(8, 2, littleEndian: true))
        } else if begins([0xFF, 0xD8, 0xFF]) {
            let size = Self.sizeOfJPEG(bytes)
            (kind, width, height) = ("JPEG", size?.width, size?.height)
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            (kind, width, height) = ("WebP", nil, nil)
        } else if begins(Array("II*\0".utf8)) || begins(Array("MM\0*".utf8)) {
            (kind, width, height) = ("TIFF", nil, nil)
        } else if begins(Array("ftyphei".utf8), at: 4) || begins(Array("ftypavif".utf8), at: 4) {
            (kind, width, height) = ("HEIF", nil, nil)
        } else if begins(Array("BM".utf8)), let size = number(2, 4, littleEndian: true), size == data.count {
            (kind, width, height) = ("BMP", number(18, 4, littleEndian: true), number(22, 4, littleEndian: true))
        } else {
            return nil
        }
    }

    /// The width and height of a JPEG image. Reads them from the frame segment, which follows other segments of any
    /// length.
    private static func sizeOfJPEG(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            let length = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            let isFrame = (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
            if isFrame {
                return (
                    Int(bytes[place + 7]) << 8 | Int(bytes[place + 8]),
                    Int(bytes[place + 5]) << 8 | Int(bytes[place + 6])
                )
            }
            guard length >= 2 else { return nil }
            place += 2 + length
        }
        return nil
    }
}
