import CoreData

/// The mapping from the keys in records of one entity to its properties.
final class ImportPlan {
    enum Kind {
        case attribute(NSAttributeDescription, slot: Int, dates: ImportDateFormat?)
        case toOne(NSRelationshipDescription, slot: Int)
        case toMany(NSRelationshipDescription, number: Int)
    }

    struct Rule {
        let name: String
        let kind: Kind
        /// The key paths of the attribute's value in a record; the first that exists is used.
        let paths: [[String]]
        /// True if the attribute gets its default value from a record without its key.
        let usesDefault: Bool
        /// The key that identifies the destination of a relationship.
        let related: ImportKey?

        var isRelationship: Bool {
            if case .attribute = kind { return false }
            return true
        }
    }

    let entity: NSEntityDescription
    let rules: [Rule]
    /// The indices of the rules for attributes, and of those for relationships.
    let attributes: [Int]
    let relationships: [Int]
    /// The key that identifies records; `nil` if there is none.
    let key: ImportKey?
    private var rulesOfKeys: [Int: [Int]] = [:]
    private var lastShape: ImportShape?

    /// - Parameter isMapped: True to use the mapping in the user info.
    init(_ entity: NSEntityDescription, isMapped: Bool, keys: ImportKeys) {
        self.entity = entity
        let layout = entity.layout
        let properties = entity.properties.filter { !($0 is NSFetchedPropertyDescription) }
        let mapped = isMapped ? properties.map(ImportWord.keyPaths) : properties.map { _ in [] }
        let taken = Set(mapped.joined())
        let rules = zip(properties, mapped).compactMap { property, paths -> Rule? in
            // A property's own name is not used if it is mapped to another property.
            let own = paths.contains(property.name) || taken.contains(property.name) ? [] : [property.name]
            guard let kind = Self.kind(of: property, in: layout) else { return nil }
            return Rule(
                name: property.name, kind: kind,
                paths: (paths + own).map { $0.split(separator: ".").map(String.init) },
                usesDefault: isMapped
                    && ImportWord.isSet(ImportWord.useDefaultValueWhenNotPresent, in: property.userInfo),
                related: (property as? NSRelationshipDescription).flatMap {
                    keys.key($0.importKey, of: $0.destinationEntity)
                })
        }
        self.rules = rules
        attributes = rules.indices.filter { !rules[$0].isRelationship }
        relationships = rules.indices.filter { rules[$0].isRelationship }
        key = keys.key(entity.importKey, of: entity)
    }

    private static func kind(of property: NSPropertyDescription, in layout: EntityLayout) -> Kind? {
        switch (property, layout.place(of: property.name)) {
        case (let attribute as NSAttributeDescription, .attribute(let slot)):
            let format = ImportWord.text(ImportWord.dateFormat, in: attribute.userInfo)
            return .attribute(attribute, slot: slot, dates: format.map(ImportDateFormat.init))
        case (let relationship as NSRelationshipDescription, .toOne(let slot)): return .toOne(relationship, slot: slot)
        case (let relationship as NSRelationshipDescription, .toMany(let number)):
            return .toMany(relationship, number: number)
        default: return nil
        }
    }

    /// The positions of the properties in records with these keys. Consecutive records often have the same keys.
    func shape(of fields: ImportFields) -> ImportShape {
        if let lastShape, lastShape.fits(fields) { return lastShape }
        let shape = ImportShape(fields, rules: rules)
        lastShape = shape
        return shape
    }

    /// The values of a key in a record; `nil` if one is missing, null or of the wrong type.
    func identity(of fields: ImportFields, _ shape: ImportShape, by key: ImportKey) -> ImportIdentity? {
        let rules = rules(of: key)
        if rules.count == 1 { return part(rules[0], fields, shape).map(ImportIdentity.one) }
        var parts: [SlotValue] = []
        for rule in rules {
            guard let part = part(rule, fields, shape) else { return nil }
            parts.append(part)
        }
        return parts.isEmpty ? nil : .several(parts)
    }

    private func rules(of key: ImportKey) -> [Int] {
        if let known = rulesOfKeys[key.number] { return known }
        let names = rules.map(\.name)
        let found = key.attributes.compactMap { attribute in names.firstIndex(of: attribute.name) }
        rulesOfKeys[key.number] = found.count == key.attributes.count ? found : []
        return rules(of: key)
    }

    private func part(_ rule: Int, _ fields: ImportFields, _ shape: ImportShape) -> SlotValue? {
        guard let value = shape.value(of: rule, in: fields),
            case .attribute(let attribute, _, let dates) = rules[rule].kind,
            let slot = try? AttributeReading.slotValue(value, for: attribute, dates: dates), !slot.isNull
        else { return nil }
        return slot
    }
}

typealias ImportFields = [(key: String, value: ImportValue)]

/// The positions of the properties in records with the same keys in the same order.
final class ImportShape {
    private let keys: [String]
    /// For each rule, the fields that may contain its value, each with the rest of the key path.
    private let places: [[(field: Int, rest: [String])]]
    /// The first key without a property.
    let unknownKey: String?

    init(_ fields: ImportFields, rules: [ImportPlan.Rule]) {
        keys = fields.map(\.key)
        // Of duplicate keys, the last one is used.
        let fieldsByKey = Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
        places = rules.map { rule in
            rule.paths.compactMap { path in
                path.first.flatMap { fieldsByKey[$0] }.map { ($0, Array(path.dropFirst())) }
            }
        }
        let heads = Set(rules.flatMap { $0.paths.compactMap(\.first) })
        unknownKey = keys.first { !heads.contains($0) }
    }

    func fits(_ fields: ImportFields) -> Bool {
        guard fields.count == keys.count else { return false }
        for index in keys.indices where keys[index] != fields[index].key { return false }
        return true
    }

    /// The record's value of a property; `nil` if the record does not contain one.
    func value(of rule: Int, in fields: ImportFields) -> ImportValue? {
        for (field, rest) in places[rule] {
            if rest.isEmpty { return fields[field].value }
            if let value = Self.value(at: rest, of: fields[field].value) { return value }
        }
        return nil
    }

    private static func value(at path: [String], of value: ImportValue) -> ImportValue? {
        var value = value
        for key in path {
            switch value {
            case .null: return .null
            case .object(let members):
                guard let member = members.last(where: { $0.key == key }) else { return nil }
                value = member.value
            default: return nil
            }
        }
        return value
    }
}
