import CoreData
import Foundation

/// The properties that identify the records of an entity in several stores: the unique key; for a part without one, the
/// unique key of its owner; otherwise none, and the record's number in its store identifies it.
struct RecordKey {
    /// Key paths of attributes.
    let keyPaths: [String]
    private let attributes: [NSAttributeDescription]

    init(of entity: NSEntityDescription) {
        var (start, key) = ("", UniqueKey(of: entity))
        if key == nil,
            let owner = entity.storedRelationships.first(where: { $0.inverseRelationship?.isOwnedPart == true }),
            !owner.isToMany
        {
            (start, key) = (owner.name + ".", owner.destinationEntity.flatMap { UniqueKey(of: $0) })
        }
        let found = key?.attributes ?? []
        attributes = found.allSatisfy { $0.isOrderable && !$0.isOfTheMoment } ? found : []
        keyPaths = attributes.map { start + $0.name }
    }

    private init() { (keyPaths, attributes) = ([], []) }

    /// The key that the records of an entity have in two models; without one, their numbers are compared.
    init(of entity: NSEntityDescription, and other: NSEntityDescription) {
        let (key, otherKey) = (RecordKey(of: entity), RecordKey(of: other))
        let isSame = key.keyPaths == otherKey.keyPaths
        let isAlike = zip(key.attributes, otherKey.attributes).allSatisfy { $0.attributeType == $1.attributeType }
        self = isSame && isAlike ? key : RecordKey()
    }

    /// The key of a record.
    func value(of object: NSManagedObject) -> Value {
        let values = keyPaths.map { object.value(forKeyPath: $0) }
        let parts = zip(values, attributes).map { Part($0, of: $1) }
        let isWhole = !parts.isEmpty && !parts.contains(.null)
        let number = Int64(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
        let texts = zip(values, attributes).map { ValueText.json($0, of: $1) }
        return Value(
            parts: parts, number: isWhole ? nil : number,
            name: !isWhole ? .string(RecordLabel.short(object)) : texts.count == 1 ? texts[0] : .array(texts))
    }

    /// The key of one record. Keys have the order of a fetch that is sorted by ``keyPaths``.
    struct Value: Comparable {
        fileprivate let parts: [Part]
        /// The record's number, if a part of the key is NULL.
        fileprivate let number: Int64?
        /// The key in reports: a value, the list of several values, or `Entity/p12`.
        let name: JSONValue

        static func == (left: Value, right: Value) -> Bool {
            left.parts == right.parts && left.number == right.number
        }

        static func < (left: Value, right: Value) -> Bool {
            for (part, other) in zip(left.parts, right.parts) where part != other { return part < other }
            return (left.number ?? 0) < (right.number ?? 0)
        }
    }

    /// One value of a key, in the order of stores: NULL first, texts by their bytes in UTF-8.
    fileprivate enum Part: Comparable {
        case null
        case integer(Int64)
        case real(Double)
        case decimal(Decimal)
        case bytes([UInt8])

        init(_ value: Any?, of attribute: NSAttributeDescription) {
            switch (value, attribute.attributeType) {
            case (let number as NSNumber, .doubleAttributeType), (let number as NSNumber, .floatAttributeType):
                self = .real(number.doubleValue)
            case (let number as NSDecimalNumber, .decimalAttributeType): self = .decimal(number.decimalValue)
            case (let number as NSNumber, _): self = .integer(number.int64Value)
            case (let date as Date, _): self = .real(date.timeIntervalSinceReferenceDate)
            // The text has the order of the bytes.
            case (let id as UUID, _): self = .bytes(Array(id.uuidString.utf8))
            case (let url as URL, _): self = .bytes(Array(url.absoluteString.utf8))
            case (let text as String, _): self = .bytes(Array(text.utf8))
            default: self = .null
            }
        }

        static func < (left: Part, right: Part) -> Bool {
            switch (left, right) {
            case (.integer(let left), .integer(let right)): left < right
            case (.real(let left), .real(let right)): left < right
            case (.decimal(let left), .decimal(let right)): left < right
            case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
            case (.null, _): right != .null
            default: false
            }
        }
    }
}
