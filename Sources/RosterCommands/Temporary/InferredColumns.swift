import CoreData
import Foundation

/// The columns of records and the types of their values.
struct InferredColumns {
    struct Column {
        /// Name in the records.
        let key: String
        /// Name in the model.
        let attribute: String
        fileprivate var kinds: Set<Kind> = []

        fileprivate var kind: Kind {
            if kinds.isEmpty || kinds.contains(.text) { return .text }
            if kinds == [.integer] { return .integer }
            if kinds.isSubset(of: [.integer, .number]) { return .number }
            return kinds.count == 1 ? kinds.first ?? .text : .text
        }
    }

    /// Types that a value may have.
    fileprivate enum Kind { case integer, number, boolean, date, text }

    private(set) var list: [Column] = []
    private(set) var recordCount = 0
    private var places: [String: Int] = [:]

    /// Reads all records.
    ///
    /// - Throws: ``CommandError`` if a record cannot be read.
    init(_ reader: RecordFileReader) throws {
        while let (_, fields) = try reader.next() {
            recordCount += 1
            for (key, value) in fields {
                let place = places[key] ?? add(key)
                if list[place].kinds.contains(.text) { continue }
                if let kind = Self.kind(of: value) { list[place].kinds.insert(kind) }
            }
        }
    }

    private mutating func add(_ key: String) -> Int {
        let attribute = Self.attributeName(for: key, besides: Set(list.map(\.attribute)))
        list.append(Column(key: key, attribute: attribute))
        places[key] = list.count - 1
        return list.count - 1
    }

    /// `nil` if a value has no recognisable type.
    private static func kind(of value: JSONValue) -> Kind? {
        switch value {
        case .null: return nil
        case .bool: return .boolean
        case .number(let digits): return Int64(digits) != nil ? .integer : .number
        case .array, .object: return .text
        case .string(let text):
            if text.isEmpty { return nil }
            // Digits with a leading zero are a name, such as a postal code.
            let digits = text.hasPrefix("-") ? text.dropFirst() : Substring(text)
            if digits.count > 1, digits.hasPrefix("0"), !digits.hasPrefix("0.") {
                return ISO8601Text.date(from: text) == nil ? .text : .date
            }
            if Int64(text) != nil, !text.hasPrefix("+") { return .integer }
            if digits.first?.isNumber == true, let number = Double(text), number.isFinite { return .number }
            if ["true", "false", "yes", "no"].contains(text.lowercased()) { return .boolean }
            return text.count >= 8 && ISO8601Text.date(from: text) != nil ? .date : .text
        }
    }

    // MARK: The model

    var model: NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = TemporaryStore.entity
        let row = NSAttributeDescription()
        row.name = TemporaryStore.rowKey
        row.attributeType = .integer64AttributeType
        entity.properties =
            [row]
            + list.map { column in
                let attribute = NSAttributeDescription()
                attribute.name = column.attribute
                attribute.attributeType =
                    switch column.kind {
                    case .integer: .integer64AttributeType
                    case .number: .doubleAttributeType
                    case .boolean: .booleanAttributeType
                    case .date: .dateAttributeType
                    case .text: .stringAttributeType
                    }
                return attribute
            }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    /// The non-empty values of a record, as the framework expects them.
    func values(of fields: RecordFields) -> [(key: String, value: Any)] {
        fields.compactMap { key, value in
            guard let place = places[key] else { return nil }
            return Self.value(value, as: list[place].kind).map { (list[place].attribute, $0) }
        }
    }

    private static func value(_ json: JSONValue, as kind: Kind) -> Any? {
        if case .null = json { return nil }
        let text = ValueText.text(of: json)
        switch kind {
        case .text: return text
        case .integer: return Int64(text)
        case .number: return Double(text)
        case .boolean: return text.isEmpty ? nil : ["true", "yes"].contains(text.lowercased())
        case .date: return ISO8601Text.date(from: text)
        }
    }

    // MARK: Names

    /// `First Name` becomes `firstName`: a letter, then letters, digits and underscores; different from the others.
    private static func attributeName(for key: String, besides others: Set<String>) -> String {
        let usable = PropertyNames.usable(key)
        let name = usable.prefix(1).lowercased() + usable.dropFirst()
        let isReserved = name == TemporaryStore.rowKey || PropertyNames.reserved.contains(name)
        var result = isReserved ? name + "_" : name
        var number = 2
        while others.contains(where: { $0.lowercased() == result.lowercased() }) {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }
}
