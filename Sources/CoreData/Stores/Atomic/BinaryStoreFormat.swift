import Foundation
import PredicateSyntax
import ModelFiles

/// The file of a binary store: a signature, the length and a checksum of the rest, and a binary property list. This is
/// our own format, because Apple's is not documented.
enum BinaryStoreFormat: StoreFileFormat {
    private static let mark = Data("RosterBinary1\n".utf8)

    static func check(_ entities: [NSEntityDescription]) throws {}

    // MARK: Reading

    static func image(from data: Data, path: String) throws -> StoreImage {
        func refusal(_ reason: String) -> NSError {
            CoreDataError.make(259, "Cannot open the store \(path): \(reason).", userInfo: [NSFilePathErrorKey: path])
        }
        guard data.starts(with: mark), data.count >= mark.count + 16 else {
            throw refusal("the file is not a binary store of this framework")
        }
        let words = [UInt8](data.dropFirst(mark.count).prefix(16))
        let payload = Data(data.dropFirst(mark.count + 16))
        guard number(words[..<8]) == UInt64(payload.count), number(words[8...]) == checksum(payload) else {
            throw refusal("the file is damaged: its length or its checksum is wrong")
        }
        guard let image = try? image(payload) else {
            throw refusal("the file is damaged: it lacks required entries")
        }
        return image
    }

    private struct Damage: Error {}

    private static func image(_ payload: Data) throws -> StoreImage {
        guard case .dictionary(let root) = try BinaryPropertyListReader.read(payload),
            case .dictionary(let metadata)? = root["metadata"], case .integer(let next)? = root["next"],
            case .array(let rows)? = root["rows"]
        else { throw Damage() }
        var image = StoreImage(metadata: metadata.mapValues(any), nextNumber: next)
        for row in rows {
            guard case .array(let parts) = row, parts.count == 4, case .string(let entity) = parts[0],
                case .integer(let number) = parts[1], case .dictionary(let values) = parts[2],
                case .dictionary(let lists) = parts[3]
            else { throw Damage() }
            let destinations = try lists.mapValues { list in
                guard case .array(let numbers) = list else { throw Damage() }
                return try numbers.map { value in
                    guard case .integer(let number) = value else { throw Damage() }
                    return number
                }
            }
            image.records.append(
                StoreImage.Record(entity: entity, number: number, values: values, destinations: destinations))
        }
        return image
    }

    private static func any(_ value: PropertyListValue) -> Any {
        switch value {
        case .string(let text): text
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .data(let data): data
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .array(let elements): elements.map(any)
        case .dictionary(let fields): fields.mapValues(any)
        case .reference: 0
        }
    }

    // MARK: Writing

    static func data(of image: StoreImage, model: NSManagedObjectModel?) throws -> Data {
        let rows = image.records.map { record in
            PropertyListValue.array([
                .string(record.entity), .integer(record.number), .dictionary(record.values),
                .dictionary(record.destinations.mapValues { .array($0.map(PropertyListValue.integer)) }),
            ])
        }
        let payload = BinaryPropertyListWriter.write(
            .dictionary([
                "metadata": try StoredMetadata.plain(image.metadata), "next": .integer(image.nextNumber),
                "rows": .array(rows),
            ]))
        return mark + bytes(UInt64(payload.count)) + bytes(checksum(payload)) + payload
    }

    private static func bytes(_ number: UInt64) -> Data { Data(number.bigEndianBytes) }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The FNV-1a checksum of the data, which detects damage but not manipulation.
    // SAFETY: the bytes are read during the closure only.
    private static func checksum(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return hash
        }
    }
}

/// Conversion of a store's metadata to the values of a property list.
enum StoredMetadata {
    /// - Throws: 134030 for a value that a property list cannot contain.
    static func plain(_ value: Any) throws -> PropertyListValue {
        if let set = SetElements.of(value) { return .array(try set.map(plain)) }
        switch value {
        case let text as String: return .string(text)
        case let data as Data: return .data(data)
        case let date as Date: return .date(date.timeIntervalSinceReferenceDate)
        case let flag as Bool where !(value is NSNumber): return .boolean(flag)
        case let number as NSNumber:
            if String(cString: number.objCType) == "c", number == true || number == false {
                return .boolean(number.boolValue)
            }
            return try plain(number)
        case let number as Int: return .integer(Int64(number))
        case let fields as [String: Any]: return .dictionary(try fields.mapValues(plain))
        case let elements as [Any]: return .array(try elements.map(plain))
        default: throw refusal(value)
        }
    }

    private static func plain(_ number: NSNumber) throws -> PropertyListValue {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"):
            return Int64(exactly: number.doubleValue).map(PropertyListValue.integer) ?? .real(number.doubleValue)
        case UInt8(ascii: "Q"):
            guard let whole = Int64(exactly: number.uint64Value) else { throw refusal(number) }
            return .integer(whole)
        default: return .integer(number.int64Value)
        }
    }

    private static func refusal(_ value: Any) -> NSError {
        CoreDataError.make(
            134030, "Cannot save the metadata of a store: a property list cannot contain \(value).")
    }
}
