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

    /// Whether stores know the value: it is no transient attribute and nothing that only the class knows.
    var isStored: Bool { attribute?.isTransient == false }

    /// The name of the section of `object`.
    func name(of object: AnyObject) -> String {
        switch object {
        case let object as NSManagedObject:
            isStored ? storedName(of: object) : Self.name(for: object.value(forKeyPath: keyPath))
        case let dictionary as NSDictionary: Self.name(for: dictionary.object(forKey: keyPath))
        default: ""
        }
    }

    /// The name by the values in the slots, which is what stores go by.
    private func storedName(of object: NSManagedObject) -> String {
        var row: any RowReadable = object
        for key in keys.dropLast() {
            guard case .toOne(let slot) = row.rowLayout.place(of: key), let next = row.toOneDestination(slot) else {
                return ""
            }
            row = next
        }
        guard let key = keys.last, case .attribute(let slot) = row.rowLayout.place(of: key) else { return "" }
        let value = row.slotValue(slot)
        if case .text(let text) = value { return text }
        return name(for: value)
    }

    /// The name of the section of the rows that have `value`.
    func name(for value: SlotValue) -> String {
        // What nearly all sections go by, without a cast.
        if case .text(let text) = value, attribute?.attributeType == .stringAttributeType { return text }
        return Self.name(for: AttributeCoercion.value(value, type: attribute?.attributeType ?? .undefinedAttributeType))
    }

    /// Names are texts whatever the value: `""` for `nil`, `0` and `1` for a Boolean.
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
