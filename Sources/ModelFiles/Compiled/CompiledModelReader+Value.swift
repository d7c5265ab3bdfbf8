import Foundation

extension CompiledModelReader {
    /// Reads a value; `nil` if a part of it is unknown, which is noted.
    mutating func readKnownValue(_ value: PropertyListValue?) throws -> ValueDocument? {
        let read = try readValue(value)
        return read.isKnown ? read : nil
    }

    /// Reads a value: a default, a constant, an entry of a user info.
    mutating func readValue(_ value: PropertyListValue?, depth: Int = 0) throws -> ValueDocument {
        try spend()
        guard depth < 32 else { throw error("values are nested too deeply: the model is damaged") }
        switch archive.resolve(value) {
        case nil: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .date(let seconds): return .date(seconds)
        case .data(let data): return .data(data)
        case .string(let text): return .string(text)
        case .array, .reference: return .unknown(className: "NSObject")
        case .dictionary:
            guard let object = archive.object(value) else { return .unknown(className: "NSObject") }
            return try readObject(object, value, depth: depth)
        }
    }

    private mutating func readObject(
        _ object: KeyedArchive.Object, _ reference: PropertyListValue?, depth: Int
    ) throws -> ValueDocument {
        let fields = object.fields
        switch object.className {
        case "NSString", "NSMutableString":
            return .string(archive.text(reference) ?? "")
        case "NSDate":
            if case .real(let seconds) = archive.resolve(fields["NS.time"]) { return .date(seconds) }
            return .date(Double(archive.integer(fields["NS.time"]) ?? 0))
        case "NSData", "NSMutableData":
            guard case .data(let data) = archive.resolve(fields["NS.data"]) else { return .data(Data()) }
            return .data(data)
        case "NSUUID":
            guard case .data(let data) = archive.resolve(fields["NS.uuidbytes"]), let uuid = UUID(bytes: data) else {
                throw error("a UUID of the model does not have 16 bytes")
            }
            return .uuid(uuid)
        case "NSURL":
            return .uri((archive.text(fields["NS.base"]) ?? "") + (archive.text(fields["NS.relative"]) ?? ""))
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
            return DecimalArchive.decode(fields, in: archive).map(ValueDocument.decimal) ?? .null
        case "NSNull": return .null
        case "NSArray", "NSMutableArray": return .array(try readValues(reference, depth: depth))
        case "NSSet", "NSMutableSet": return .set(try readValues(reference, depth: depth))
        case "NSDictionary", "NSMutableDictionary":
            return .dictionary(
                try (archive.entries(reference) ?? []).map {
                    ValueDocument.Entry(
                        key: try readValue($0.key, depth: depth + 1), value: try readValue($0.value, depth: depth + 1))
                })
        default:
            note("a value has the unknown class \(object.className): it is kept in the file but not used")
            return .unknown(className: object.className)
        }
    }

    private mutating func readValues(_ reference: PropertyListValue?, depth: Int) throws -> [ValueDocument] {
        try (archive.elements(reference) ?? []).map { try readValue($0, depth: depth + 1) }
    }
}

/// Decimal numbers inside keyed archives: a mantissa of up to eight 16-bit parts, least first, and a power of ten.
enum DecimalArchive {
    static func decode(_ fields: [String: PropertyListValue], in archive: KeyedArchive) -> Decimal? {
        guard case .data(let bytes) = archive.resolve(fields["NS.mantissa"]), bytes.count <= 16,
            let exponent = archive.integer(fields["NS.exponent"]), (-128...127).contains(exponent)
        else { return nil }
        // Byte order: 1 is little-endian, 2 is big-endian.
        let isBigEndian = archive.integer(fields["NS.mantissa.bo"]) == 2
        let length = Int(min(8, max(0, archive.integer(fields["NS.length"]) ?? 8)))
        var mantissa = Decimal(0)
        let values = [UInt8](bytes)
        for part in (0..<min(length, values.count / 2)).reversed() {
            let (first, second) = (UInt16(values[part * 2]), UInt16(values[part * 2 + 1]))
            mantissa = mantissa * 65536 + Decimal(Int(isBigEndian ? first << 8 | second : second << 8 | first))
        }
        if mantissa == 0, archive.flag(fields["NS.negative"]) { return Decimal.nan }
        let sign: FloatingPointSign = archive.flag(fields["NS.negative"]) ? .minus : .plus
        return Decimal(sign: sign, exponent: Int(exponent), significand: mantissa)
    }

    static func encode(_ number: Decimal) -> [String: PropertyListValue] {
        let magnitude = number.magnitude
        var rest = magnitude.significand
        var parts: [UInt16] = []
        while rest > 0, parts.count < 8 {
            var quotient = Decimal()
            var divided = rest / 65536
            NSDecimalRound(&quotient, &divided, 0, .down)
            let remainder = rest - quotient * 65536
            parts.append(UInt16(truncatingIfNeeded: (remainder as NSDecimalNumber).intValue))
            rest = quotient
        }
        let padded = parts + Array(repeating: 0, count: 8 - parts.count)
        return [
            "NS.exponent": .integer(Int64(magnitude.exponent)), "NS.length": .integer(Int64(parts.count)),
            "NS.negative": .boolean(number < 0), "NS.compact": .boolean(false), "NS.mantissa.bo": .integer(1),
            "NS.mantissa": .data(Data(padded.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })),
        ]
    }
}
