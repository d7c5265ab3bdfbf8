import Foundation
import PredicateSyntax

/// A value during the evaluation of a predicate or an expression.
package enum PredicateValue {
    case null
    /// An integer or Boolean.
    case integer(Int64)
    case real(Double)
    case decimal(Decimal)
    /// Seconds since 2001. Compared with numbers by its seconds.
    case date(Double)
    case text(String)
    case data(Data)
    case uuid(UUID)
    case object(any RowReadable)
    /// A managed object known only by its ID.
    case reference(NSManagedObjectID)
    case entity(NSEntityDescription)
    case collection([PredicateValue])
    /// Any other value, compared with `isEqual`.
    case other(Any)

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The identity of a managed object.
    var objectID: NSManagedObjectID? {
        switch self {
        case .object(let row): row.objectID
        case .reference(let id): id
        default: nil
        }
    }

    /// The values for ANY, ALL and aggregate functions: a collection's elements, or the value itself.
    var elements: [PredicateValue] {
        switch self {
        case .collection(let elements): elements
        case .null: []
        default: [self]
        }
    }
}

// MARK: From and to Foundation

extension PredicateValue {
    /// A value of any type from the public API.
    init(_ value: Any?) {
        guard let value else {
            self = .null
            return
        }
        switch value {
        case let text as String: self = .text(text)
        case let row as any RowReadable: self = .object(row)
        case let id as NSManagedObjectID: self = .reference(id)
        case let decimal as NSDecimalNumber: self = .decimal(decimal.decimalValue)
        case let decimal as Decimal: self = .decimal(decimal)
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let number as NSNumber: self.init(number: number)
        case is NSNull: self = .null
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .text(url.absoluteString)
        case let entity as NSEntityDescription: self = .entity(entity)
        default: self.init(collectionOrOther: value)
        }
    }

    private init(number: NSNumber) {
        switch number.objCType[0] {
        case 0x64, 0x66: self = .real(number.doubleValue)  // d, f
        case 0x51 where number.uint64Value > UInt64(Int64.max): self = .real(number.doubleValue)  // Q
        default: self = .integer(number.int64Value)
        }
    }

    private init(collectionOrOther value: Any) {
        if let set = SetElements.of(value) {
            self = .collection(set.map { PredicateValue($0) })
        } else if type(of: value) is AnyClass {
            self.init(objectOrOther: value)
        } else {
            self.init(swiftCollectionOrOther: value)
        }
    }

    private init(objectOrOther value: Any) {
        switch value {
        case let list as NSArray: self = .collection(list.map { PredicateValue($0) })
        case let set as NSOrderedSet: self = .collection(set.map { PredicateValue($0) })
        case is NSDictionary: self = .other(value)
        default: self.init(swiftCollectionOrOther: value)
        }
    }

    private init(swiftCollectionOrOther value: Any) {
        switch value {
        case let list as [Any]: self = .collection(list.map { PredicateValue($0) })
        case is [AnyHashable: Any]: self = .other(value)
        case let text as any StringProtocol: self = .text(String(text))
        case let values as any Collection: self = .collection(values.map { PredicateValue($0) })
        case let wrapped as any RawRepresentable: self.init(wrapped.rawValue)
        default: self = .other(value)
        }
    }

    /// The value in a slot of a known property.
    init(_ slot: SlotValue, isDate: Bool) {
        switch slot {
        case .null: self = .null
        case .integer(let number): self = isDate ? .date(Double(number)) : .integer(number)
        case .real(let number): self = isDate ? .date(number) : .real(number)
        case .text(let text): self = .text(text)
        case .data(let data): self = .data(data)
        case .uuid(let uuid): self = .uuid(uuid)
        case .decimal(let decimal): self = .decimal(decimal.decimalValue)
        case .object(let object): self = .other(object)
        case .reference(let id): self = .reference(id)
        }
    }

    /// The public form of the value: `NSNumber`s for numbers, arrays for collections.
    var foundationValue: Any? {
        switch self {
        case .null: nil
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .decimal(let decimal): NSDecimalNumber(decimal: decimal)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .text(let text): text
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .object(let row): row
        case .reference(let id): id
        case .entity(let entity): entity
        case .collection(let elements): elements.map { $0.foundationValue ?? NSNull() }
        case .other(let value): value
        }
    }
}
