import Foundation

/// The key path that names the sections of a list.
struct SectionKey {
    let keyPath: String
    let keys: [String]
    /// The attribute at the end of the path, if the model has one there.
    private let attribute: NSAttributeDescription?

    init(_ keyPath: String, of entity: NSEntityDescription) {
        self.keyPath = keyPath
        keys = keyPath.split(separator: ".").map(String.init)
        attribute = (try? ModelKeyPath(keys, from: entity)).flatMap { path in
            if case .attribute(let attribute) = path.end { attribute } else { nil }
        }
    }

    /// True if stores know the value: the key path ends in an attribute that is not transient.
    var isStored: Bool { attribute?.isTransient == false }

    /// The type of the attribute; `nil` if the model has none there.
    var attributeType: NSAttributeType? { attribute?.attributeType }

    var isNumber: Bool {
        switch attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            true
        default: false
        }
    }

    /// The typed value of a slot of the attribute.
    func typed(_ value: SlotValue) -> SectionValue {
        switch value {
        case .null: .missing
        case .integer(let number):
            attributeType == .booleanAttributeType ? .boolean(number != 0) : .integer(Int(number))
        case .real(let number):
            attributeType == .dateAttributeType ? .date(Date(timeIntervalSinceReferenceDate: number)) : .real(number)
        case .text(let text): text.isEmpty ? .missing : .text(text)
        case .uuid(let id): .uuid(id)
        case .decimal(let number): .decimal(number.decimalValue)
        case .data, .object, .reference:
            .text(Self.name(for: AttributeCoercion.value(value, type: attributeType ?? .undefinedAttributeType)))
        }
    }

    /// The typed value of an object.
    func value(of object: AnyObject) -> SectionValue {
        if isStored, let object = object as? NSManagedObject { return typed(storedValue(of: object)) }
        let value: Any?
        switch object {
        case let object as NSManagedObject: value = object.value(forKeyPath: keyPath)
        case let dictionary as NSDictionary: value = dictionary.object(forKey: keyPath)
        default: value = nil
        }
        if let attributeType, let slot = AttributeCoercion.slotValue(value, type: attributeType) { return typed(slot) }
        let name = Self.name(for: value)
        return name.isEmpty ? .missing : .text(name)
    }

    /// The text of a value.
    static func name(for value: SectionValue) -> String {
        switch value {
        case .missing: ""
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): String(number)
        case .real(let number): NSNumber(value: number).stringValue
        case .decimal(let number): "\(number)"
        case .text(let text): text
        case .date(let date): "\(date)"
        case .uuid(let id): id.uuidString
        case .period(let period): "\(period.start)"
        case .numbers(let from, let to): bucketName(from, to)
        case .levels(let values): values.map { name(for: $0) }.joined(separator: "/")
        }
    }

    /// The name of a range: `10000–19999` for whole numbers, `0.5–1` for others.
    private static func bucketName(_ from: Decimal, _ to: Decimal) -> String {
        func isWhole(_ number: Decimal) -> Bool {
            var (number, whole) = (number, Decimal())
            NSDecimalRound(&whole, &number, 0, .plain)
            return whole == number
        }
        guard isWhole(from), isWhole(to) else { return "\(from)–\(to)" }
        return to - from == 1 ? "\(from)" : "\(from)–\(to - 1)"
    }

    /// The name of the section of `object`.
    func name(of object: AnyObject) -> String {
        switch object {
        case let object as NSManagedObject:
            isStored ? storedName(of: object) : Self.name(for: object.value(forKeyPath: keyPath))
        case let dictionary as NSDictionary: Self.name(for: dictionary.object(forKey: keyPath))
        default: ""
        }
    }

    /// The name by the values in the slots, as stores compute it.
    private func storedName(of object: NSManagedObject) -> String {
        let value = storedValue(of: object)
        if case .text(let text) = value { return text }
        return name(for: value)
    }

    private func storedValue(of object: NSManagedObject) -> SlotValue {
        var row: any RowReadable = object
        for key in keys.dropLast() {
            guard case .toOne(let slot) = row.rowLayout.place(of: key), let next = row.toOneDestination(slot) else {
                return .null
            }
            row = next
        }
        guard let key = keys.last, case .attribute(let slot) = row.rowLayout.place(of: key) else { return .null }
        return row.slotValue(slot)
    }

    /// The name of the section of the rows that have `value`.
    func name(for value: SlotValue) -> String {
        // The fast path for most sections, without a cast.
        if case .text(let text) = value, attribute?.attributeType == .stringAttributeType { return text }
        return Self.name(for: AttributeCoercion.value(value, type: attribute?.attributeType ?? .undefinedAttributeType))
    }

    /// The text of a value: `""` for `nil`, `0` and `1` for a Boolean.
    private static func name(for value: Any?) -> String {
        switch value {
        case nil, is NSNull: ""
        case let text as String: text
        case let flag as Bool where type(of: value as Any) == Bool.self: flag ? "1" : "0"
        case let number as NSNumber: number.stringValue
        case let value?: "\(value)"
        }
    }
}
