import Foundation

/// Reads key paths of values of unknown type, as key-value coding does.
///
/// Collections are read element by element, and nested collections are flattened; an element without a value gives
/// `nil`. Unknown keys read as `nil`.
enum KeyReader {
    static func read(_ keys: [String], of value: PredicateValue) -> PredicateValue { read(keys[...], of: value) }

    static func read(_ keys: ArraySlice<String>, of value: PredicateValue) -> PredicateValue {
        guard let key = keys.first else { return value }
        let rest = keys.dropFirst()
        if key.hasPrefix("@") { return CollectionOperators.apply(key, rest: rest, to: value) }
        return read(rest, of: read(key, of: value))
    }

    private static func read(_ key: String, of value: PredicateValue) -> PredicateValue {
        switch value {
        case .null: return .null
        case .collection(let elements):
            return .collection(
                elements.flatMap { element in
                    let read = read(key, of: element)
                    if case .collection(let inner) = read { return inner }
                    return [read]
                })
        case .object(let row): return read(key, of: row)
        case .text(let text): return key == "length" ? .integer(Int64(text.utf16.count)) : own(key, of: value)
        case .data(let data): return key == "length" ? .integer(Int64(data.count)) : own(key, of: value)
        case .entity(let entity): return key == "name" ? PredicateValue(entity.name) : own(key, of: value)
        case .other(let object): return read(key, of: object)
        default: return own(key, of: value)
        }
    }

    /// The value itself for the key `self`; `nil` for other keys.
    private static func own(_ key: String, of value: PredicateValue) -> PredicateValue {
        key == "self" || key == "SELF" ? value : .null
    }

    private static func read(_ key: String, of object: Any) -> PredicateValue {
        if let dictionary = object as? [String: Any] { return PredicateValue(dictionary[key]) }
        if let dictionary = object as? NSDictionary { return PredicateValue(dictionary[key]) }
        if let readable = object as? any KeyValueReadable { return PredicateValue(readable.value(forKey: key)) }
        return own(key, of: .other(object))
    }

    /// The value of one key of a managed object.
    static func read(_ key: String, of row: any RowReadable) -> PredicateValue {
        let layout = row.rowLayout
        switch layout.place(of: key) {
        case .attribute(let slot):
            let value = row.slotValue(slot)
            if case .object(let object) = value { return PredicateValue(object) }
            return PredicateValue(value, isDate: layout.attribute(at: slot)?.attributeType == .dateAttributeType)
        case .toOne(let slot): return row.toOneDestination(slot).map { .object($0) } ?? .null
        case .toMany(let number): return .collection(row.toManyDestinations(number).map { .object($0) })
        case .fetched: return PredicateValue(row.value(forKey: key))
        case nil:
            switch key {
            case "self", "SELF": return .object(row)
            case "objectID": return .reference(row.objectID)
            case "entity": return .entity(layout.entity)
            default: return PredicateValue(row.value(forKey: key))
            }
        }
    }
}

/// The collection operators: `@count`, `@sum` and others.
enum CollectionOperators {
    private static let names: [String: @Sendable ([PredicateValue]) -> PredicateValue] = [
        "@sum": Aggregates.sum, "@avg": Aggregates.average, "@min": Aggregates.minimum, "@max": Aggregates.maximum,
        "@unionOfObjects": { .collection($0) }, "@unionOfArrays": { .collection($0) },
        "@unionOfSets": { .collection($0) },
        "@distinctUnionOfObjects": { .collection(Aggregates.distinct($0)) },
        "@distinctUnionOfArrays": { .collection(Aggregates.distinct($0)) },
        "@distinctUnionOfSets": { .collection(Aggregates.distinct($0)) },
    ]

    /// The equivalent functions for the rows of a group.
    static let functions = [
        "@count": "count:", "@sum": "sum:", "@avg": "average:", "@min": "min:", "@max": "max:",
    ]

    static func exists(_ name: String) -> Bool { name == "@count" || names[name] != nil }

    /// Evaluates `collection.@operator.rest`. Returns `nil` for an unknown operator or a value that is not a
    /// collection.
    static func apply(_ name: String, rest: ArraySlice<String>, to value: PredicateValue) -> PredicateValue {
        if name == "@count" {
            guard case .collection(let elements) = value else { return value.isNull ? .integer(0) : .null }
            return KeyReader.read(rest, of: .integer(Int64(elements.count { !$0.isNull })))
        }
        guard let operation = names[name] else { return .null }
        return operation(KeyReader.read(rest, of: value).elements)
    }
}
