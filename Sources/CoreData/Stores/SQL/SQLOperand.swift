import Foundation

/// One side of a comparison on its way into SQL.
enum SQLOperand {
    case constant(PredicateValue)
    case expression(SQLExpression)
    /// The values behind a to-many relationship.
    case many(SQLMany)
    /// `{a, b}` of which not all are constants.
    case list([SQLOperand])
}

/// SQL that gives one value for each row.
struct SQLExpression {
    /// The kind of its value. Only values of comparable kinds are compared in SQL: its own rules for others are not
    /// the predicates'.
    enum Kind: Equatable {
        /// Whole numbers and Booleans; `isNarrow` if of at most 32 bits, so that no sum of them overflows.
        case integer(isNarrow: Bool)
        case real
        /// A date: a number that the table may hold as an integer or a real.
        case date
        /// A decimal: kept as the nearest number that a column can hold.
        case decimal
        case text
        /// A UUID.
        case uuid
        case data
        /// The primary key of an object of an entity family, by the name of its root.
        case object(root: String?)
        /// The number of an entity.
        case entity
        /// Nothing but whether there is a value can be told: archives, data outside the file.
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

/// A to-many relationship in a statement: its owner's table, the way there, and what follows behind it.
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
    /// The bound value for a constant that is compared with an expression of `kind`.
    ///
    /// - Returns: `nil` for `nil`.
    /// - Throws: ``NeedsMemory`` where SQL would compare otherwise than memory does.
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

    /// A number that no row has: primary keys are positive.
    private static let noPrimaryKey: Int64 = -1

    /// The key of an object's row. An object that is not saved, of another entity or in another store is none of the rows.
    private func primaryKey(of value: PredicateValue, root: String?) -> Int64 {
        guard let id = value.objectID, id.entity.rootName == root, case .permanent(let number) = id.reference,
            storeIdentifier == nil || id.storeIdentifier == storeIdentifier
        else { return Self.noPrimaryKey }
        return number
    }

    /// The decimal as the number that a column holds, if that is the decimal and no neighbour.
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
