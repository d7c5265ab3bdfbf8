import PredicateSyntax

/// The source of a derived attribute's values, parsed from its expression.
///
/// The forms are Apple's: a key path over to-one relationships; `uppercase:`, `lowercase:` or `canonical:` of one;
/// `relationship.@count`; `relationship.key.@sum`; and `now()`.
package struct Derivation {
    package enum Source {
        /// The value of the attribute at the end of ``Derivation/hops``, with the function applied.
        case value(NSAttributeDescription, TextFunction?)
        /// The number of objects at the end of the hops.
        case count
        /// The sum of an attribute of all objects at the end of the hops.
        case sum(NSAttributeDescription)
        /// The time of the save.
        case now
    }

    package let attribute: NSDerivedAttributeDescription
    package let entity: NSEntityDescription
    /// The relationships from the object to the source. At most one is to-many.
    package let hops: [NSRelationshipDescription]
    package let source: Source

    /// - Throws: 134060 for an expression of another form, or one that does not match the model.
    package init(_ attribute: NSDerivedAttributeDescription, of entity: NSEntityDescription) throws {
        self.attribute = attribute
        self.entity = entity
        let reader = DerivationReader(attribute: attribute, entity: entity)
        (hops, source) = try reader.read()
    }

    /// Returns the derivations of the entity's own attributes, sorted by name.
    ///
    /// - Throws: as the initialiser.
    package static func all(of entity: NSEntityDescription) throws -> [Derivation] {
        try entity.ownProperties.sorted { $0.name < $1.name }.compactMap { property in
            guard let derived = property as? NSDerivedAttributeDescription, !derived.isTransient else { return nil }
            return try Derivation(derived, of: entity)
        }
    }
}

/// Reads one derivation expression.
private struct DerivationReader {
    let attribute: NSDerivedAttributeDescription
    let entity: NSEntityDescription

    typealias Reading = (hops: [NSRelationshipDescription], source: Derivation.Source)

    func read() throws -> Reading {
        guard attribute.filteringPredicate == nil else { throw refusal("derivations with a filter are not supported") }
        switch attribute.derivationExpression?.tree {
        case nil: throw refusal("it has no derivation expression")
        case .function("now", let arguments)? where arguments.isEmpty:
            guard attribute.attributeType == .dateAttributeType else { throw refusal("now() needs a date attribute") }
            return ([], .now)
        case .function(let name, let arguments)?:
            guard arguments.count == 1, case .keyPath(let keys) = arguments[0] else {
                throw refusal("the argument of \(name) is not a key path")
            }
            return try function(name, keys)
        case .keyPath(let keys)?:
            guard let last = keys.last, last.hasPrefix("@") else { return try value(keys, nil) }
            return try aggregate(last, Array(keys.dropLast()))
        default:
            throw refusal("derivations do not support this form of expression")
        }
    }

    private func function(_ name: String, _ keys: [String]) throws -> Reading {
        switch (name, TextFunction(name)) {
        case ("count:", _): return try aggregate("@count", keys)
        case ("sum:", _): return try aggregate("@sum", keys)
        case (_, let function?) where function != .length: return try value(keys, function)
        default: throw refusal("derivations do not support the function \(name)")
        }
    }

    private func value(_ keys: [String], _ function: TextFunction?) throws -> Reading {
        let (hops, end) = try walk(keys)
        guard let end else { throw refusal("the key path \(keys.joined(separator: ".")) does not end at an attribute") }
        guard !hops.contains(where: \.isToMany) else {
            throw refusal("a to-many relationship needs @count or @sum at the end of the key path")
        }
        guard function == nil || (end.attributeType == .stringAttributeType && attribute.holdsText) else {
            throw refusal("the function needs strings")
        }
        guard fits(end) else { throw refusal("its type does not match that of \(end.name)") }
        return (hops, .value(end, function))
    }

    private func aggregate(_ name: String, _ keys: [String]) throws -> Reading {
        let (hops, end) = try walk(keys)
        guard hops.count(where: \.isToMany) == 1 else {
            throw refusal("\(name) needs exactly one to-many relationship before it")
        }
        guard ValueCoding(attribute)?.isNumber == true else { throw refusal("\(name) needs a numeric attribute") }
        switch name {
        case "@count":
            guard end == nil, hops.last?.isToMany == true else {
                throw refusal("@count must follow a to-many relationship")
            }
            return (hops, .count)
        case "@sum":
            guard let end, ValueCoding(end)?.isNumber == true else {
                throw refusal("@sum must follow a numeric attribute")
            }
            return (hops, .sum(end))
        default: throw refusal("derivations support only @count and @sum, not \(name)")
        }
    }

    /// Resolves a key path to its relationships and the attribute at its end, if there is one.
    private func walk(_ keys: [String]) throws -> ([NSRelationshipDescription], NSAttributeDescription?) {
        var hops: [NSRelationshipDescription] = []
        var current = entity
        for (index, key) in keys.enumerated() {
            if key.hasPrefix("@") { throw refusal("\(key) must be at the end of the key path") }
            switch current.property(named: key) {
            case let relationship as NSRelationshipDescription where !relationship.isTransient:
                guard let destination = relationship.destinationEntity else { break }
                hops.append(relationship)
                current = destination
                continue
            case let end as NSAttributeDescription where index == keys.count - 1:
                guard !end.isTransient, end !== attribute else { break }
                return (hops, end)
            default: break
            }
            throw refusal(
                "\(entity.name ?? "") has no value at the key path \(keys.joined(separator: "."))")
        }
        return (hops, nil)
    }

    private func fits(_ end: NSAttributeDescription) -> Bool {
        guard let mine = ValueCoding(attribute), let theirs = ValueCoding(end) else { return false }
        switch theirs {
        case .externalData, .transformable, .reference, .composite: return false
        default: return mine == theirs || (mine.isNumber && theirs.isNumber)
        }
    }

    private func refusal(_ reason: String) -> NSError {
        let expression = attribute.derivationExpression.map { " (\($0))" } ?? ""
        return CoreDataError.make(
            134060,
            "Cannot maintain the derived attribute \(entity.name ?? "").\(attribute.name)\(expression): \(reason).",
            userInfo: ["entity": entity.name ?? "", "property": attribute.name, "reason": reason])
    }
}

extension ValueCoding {
    fileprivate var isNumber: Bool { self == .integer || self == .real || self == .decimal }
}
