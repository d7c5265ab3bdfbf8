import Foundation
import PredicateSyntax

/// Removes case and diacritics from texts, for the options `[c]` and `[d]`.
///
/// Under the options, two texts are equal if their folded bytes are equal, and one contains the other if its folded
/// bytes do. Without `[d]` the result is in composed form (NFC), so that `e` does not match in `é`. With `[d]` it is
/// in decomposed form (NFD) without marks. Case folding upper-cases and then lower-cases every scalar, independent of
/// language: `ß` becomes `ss`, `ς` becomes `σ`, and `K` (Kelvin) becomes `k`. ASCII needs no tables.
///
/// The store's SQL functions call the same code, so both evaluators agree.
// SAFETY: callers hold the bytes during the call, and no pointer is kept; each access is bounded by the count.
enum TextFolding {
    /// True if the options require folding. Without `[c]` and `[d]` bytes are compared directly.
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

    /// The order of texts ignoring case, by their folded bytes.
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
        // Eight bytes at a time, because this test precedes every comparison.
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

    /// True if normalisation never changes a text that consists only of ASCII characters and common Chinese ideographs,
    /// and the scalar is one of them.
    private static func isInert(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x80 || 0x4E00...0x9FFF ~= scalar.value
    }

    private static func foldedCase(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 {
                scalars.append(Unicode.Scalar(lowercased(UInt8(scalar.value))))
            } else if scalar == "ı" || !scalar.properties.isCased {
                // The dotless i shares its upper case with i, but is a different letter.
                scalars.append(scalar)
            } else {
                for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                    scalars.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return String(scalars)
    }

    /// True if `[d]` ignores the mark: accents, Hebrew points, Arabic vowel marks. Marks that are letters of their
    /// script are kept, such as Indic vowel signs, Thai vowels and the Japanese voiced sign.
    private static func isStrippable(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300, scalar.properties.generalCategory == .nonspacingMark else { return false }
        switch scalar.properties.canonicalCombiningClass.rawValue {
        case 10...36, 200...: return true
        default: return false
        }
    }
}
