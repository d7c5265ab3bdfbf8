import Foundation
import PredicateSyntax

/// Reads C arguments from `withVaList`, as the placeholders of a predicate format specify them.
enum VariadicArguments {
    /// The arguments for the placeholders of `format`, in order.
    ///
    /// Only the C library knows the layout of a `va_list`. It prints all arguments at once: objects and integers as
    /// decimal digits, floating-point numbers in hexadecimal, without loss.
    ///
    /// - Throws: an error if the text is not a format.
    static func list(_ format: String, _ arguments: CVaListPointer) throws(FormatError) -> [Any?] {
        let kinds = try FormatPlaceholders.conversions(in: format).map(Kind.init)
        guard !kinds.isEmpty else { return [] }
        var buffer = [CChar](repeating: 0, count: kinds.count * 64)
        // SAFETY: the conversions match the format's placeholders, as on Apple's platforms; the buffer has room.
        let length = vsnprintf(&buffer, buffer.count, kinds.map(\.conversion).joined(separator: " "), arguments)
        let printed = String(decoding: buffer.prefix(max(0, Int(length))).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return zip(kinds, printed.split(separator: " ")).map { kind, text in kind.value(of: text) }
    }

    /// A number printed with `%a`. Its decimal separator is that of the process's locale: a comma, or several bytes.
    static func real(_ text: Substring) -> Double? {
        if let number = Double(text) { return number }
        let parts = text.split { !"0123456789abcdefABCDEFxXpP+-".contains($0) }
        return parts.count == 2 ? Double("\(parts[0]).\(parts[1])") : nil
    }

    private enum Kind {
        case object
        case integer
        case long
        case unsigned
        case unsignedLong
        case real

        init(_ conversion: String) {
            let isLong = conversion.contains { "lqLzjt".contains($0) } || "DUO".contains(conversion.last ?? " ")
            switch conversion.last {
            case "@", "K": self = .object
            case "a", "A", "e", "E", "f", "F", "g", "G": self = .real
            case "u", "U", "x", "X", "o", "O": self = isLong ? .unsignedLong : .unsigned
            default: self = isLong ? .long : .integer
            }
        }

        var conversion: String {
            switch self {
            case .object, .unsignedLong: "%lu"
            case .integer: "%d"
            case .long: "%ld"
            case .unsigned: "%u"
            case .real: "%a"
            }
        }

        func value(of text: Substring) -> Any? {
            switch self {
            case .object:
                // SAFETY: the caller supplies an object for %@ or %K, and the argument list holds it during the call.
                UnsafeRawPointer(bitPattern: UInt(text) ?? 0)
                    .map { Unretained<AnyObject>(address: $0).object }
                    .map { ($0 as? VariadicValue)?.value ?? $0 }
            case .integer, .long: Int(text)
            case .unsigned, .unsignedLong: UInt(text)
            case .real: VariadicArguments.real(text)
            }
        }
    }
}
