import Foundation

/// A key path resolved in the model: the to-one relationships it follows, and its end.
struct ModelKeyPath {
    enum End {
        /// The object itself: `SELF`, `objectID`.
        case object
        /// The object's entity: `entity`.
        case entity
        case attribute(NSAttributeDescription)
        case toOne(NSRelationshipDescription)
        /// A to-many relationship and the rest of the path: `@count`, `@sum.x`, `name`, …
        case toMany(NSRelationshipDescription, rest: [String])
        case fetched(NSFetchedPropertyDescription, rest: [String])
        /// A value of a composite attribute, with its path from there.
        case element(NSCompositeAttributeDescription, path: [String], NSAttributeDescription)
        /// A part of an attribute's value: a text's `length`, or a key of an object.
        case member(NSAttributeDescription, rest: [String])
        /// A property of the managed object that stores do not have, such as `isDeleted`.
        case state(String)
    }

    let toOnes: [NSRelationshipDescription]
    let end: End

    private static let states: Set<String> = [
        "hasChanges", "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted", "isUpdated",
        "managedObjectContext",
    ]

    /// - Throws: a `CocoaError` for an unknown key; it names the key, the entity and the nearest known key.
    init(_ keys: [String], from entity: NSEntityDescription) throws {
        var toOnes: [NSRelationshipDescription] = []
        var current = entity
        for (index, key) in keys.enumerated() {
            let rest = Array(keys[(index + 1)...])
            guard let property = current.property(named: key) else {
                switch key {
                case "self", "SELF", "objectID":
                    if rest.isEmpty {
                        self.toOnes = toOnes
                        end = .object
                        return
                    }
                    if key != "objectID" { continue }
                case "entity" where rest.isEmpty:
                    self.toOnes = toOnes
                    end = .entity
                    return
                case _ where Self.states.contains(key) && rest.isEmpty:
                    self.toOnes = toOnes
                    end = .state(key)
                    return
                default: break
                }
                throw Self.unknown(key, of: current, in: keys)
            }
            switch property {
            case let composite as NSCompositeAttributeDescription where !rest.isEmpty:
                guard let element = composite.element(at: rest[...]) else {
                    throw Self.unknown(rest[rest.count - 1], behind: composite, in: keys)
                }
                end =
                    element is NSCompositeAttributeDescription
                    ? .member(composite, rest: rest) : .element(composite, path: rest, element)
                self.toOnes = toOnes
                return
            case let attribute as NSAttributeDescription:
                if !rest.isEmpty && !attribute.hasMember(rest) {
                    throw Self.unknown(rest[0], behind: attribute, in: keys)
                }
                end = rest.isEmpty ? .attribute(attribute) : .member(attribute, rest: rest)
                self.toOnes = toOnes
                return
            case let relationship as NSRelationshipDescription:
                if relationship.isToMany || rest.isEmpty {
                    end = relationship.isToMany ? .toMany(relationship, rest: rest) : .toOne(relationship)
                    self.toOnes = toOnes
                    return
                }
                guard let destination = relationship.destinationEntity else {
                    throw Self.unknown(key, of: current, in: keys)
                }
                toOnes.append(relationship)
                current = destination
            case let fetched as NSFetchedPropertyDescription:
                end = .fetched(fetched, rest: rest)
                self.toOnes = toOnes
                return
            default:
                throw Self.unknown(key, of: current, in: keys)
            }
        }
        self.toOnes = toOnes
        end = .object
    }

    /// The properties on the path, up to a to-many relationship.
    var properties: [NSPropertyDescription] {
        switch end {
        case .object, .entity, .state: toOnes
        case .attribute(let attribute), .member(let attribute, _): toOnes + [attribute]
        case .element(let composite, _, _): toOnes + [composite]
        case .toOne(let relationship), .toMany(let relationship, _): toOnes + [relationship]
        case .fetched(let property, _): toOnes + [property]
        }
    }

    // MARK: Errors

    private static func unknown(_ key: String, of entity: NSEntityDescription, in keys: [String]) -> NSError {
        let names = entity.properties.map(\.name)
        let hint =
            NearestName.of(key, among: names).map { ": did you mean \"\($0)\"?" }
            ?? ": its keys are \(names.sorted().joined(separator: ", "))"
        return CoreDataError.make(
            134060,
            "keypath \(keys.joined(separator: ".")) not found in entity \(entity.name ?? "?")\(keys.count > 1 ? " (at \"\(key)\")" : "")\(hint)"
        )
    }

    /// The error for a fetched property in a fetch: reading it would run one fetch per row.
    static func refusal(of property: NSFetchedPropertyDescription) -> NSError {
        let entity = property.entity.name ?? "?"
        return CoreDataError.make(
            134060,
            "keypath \(property.name) not found in entity \(entity): fetches cannot compare or sort by a fetched property"
        )
    }

    private static func unknown(_ key: String, behind attribute: NSAttributeDescription, in keys: [String]) -> NSError {
        CoreDataError.make(
            134060,
            "keypath \(keys.joined(separator: ".")) not found: \"\(attribute.name)\" is an attribute, nothing named \"\(key)\" can follow it"
        )
    }
}

extension NSEntityDescription {
    /// The property of that name, own or inherited. One hash lookup.
    func property(named key: String) -> NSPropertyDescription? {
        let layout = layout
        return layout.place(of: key).map(layout.property(at:))
    }
}

extension NSAttributeDescription {
    /// True if the attribute's values are stored as text.
    var holdsText: Bool { attributeType == .stringAttributeType || attributeType == .URIAttributeType }

    /// True if a key path may continue with `rest` after the attribute.
    fileprivate func hasMember(_ rest: [String]) -> Bool {
        switch attributeType {
        case .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType: true
        case .stringAttributeType, .binaryDataAttributeType: rest == ["length"]
        default: false
        }
    }
}

/// Finds the name that a misspelt name probably means.
enum NearestName {
    /// The name with the smallest edit distance from `name`, ignoring case, if it is near enough.
    static func of(_ name: String, among names: [String]) -> String? {
        let wanted = Array(name.lowercased().unicodeScalars)
        let limit = max(1, wanted.count / 3)
        var best: (name: String, distance: Int)?
        for candidate in names.sorted() {
            let distance = distance(wanted, Array(candidate.lowercased().unicodeScalars))
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// The Levenshtein distance.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var previous = Array(0...right.count)
        for (row, leftScalar) in left.enumerated() {
            var current = [row + 1]
            for (column, rightScalar) in right.enumerated() {
                let replaced = previous[column] + (leftScalar == rightScalar ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[right.count]
    }
}
