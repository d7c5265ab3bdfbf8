/// The encoding of a text file that has no byte order mark.
public enum TextEncoding: String, CaseIterable, Sendable {
    case utf8 = "utf-8"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    /// Western European text as Windows writes it, Windows-1252: ISO 8859-1 with letters and signs in the place of its
    /// second row of control characters.
    case latin1 = "latin-1"

    /// A decoder to UTF-8; `nil` for UTF-8.
    var decoder: (any TextDecoder)? {
        switch self {
        case .utf8: nil
        case .utf16LittleEndian: UTF16Decoder(isBigEndian: false)
        case .utf16BigEndian: UTF16Decoder(isBigEndian: true)
        case .latin1: Latin1Decoder()
        }
    }
}

/// Decodes text in pieces to UTF-8.
protocol TextDecoder {
    mutating func utf8(of bytes: ArraySlice<UInt8>, isEnd: Bool) -> [UInt8]
}

/// Unpaired surrogates are replaced.
struct UTF16Decoder: TextDecoder {
    let isBigEndian: Bool
    /// Bytes of an incomplete character.
    private var rest: [UInt8] = []

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func utf8(of bytes: ArraySlice<UInt8>, isEnd: Bool) -> [UInt8] {
        let all = rest + bytes
        var units = stride(from: 0, to: all.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(all[index]), UInt16(all[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        if !isEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        rest = isEnd ? [] : Array(all[(2 * units.count)...])
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

struct Latin1Decoder: TextDecoder {
    /// The characters 0x80 to 0x9F of Windows-1252; those without one are control characters.
    private static let second: [Unicode.Scalar] = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    func utf8(of bytes: ArraySlice<UInt8>, isEnd: Bool) -> [UInt8] {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append((0x80..<0xA0).contains(byte) ? Self.second[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return Array(String(text).utf8)
    }
}
