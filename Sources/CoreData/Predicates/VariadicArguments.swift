import Foundation
import PredicateSyntax

/// Reads the arguments of C that `withVaList` hands out, as the placeholders of a predicate format name them.
enum VariadicArguments {
    /// The arguments for the placeholders of `format`, in their order.
    ///
    /// The C library alone knows how a `va_list` is laid out. It prints all of them at once: objects and integers as
    /// digits, floating-point numbers as hexadecimal ones, which lose nothing.
    ///
    /// - Throws: where the text is no format.
    static func list(_ format: String, _ arguments: CVaListPointer) throws(FormatError) -> [Any?] {
        let kinds = try FormatPlaceholders.conversions(in: format).map(Kind.init)
        guard !kinds.isEmpty else { return [] }
        var buffer = [CChar](repeating: 0, count: kinds.count * 64)
        // SAFETY: the conversions take what the placeholders of the format promise, as at Apple's; the buffer has room.
        let length = vsnprintf(&buffer, buffer.count, kinds.map(\.conversion).joined(separator: " "), arguments)
        let printed = String(decoding: buffer.prefix(max(0, Int(length))).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return zip(kinds, printed.split(separator: " ")).map { kind, text in kind.value(of: text) }
    }

    /// A number as `%a` prints it, whose point is that of the process's locale: a comma, or more than one byte.
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
                // SAFETY: who writes %@ or %K hands over an object, which the list of arguments keeps while it is read.
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
