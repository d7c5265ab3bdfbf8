import Foundation
import PredicateSyntax

/// One entry of the dictionaries that a fetch returns, or one value to group by.
struct DictionaryColumn {
    let name: String
    /// The resolved expression: its keys exist, and functions of constants are constants.
    let tree: ExpressionTree
    /// The key path, through to-one relationships, of a plain property; empty for the object's ID; `nil` if computed.
    let keyPath: [String]?
    /// The type of the result; undefined if the value has no type of its own.
    let type: NSAttributeType
    /// True if predicates and sort keys may use the name: that of an expression.
    let isNamed: Bool

    /// - Throws: 134060 for a property that does not exist, is to-many or is not stored.
    init(_ property: Any, of entity: NSEntityDescription) throws {
        switch property {
        case let name as String: try self.init(named: name, keyPath: name, of: entity)
        case let description as NSExpressionDescription: try self.init(description, of: entity)
        case let description as NSPropertyDescription:
            try self.init(named: description.name, keyPath: description.name, of: entity)
        default:
            throw CoreDataError.make(
                134060, "Cannot fetch \(property) into dictionaries: it is neither a name nor a property description.")
        }
    }

    /// Creates the column of a persistent property of the entity itself.
    init(slotNamed name: String, of entity: NSEntityDescription) {
        let attribute = entity.property(named: name) as? NSAttributeDescription
        self.init(
            name: name, tree: .keyPath([name]), keyPath: [name],
            type: attribute?.attributeType ?? .undefinedAttributeType, isNamed: false)
    }

    private init(name: String, tree: ExpressionTree, keyPath: [String]?, type: NSAttributeType, isNamed: Bool) {
        self.name = name
        self.tree = tree
        self.keyPath = keyPath
        self.type = type
        self.isNamed = isNamed
    }

    private init(
        named name: String, keyPath text: String, type wanted: NSAttributeType = .undefinedAttributeType,
        isNamed: Bool = false, of entity: NSEntityDescription
    ) throws {
        let keys = text.split(separator: ".").map(String.init)
        let path = try ModelKeyPath(keys, from: entity)
        var known = NSAttributeType.undefinedAttributeType
        var chosen: [String]? = keys
        switch path.end {
        case .attribute(let attribute) where !attribute.isTransient: known = attribute.attributeType
        case .element(let composite, _, let leaf) where !composite.isTransient: known = leaf.attributeType
        case .toOne: break
        case .object: chosen = path.toOnes.map(\.name)
        case .toMany(_, let rest) where rest.last == "@count" || rest.dropLast().contains { $0.hasPrefix("@") }:
            chosen = nil
        case .toMany:
            throw CoreDataError.make(134060, "Invalid to-many relationship in setPropertiesToFetch: (\(text))")
        default:
            throw CoreDataError.make(134060, "Cannot fetch \(text) into dictionaries: it is not stored.")
        }
        let resolved = try PredicateResolver(entity: entity).resolve(ExpressionTree.keyPath(keys))
        let isCast = wanted != .undefinedAttributeType && wanted != .objectIDAttributeType && wanted != known
        self.init(
            name: name, tree: chosen?.isEmpty == true ? .evaluatedObject : resolved, keyPath: isCast ? nil : chosen,
            type: isCast ? wanted : known, isNamed: isNamed)
    }

    private init(_ description: NSExpressionDescription, of entity: NSEntityDescription) throws {
        let name = description.name
        switch description.expression?.tree {
        // Without an expression: the property of that name, or no value.
        case nil where entity.property(named: name) != nil:
            try self.init(
                named: name, keyPath: name, type: description.expressionResultType, isNamed: false, of: entity)
        case nil:
            self.init(
                name: name, tree: .constant(nil), keyPath: nil, type: description.expressionResultType, isNamed: true)
        case .keyPath(let keys)?:
            try self.init(
                named: name, keyPath: keys.joined(separator: "."), type: description.expressionResultType,
                isNamed: true, of: entity)
        case let tree?:
            let resolved = try PredicateResolver(entity: entity).resolve(tree)
            try Self.requireStored(resolved, of: entity)
            var keyPath: [String]?
            if case .evaluatedObject = tree { keyPath = [] }
            self.init(
                name: name, tree: resolved, keyPath: keyPath, type: description.expressionResultType, isNamed: true)
        }
    }

    /// The column for groups: `players.name.@count` counts over all rows of a group, like `count:(players.name)`.
    var inGroups: DictionaryColumn {
        guard keyPath == nil, case .keyPath(let keys) = tree, let place = keys.firstIndex(where: { $0.hasPrefix("@") }),
            let function = CollectionOperators.functions[keys[place]]
        else { return self }
        let values = ExpressionTree.keyPath(Array(keys[..<place] + keys[(place + 1)...]))
        return DictionaryColumn(
            name: name, tree: .function(function, [values]), keyPath: nil, type: type, isNamed: isNamed)
    }

    /// Checks that stores have all values that an expression uses.
    ///
    /// - Throws: 134060 if the expression uses a value that is not stored, or code.
    static func requireStored(_ tree: ExpressionTree, of entity: NSEntityDescription) throws {
        _ = try tree.rewritten { part in
            switch part {
            case .keyPath(let keys) where keys.first?.hasPrefix("@") == false:
                switch try ModelKeyPath(keys, from: entity).end {
                case .attribute(let attribute) where attribute.isTransient: break
                case .element(let composite, _, _) where composite.isTransient: break
                case .state: break
                case .fetched(let property, _): throw ModelKeyPath.refusal(of: property)
                default: return nil
                }
                throw CoreDataError.make(
                    134060, "Cannot fetch \(keys.joined(separator: ".")) into dictionaries: it is not stored."
                )
            case .opaque, .functionOn:
                throw CoreDataError.make(134060, "Cannot fetch a block expression into dictionaries.")
            default: return nil
            }
        }
    }

    /// The value for a dictionary: a number of the column's type, an object as its ID; `nil` if not set.
    func result(_ value: PredicateValue) -> Any? {
        switch (value, type) {
        case (.null, _): return nil
        case (.object(let row), _): return row.objectID
        case (.collection(let elements), _): return elements.map { result($0) ?? NSNull() }
        case (.other(let value), _): return (value as? FetchedRow)?.objectID ?? value
        case (.text(let text), .URIAttributeType): return URL(string: text)
        case (.text, .stringAttributeType), (.data, _), (.uuid, _), (.reference, _), (.entity, _): break
        case (_, .stringAttributeType):
            return Casts.cast(value, to: .text("NSString")).foundationValue
        case (_, .decimalAttributeType): return Casts.cast(value, to: .text("NSDecimalNumber")).foundationValue
        default:
            guard let number = value.number else { break }
            return self.number(number) ?? value.foundationValue
        }
        return value.foundationValue
    }

    private func number(_ number: Number) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if case .integer(let whole) = number { return AttributeCoercion.number(whole, type: type) }
            return AttributeCoercion.number(Int64(clampedReal: number.double.rounded(.towardZero)), type: type)
        case .booleanAttributeType: return NumberCoercion.boolean(number.double != 0)
        case .doubleAttributeType: return NSNumber(value: number.double)
        case .floatAttributeType: return NSNumber(value: Float(number.double))
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: number.double)
        default: return nil
        }
    }
}
