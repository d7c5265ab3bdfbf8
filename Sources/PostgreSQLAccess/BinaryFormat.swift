#if PostgreSQL
    import Foundation

    /// The server's binary format, which neither writes numbers as text nor rounds them.
    enum BinaryFormat {
        // SAFETY: the bytes of a number are copied during the closure.
        static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        /// Appends the bytes of a value; `false` for null, which has none.
        ///
        /// - Throws: ``PostgreSQLError`` for a value that does not fit the type.
        // SAFETY: the bytes of a UUID are copied during the closure.
        static func append(
            _ value: PostgreSQLValue, as type: PostgreSQLType, to bytes: inout [UInt8]
        ) throws -> Bool {
            switch (value, type) {
            case (.null, _): return false
            case (.boolean(let value), .boolean): bytes.append(value ? 1 : 0)
            case (.integer(let number), .boolean): bytes.append(number == 0 ? 0 : 1)
            case (.integer(let number), .bigint): append(number, to: &bytes)
            case (.integer(let number), .integer): append(try fitting(number, Int32.self, type), to: &bytes)
            case (.integer(let number), .smallint): append(try fitting(number, Int16.self, type), to: &bytes)
            case (.integer(let number), .double): append(Double(number).bitPattern, to: &bytes)
            case (.real(let number), .double): append(number.bitPattern, to: &bytes)
            case (.integer(let number), .real): append(Float(number).bitPattern, to: &bytes)
            case (.real(let number), .real): append(Float(number).bitPattern, to: &bytes)
            case (.text(let text), .text):
                guard !text.utf8.contains(0) else {
                    throw PostgreSQLError(
                        state: "22021", message: "PostgreSQL cannot store a text with a zero character")
                }
                bytes.append(contentsOf: text.utf8)
            case (.bytes(let data), .bytes): bytes.append(contentsOf: data)
            case (.uuid(let uuid), .uuid): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
            case (.numeric(let decimal), .numeric): NumericFormat.append(decimal, to: &bytes)
            case (.integer(let number), .numeric): NumericFormat.append(Decimal(number), to: &bytes)
            default: throw PostgreSQLError(state: "22023", message: "\(value) is not a value of the type \(type)")
            }
            return true
        }

        private static func fitting<Number: FixedWidthInteger>(
            _ number: Int64, _ type: Number.Type, _ name: PostgreSQLType
        ) throws -> Number {
            guard let fitting = Number(exactly: number) else {
                throw PostgreSQLError(state: "22003", message: "\(number) is out of range for the type \(name)")
            }
            return fitting
        }

        /// Appends a field preceded by its length, as in arrays and copied rows.
        // SAFETY: the bytes of a number are copied during the closure.
        static func appendField(
            _ value: PostgreSQLValue, as type: PostgreSQLType, to bytes: inout [UInt8]
        ) throws {
            let start = bytes.count
            append(Int32(-1), to: &bytes)
            guard try append(value, as: type, to: &bytes) else { return }
            guard let length = Int32(exactly: bytes.count - start - 4) else {
                throw PostgreSQLError(state: "54000", message: "a value has more bytes than the server accepts (2 GB)")
            }
            withUnsafeBytes(of: length.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        }

        /// An array with one dimension.
        static func array(_ values: [PostgreSQLValue], of type: PostgreSQLType) throws -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(20 + values.count * 12)
            append(Int32(values.isEmpty ? 0 : 1), to: &bytes)
            append(Int32(values.contains(.null) ? 1 : 0), to: &bytes)
            append(type.rawValue, to: &bytes)
            if !values.isEmpty {
                append(Int32(values.count), to: &bytes)
                append(Int32(1), to: &bytes)
            }
            for value in values { try appendField(value, as: type, to: &bytes) }
            return bytes
        }

        // MARK: Reading

        // SAFETY: the caller holds the bytes; there are as many as the number has.
        static func integer<Number: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _ type: Number.Type) -> Number {
            guard bytes.count >= MemoryLayout<Number>.size else { return 0 }
            return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
        }

        /// The value of a column; a text if its type is unknown.
        // SAFETY: the caller holds the bytes during the call; only a copy is kept.
        static func value(_ bytes: UnsafeRawBufferPointer, type: UInt32) -> PostgreSQLValue {
            switch PostgreSQLType(rawValue: type) {
            case .boolean: .boolean(bytes.first == 1)
            case .bytes: .bytes(Data(bytes))
            case .bigint: .integer(integer(bytes, Int64.self))
            case .integer: .integer(Int64(integer(bytes, Int32.self)))
            case .smallint: .integer(Int64(integer(bytes, Int16.self)))
            case .double: .real(Double(bitPattern: integer(bytes, UInt64.self)))
            case .real: .real(Double(Float(bitPattern: integer(bytes, UInt32.self))))
            case .numeric: .numeric(NumericFormat.decimal(bytes))
            case .uuid where bytes.count == 16: .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
            default: .text(String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    /// The binary format of `numeric`: digits to the base of 10,000.
    enum NumericFormat {
        private static let notANumber: UInt16 = 0xC000
        private static let negative: UInt16 = 0x4000

        static func append(_ decimal: Decimal, to bytes: inout [UInt8]) {
            guard !decimal.isNaN else {
                for word in [0, 0, notANumber, 0] as [UInt16] { BinaryFormat.append(word, to: &bytes) }
                return
            }
            // Foundation prints a decimal without an exponent.
            var text = Substring(decimal.magnitude.description)
            let fraction = text.firstIndex(of: ".").map { text[text.index(after: $0)...] } ?? ""
            if let point = text.firstIndex(of: ".") { text = text[..<point] }
            var whole = Array(text.utf8)
            whole.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: (4 - whole.count % 4) % 4), at: 0)
            var part = Array(fraction.utf8)
            part.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: (4 - part.count % 4) % 4))
            var groups = groups(of: whole) + groups(of: part)
            var weight = Int16(whole.count / 4 - 1)
            while groups.first == 0 {
                groups.removeFirst()
                weight -= 1
            }
            while groups.last == 0 { groups.removeLast() }
            if groups.isEmpty { weight = 0 }
            BinaryFormat.append(UInt16(groups.count), to: &bytes)
            BinaryFormat.append(weight, to: &bytes)
            BinaryFormat.append(decimal.isSignMinus && !groups.isEmpty ? negative : 0, to: &bytes)
            BinaryFormat.append(UInt16(fraction.utf8.count), to: &bytes)
            for group in groups { BinaryFormat.append(group, to: &bytes) }
        }

        private static func groups(of digits: [UInt8]) -> [UInt16] {
            stride(from: 0, to: digits.count, by: 4).map { start in
                digits[start..<start + 4].reduce(0) { $0 * 10 + UInt16($1 - UInt8(ascii: "0")) }
            }
        }

        // SAFETY: the caller holds the bytes; the count of words was compared with theirs.
        static func decimal(_ bytes: UnsafeRawBufferPointer) -> Decimal {
            guard bytes.count >= 8 else { return .nan }
            func word(_ index: Int) -> UInt16 {
                BinaryFormat.integer(UnsafeRawBufferPointer(rebasing: bytes[(index * 2)...]), UInt16.self)
            }
            let count = Int(word(0))
            let weight = Int(Int16(bitPattern: word(1)))
            let sign = word(2)
            guard sign == 0 || sign == negative, bytes.count >= 8 + count * 2 else { return .nan }
            var text = sign == negative ? "-0" : "0"
            for place in 0..<max(count, weight + 1) where place <= weight {
                text += padded(place < count ? word(4 + place) : 0)
            }
            text += "."
            if weight < -1 { text += String(repeating: "0000", count: -1 - weight) }
            for place in max(weight + 1, 0)..<max(count, max(weight + 1, 0)) { text += padded(word(4 + place)) }
            // Foundation accepts at most as many fraction digits as the smallest decimal has.
            while text.last == "0" { text.removeLast() }
            return Decimal(string: text + "0", locale: Locale(identifier: "en_US_POSIX")) ?? .nan
        }

        private static func padded(_ group: UInt16) -> String {
            let digits = String(group)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
#endif
