import Foundation
import PredicateSyntax

/// Takes letter case and diacritics out of texts, for the options `[c]` and `[d]`.
///
/// Two texts are the same under the options when their folded bytes are the same, one is found in the other when its folded
/// bytes are. Without `[d]` the fold ends in the composed form (NFC), so that `e` is not found in `é`; with `[d]` in the
/// decomposed one (NFD) without marks. Case is folded by upper-casing and lower-casing every scalar, which maps `ß` to
/// `ss`, `ς` to `σ` and `K` (Kelvin) to `k`, in no particular language. ASCII needs no tables.
///
/// The store's SQL functions call the same code: both evaluators agree by construction.
// SAFETY: callers hold the bytes during the call, and none is kept; each look is bounded by the count.
enum TextFolding {
    /// Whether the options change anything: without `[c]` and `[d]` bytes are compared as they are.
    static func isNeeded(_ options: ComparisonOptions) -> Bool {
        options.contains(.caseInsensitive) || options.contains(.diacriticInsensitive)
    }

    static func bytes(of text: String, _ options: ComparisonOptions) -> [UInt8] {
        TextBytes.with(text) { bytes(of: $0, options) }
    }

    /// The folded bytes of UTF-8.
    static func bytes(of utf8: UnsafeBufferPointer<UInt8>, _ options: ComparisonOptions) -> [UInt8] {
        guard isNeeded(options) else { return Array(utf8) }
        if isASCII(utf8) {
            guard options.contains(.caseInsensitive) else { return Array(utf8) }
            return utf8.map(lowercased)
        }
        return Array(folded(String(decoding: utf8, as: UTF8.self), options).utf8)
    }

    /// The order of texts without regard to case: of their folded bytes.
    static func compareCaseInsensitive(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> ComparisonResult {
        guard isASCII(left) && isASCII(right) else {
            return bytes(of: left, .caseInsensitive).withUnsafeBufferPointer { left in
                bytes(of: right, .caseInsensitive).withUnsafeBufferPointer { TextBytes.compare(left, $0) }
            }
        }
        for index in 0..<min(left.count, right.count) {
            let (first, second) = (lowercased(left[index]), lowercased(right[index]))
            if first != second { return first < second ? .orderedAscending : .orderedDescending }
        }
        return ValueOrder.order(left.count, right.count)
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 0x20 : byte }

    static func isASCII(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        // Eight bytes at a time: the test stands before every comparison.
        var index = 0
        if let base = UnsafeRawPointer(utf8.baseAddress) {
            while index + 8 <= utf8.count {
                if base.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                    return false
                }
                index += 8
            }
        }
        while index < utf8.count {
            if utf8[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }

    /// The folded text.
    static func folded(_ text: String, _ options: ComparisonOptions) -> String {
        let dropsMarks = options.contains(.diacriticInsensitive)
        let isInert = text.unicodeScalars.allSatisfy(isInert)
        var result = text
        if dropsMarks && !isInert { result = result.decomposedStringWithCanonicalMapping }
        if options.contains(.caseInsensitive) { result = foldedCase(result) }
        if isInert { return result }
        guard dropsMarks else { return result.precomposedStringWithCanonicalMapping }
        result = result.decomposedStringWithCanonicalMapping
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: result.unicodeScalars.lazy.filter { !isStrippable($0) })
        return String(scalars)
    }

    /// Whether normalisation leaves the scalar alone, whatever stands beside it that is as inert.
    private static func isInert(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x80 || 0x4E00...0x9FFF ~= scalar.value
    }

    private static func foldedCase(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 {
                scalars.append(Unicode.Scalar(lowercased(UInt8(scalar.value))))
            } else if scalar == "ı" || !scalar.properties.isCased {
                // The dotless i has an upper case that it shares with i, but is another letter.
                scalars.append(scalar)
            } else {
                for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                    scalars.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return String(scalars)
    }

    /// Whether the scalar is a mark that `[d]` overlooks: accents, Hebrew points, Arabic vowel marks. Marks that are letters
    /// of their script, such as Indic vowel signs, Thai vowels and the Japanese voiced sign, stay.
    private static func isStrippable(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300, scalar.properties.generalCategory == .nonspacingMark else { return false }
        switch scalar.properties.canonicalCombiningClass.rawValue {
        case 10...36, 200...: return true
        default: return false
        }
    }
}
