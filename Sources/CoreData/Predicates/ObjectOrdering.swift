import Foundation

/// The order of an entity's objects under sort keys, exactly as the store's SQL gives it.
///
/// `nil` is first in ascending order; numbers and dates by value, texts by the bytes of their UTF-8 or as their comparison
/// says, the identity last: objects without permanent ID stand behind the others, in the order of their insertion. So the
/// order is total: two objects are never the same in it.
struct ObjectOrdering {
    /// One key, compiled.
    private struct Key {
        let access: Access
        let isAscending: Bool
        let comparison: StoreSortKey.Comparison
        let code: Comparator?
    }

    private enum Access {
        case slot(SlotAccess)
        case path([String])
        case identity
    }

    /// What was compiled.
    let sortKeys: [StoreSortKey]
    private let keys: [Key]

    /// - Throws: a `CocoaError` for a key that the entity does not have.
    init(_ descriptors: [NSSortDescriptor], entity: NSEntityDescription) throws {
        try self.init(descriptors.map(\.storeSortKey), comparators: descriptors.map(\.customComparator), entity: entity)
    }

    /// - Parameter sortKeys: none of them `custom`, whose code only its descriptor knows.
    /// - Throws: as above.
    init(sortKeys: [StoreSortKey], entity: NSEntityDescription) throws {
        try self.init(sortKeys, comparators: sortKeys.map { _ in nil }, entity: entity)
    }

    private init(_ sortKeys: [StoreSortKey], comparators: [Comparator?], entity: NSEntityDescription) throws {
        self.sortKeys = sortKeys
        keys = try zip(sortKeys, comparators).map { key, code in
            let access: Access
            if case .object = try ModelKeyPath(key.keyPath, from: entity).end, key.keyPath.count == 1 {
                access = .identity
            } else if key.keyPath.count == 1, let slot = SlotAccess(key.keyPath[0], of: entity) {
                access = .slot(slot)
            } else {
                access = .path(key.keyPath)
            }
            return Key(access: access, isAscending: key.ascending, comparison: key.comparison, code: code)
        }
    }

    // MARK: Values

    /// The values by which an object is ordered, one for each sort key: what ``compare(_:_:)-values`` takes. Reading them
    /// may fire a fault.
    func values(of row: any RowReadable) -> [SlotValue] {
        keys.map { key in
            let value: SlotValue
            switch key.access {
            case .slot(let access): value = access.value(of: row)
            case .identity: value = .reference(row.objectID)
            case .path(let path): value = SlotValue(KeyReader.read(path, of: .object(row)))
            }
            // The fold is what is compared: made once for each object instead of in every comparison.
            if key.comparison == .caseInsensitive, case .text(let text) = value {
                return .data(Data(TextFolding.bytes(of: text, .caseInsensitive)))
            }
            return value
        }
    }

    /// The order of two lists of values from ``values(of:)``, without the identity.
    func compare(_ left: [SlotValue], _ right: [SlotValue]) -> ComparisonResult {
        for (index, key) in keys.enumerated() {
            let result = compare(left[index], right[index], key)
            if result != .orderedSame { return result.directed(key.isAscending) }
        }
        return .orderedSame
    }

    // MARK: Objects

    /// The order of two objects; `orderedSame` only for one and the same.
    func compare(_ left: any RowReadable, _ right: any RowReadable) -> ComparisonResult {
        let result = compare(values(of: left), values(of: right))
        return result == .orderedSame ? Self.compare(left.objectID, right.objectID) : result
    }

    /// `objects` in order. Reads the values of each object once.
    func sorted<Object: RowReadable>(_ objects: [Object]) -> [Object] {
        sortedPlaces(of: objects.map(values), id: { objects[$0].objectID }).map { objects[$0] }
    }

    /// The places of rows in their order: of rows whose values are given, as ``values(of:)`` makes them.
    ///
    /// Most comparisons of a sort are between values that differ early, so each row gets the beginning of its first value
    /// as a number; only where these are equal the values themselves are looked at.
    ///
    /// - Parameter id: the identity of a row, asked for where all values are equal.
    func sortedPlaces(of values: [[SlotValue]], id: (Int) -> NSManagedObjectID) -> [Int] {
        let beginnings = ValueBeginning.list(
            of: values, isAscending: keys.first?.isAscending ?? true,
            keys.first.map {
                $0.code == nil && ($0.comparison == .plain || $0.comparison == .caseInsensitive)
            } ?? false)
        var order = beginnings.enumerated().map { (beginning: $1, place: $0) }
        values.withUnsafeBufferPointer { values in
            order.sort { left, right in
                if left.beginning != right.beginning { return left.beginning < right.beginning }
                var result = compare(values[left.place], values[right.place])
                if result == .orderedSame { result = Self.compare(id(left.place), id(right.place)) }
                return result == .orderedSame ? left.place < right.place : result == .orderedAscending
            }
        }
        return order.map(\.place)
    }

    /// The order of identities, always ascending: permanent ones by their number, then temporary ones by theirs.
    static func compare(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> ComparisonResult {
        switch (left.reference, right.reference) {
        case (.permanent(let left), .permanent(let right)): ValueOrder.order(left, right)
        case (.temporary(let left), .temporary(let right)): ValueOrder.order(left, right)
        case (.permanent, .temporary): .orderedAscending
        case (.temporary, .permanent): .orderedDescending
        }
    }

    // MARK: One key

    private func compare(_ left: SlotValue, _ right: SlotValue, _ key: Key) -> ComparisonResult {
        if let code = key.code {
            switch (left.isNull, right.isNull) {
            case (true, true): return .orderedSame
            case (true, false): return .orderedAscending
            case (false, true): return .orderedDescending
            case (false, false): return code(Self.foundationValue(left), Self.foundationValue(right))
            }
        }
        return Self.compare(left, right, key.comparison)
    }

    private static func foundationValue(_ value: SlotValue) -> Any {
        if case .object(let box as OrderedValue) = value { return box.value.foundationValue ?? NSNull() }
        return PredicateValue(value, isDate: false).foundationValue ?? NSNull()
    }

    /// Two values of one key: `nil` first, then by value.
    private static func compare(
        _ left: SlotValue, _ right: SlotValue, _ comparison: StoreSortKey.Comparison
    ) -> ComparisonResult {
        switch (left, right) {
        case (.null, .null): return .orderedSame
        case (.null, _): return .orderedAscending
        case (_, .null): return .orderedDescending
        case (.integer(let left), .integer(let right)): return ValueOrder.order(left, right)
        case (.real(let left), .real(let right)): return ValueOrder.order(left, right)
        case (.text(let left), .text(let right)): return LocalizedOrder.compare(left, right, comparison)
        case (.data(let left), .data(let right)): return TextBytes.compare(left, right)
        case (.reference(let left), .reference(let right)): return compare(left, right)
        default: return ValueOrder.compareForSorting(PredicateValue(left), PredicateValue(right), comparison)
        }
    }
}

/// A value that has no form in a slot of its own, as a sort key's value.
private final class OrderedValue: NSObject {
    let value: PredicateValue
    init(_ value: PredicateValue) { self.value = value }
}

extension PredicateValue {
    /// The value that a slot holds, whatever its property.
    fileprivate init(_ slot: SlotValue) {
        if case .object(let box as OrderedValue) = slot {
            self = box.value
        } else {
            self.init(slot, isDate: false)
        }
    }
}

extension SlotValue {
    fileprivate init(_ value: PredicateValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number), .date(let number): self = .real(number)
        case .text(let text): self = .text(text)
        case .data(let data): self = .data(data)
        case .uuid(let uuid): self = .uuid(uuid)
        case .decimal(let decimal): self = .decimal(NSDecimalNumber(decimal: decimal))
        case .object(let row): self = .reference(row.objectID)
        case .reference(let id): self = .reference(id)
        case .entity, .collection, .other: self = .object(OrderedValue(value))
        }
    }
}

/// How the values of an attribute are ordered in a store, and that they are.
enum SlotOrder {
    case number
    case text
    case bytes

    /// `nil` for an attribute whose values have no order there: a transient, transformable, composite or undefined one, or
    /// data that may lie outside the store's file.
    init?(_ attribute: NSAttributeDescription) {
        if attribute.isTransient { return nil }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType:
            self = .number
        case .stringAttributeType, .URIAttributeType: self = .text
        case .UUIDAttributeType: self = .bytes
        case .binaryDataAttributeType:
            if attribute.allowsExternalBinaryDataStorage { return nil }
            self = .bytes
        default: return nil
        }
    }
}
