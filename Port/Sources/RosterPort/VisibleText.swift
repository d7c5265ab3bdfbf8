/// Makes control characters visible, which a terminal would obey.
enum VisibleText {
    /// `text` with control characters as symbols (`␛`, `␊`) and invisible direction marks as escapes.
    static func shown(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0..<0x20: result.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            case 0x7F: result += "␡"
            case _ where isDangerous(scalar): result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// `text` on one line: line breaks become spaces, and other control characters are made visible.
    static func oneLine(_ text: String) -> String {
        shown(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDD2, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069,
            0x061C:
            true
        default: false
        }
    }
}
