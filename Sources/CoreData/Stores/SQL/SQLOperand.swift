import Foundation

/// One side of a comparison during translation.
enum SQLOperand {
    case constant(PredicateValue)
    case expression(SQLExpression)
    /// The values of a to-many relationship.
    case many(SQLMany)
    /// `{a, b}` with elements that are not all constants.
    case list([SQLOperand])
}

/// SQL with one value for each row.
struct SQLExpression {
    /// The kind of a value. SQL compares only comparable kinds, because its rules for others differ from those of
    /// predicates.
    enum Kind: Equatable {
        /// Integers and Booleans; `isNarrow` if they have at most 32 bits, so that their sum cannot overflow.
        case integer(isNarrow: Bool)
        case real
        /// A date: a number that the table may store as integer or real.
        case date
        /// A decimal, stored as the nearest number that fits the column.
        case decimal
        case text
        case uuid
        case data
        /// The primary key of an object; `root` is the name of its root entity.
        case object(root: String?)
        /// The entity number.
        case entity
        /// A value of which SQL knows only if it is present: an archive, or data in an external file.
        case opaque

        var isNumber: Bool {
            switch self {
            case .integer, .real, .date, .decimal: true
            default: false
            }
        }

        /// True if values of the two kinds compare in SQL as they do in memory.
        func isComparable(with other: Kind) -> Bool {
            switch (self, other) {
            case (.opaque, _), (_, .opaque): false
            case (.object(let root), .object(let other)): root == other
            default: self == other || (isNumber && other.isNumber)
            }
        }
    }

    var fragment: SQLFragment
    var kind: Kind
}

/// A to-many relationship in a statement: the scope of its owner, the to-one path to it, and the remaining keys.
struct SQLMany {
    let scope: Int
    let toOnes: [NSRelationshipDescription]
    let relationship: NSRelationshipDescription
    let rest: [String]
}

extension SQLExpression.Kind {
    init(_ attribute: NSAttributeDescription) {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .booleanAttributeType: self = .integer(isNarrow: true)
        case .integer64AttributeType: self = .integer(isNarrow: false)
        case .doubleAttributeType, .floatAttributeType: self = .real
        case .dateAttributeType: self = .date
        case .decimalAttributeType: self = .decimal
        case .stringAttributeType, .URIAttributeType: self = .text
        case .UUIDAttributeType: self = .uuid
        case .binaryDataAttributeType: self = attribute.allowsExternalBinaryDataStorage ? .opaque : .data
        default: self = .opaque
        }
    }
}

extension PredicateToSQL {
    /// Returns the bound value for a constant that is compared with an expression of `kind`.
    ///
    /// - Returns: `nil` for a null value.
    /// - Throws: ``NeedsMemory`` if SQL would compare differently from memory.
    func bound(_ value: PredicateValue, for kind: SQLExpression.Kind) throws -> SQLValue? {
        try plainlyBound(value, for: kind).map { try schema.dialect.comparable($0, with: kind) }
    }

    /// True if two expressions compare in the database as their values do in memory.
    func isComparable(_ left: SQLExpression, _ right: SQLExpression) -> Bool {
        left.kind.isComparable(with: right.kind) && schema.dialect.compares(left.kind, with: right.kind)
    }

    private func plainlyBound(_ value: PredicateValue, for kind: SQLExpression.Kind) throws -> SQLValue? {
        switch (value, kind) {
        case (.null, _): return nil
        case (.integer(let number), _) where kind.isNumber: return .integer(number)
        case (.real(let number), _) where kind.isNumber, (.date(let number), _) where kind.isNumber:
            if number.isNaN { break }
            return .real(number)
        case (.decimal(let decimal), .decimal) where schema.dialect.keepsDecimals && !decimal.isNaN:
            return .decimal(decimal)
        case (.decimal(let decimal), _) where kind.isNumber: return try bound(decimal)
        case (.text(let text), .text): return .text(text)
        case (.uuid(let uuid), .uuid): return .uuid(uuid)
        case (.data(let data), .data): return .blob(data)
        case (.object, .object(let root)), (.reference, .object(let root)):
            return .integer(primaryKey(of: value, root: root))
        case (.entity(let entity), .entity):
            return .integer(schema.entityNumbers(of: entity, includingSubentities: false).first ?? Self.noPrimaryKey)
        default: break
        }
        throw NeedsMemory("values of different kinds are compared in memory")
    }

    /// A key that no row has: primary keys are positive.
    private static let noPrimaryKey: Int64 = -1

    /// Returns the key of an object's row, or ``noPrimaryKey`` for one that is not saved or is of another hierarchy or
    /// store.
    private func primaryKey(of value: PredicateValue, root: String?) -> Int64 {
        guard let id = value.objectID, id.entity.rootName == root, case .permanent(let number) = id.reference,
            storeIdentifier == nil || id.storeIdentifier == storeIdentifier
        else { return Self.noPrimaryKey }
        return number
    }

    /// Returns the number that a column stores for a decimal, if it is exactly equal.
    private func bound(_ decimal: Decimal) throws -> SQLValue {
        switch Number(decimal) {
        case .integer(let number): return .integer(number)
        case .real(let number):
            guard number.isFinite, Decimal(string: "\(number)", locale: nil) == decimal else {
                throw NeedsMemory("\(decimal) has more digits than a column holds")
            }
            return .real(number)
        }
    }
}
