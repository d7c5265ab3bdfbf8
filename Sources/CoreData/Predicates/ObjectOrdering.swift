import Foundation

/// The order of an entity's objects by sort keys, identical to the order of the store's SQL.
///
/// `nil` is first in ascending order. Numbers and dates are ordered by value, texts by their UTF-8 bytes or by their
/// comparison, and equal objects by identity. Objects without a permanent ID follow the others, in order of
/// insertion. The order is total: no two objects are equal in it.
struct ObjectOrdering {
    /// The comparison for one key. It has no reference to retain, because each comparison reads it.
    private struct Rule {
        let isAscending: Bool
        let comparison: StoreSortKey.Comparison
        let hasCode: Bool

        /// True if values are compared directly, not by a comparator or locale rules.
        var isByValue: Bool { !hasCode && (comparison == .plain || comparison == .caseInsensitive) }
    }

    private enum Access {
        case slot(SlotAccess)
        case path([String])
        case identity
    }

    /// The compiled sort keys.
    let sortKeys: [StoreSortKey]
    private let rules: [Rule]
    private let accesses: [Access]
    private let comparators: [Comparator?]
    /// True if all values are in slots of the rows and are compared directly.
    let isBySlots: Bool

    /// - Throws: a `CocoaError` for an unknown key, and for a Swift key path without a key.
    init(_ descriptors: [NSSortDescriptor], entity: NSEntityDescription) throws {
        for descriptor in descriptors where descriptor.isOfNoKey {
            throw CoreDataError.make(
                134060,
                "Cannot sort \(entity.name ?? "") by the key path \(descriptor.keyPath): it is not a property in the model."
            )
        }
        try self.init(descriptors.map(\.storeSortKey), comparators: descriptors.map(\.customComparator), entity: entity)
    }

    /// - Parameter sortKeys: none may be `custom`, whose comparator only its descriptor has.
    /// - Throws: 134060 for a key path that does not read a modelled property.
    init(sortKeys: [StoreSortKey], entity: NSEntityDescription) throws {
        try self.init(sortKeys, comparators: sortKeys.map { _ in nil }, entity: entity)
    }

    private init(_ sortKeys: [StoreSortKey], comparators: [Comparator?], entity: NSEntityDescription) throws {
        self.sortKeys = sortKeys
        self.comparators = comparators
        rules = zip(sortKeys, comparators).map { key, code in
            Rule(isAscending: key.ascending, comparison: key.comparison, hasCode: code != nil)
        }
        accesses = try sortKeys.map { key in
            if case .object = try ModelKeyPath(key.keyPath, from: entity).end, key.keyPath.count == 1 {
                return .identity
            }
            guard key.keyPath.count == 1, let slot = SlotAccess(key.keyPath[0], of: entity) else {
                return .path(key.keyPath)
            }
            return .slot(slot)
        }
        isBySlots = zip(rules, accesses).allSatisfy { rule, access in
            guard case .slot = access else { return false }
            return !rule.hasCode && rule.comparison != .caseInsensitive
        }
    }

    // MARK: Values

    /// Storage for the values of `count` rows.
    func values(ofRows count: Int) -> SortValues { SortValues(width: rules.count, capacity: count) }

    /// Appends the values that order a row, one for each sort key. May fire a fault.
    func read(_ row: any RowReadable, into values: inout SortValues) {
        for index in accesses.indices { values.append(value(of: row, index)) }
        values.endRow()
    }

    private func value(of row: any RowReadable, _ index: Int) -> SlotValue {
        let value: SlotValue
        switch accesses[index] {
        case .slot(let access): value = access.value(of: row)
        case .identity: value = .reference(row.objectID)
        case .path(let path): value = SlotValue(KeyReader.read(path, of: .object(row)))
        }
        // The folded text is compared. It is computed once per object rather than in every comparison.
        if rules[index].comparison == .caseInsensitive, case .text(let text) = value {
            return .data(Data(TextFolding.bytes(of: text, .caseInsensitive)))
        }
        return value
    }

    /// The order of two rows by value, given by their numbers in the list. Ignores identity.
    // SAFETY: the numbers of rows are below the count of `values`, which outlives the closure.
    func compare(_ values: SortValues, _ left: Int, _ right: Int) -> ComparisonResult {
        values.all.withUnsafeBufferPointer { compare($0, left, right) }
    }

    // SAFETY: the numbers of rows are below the count of `values`, which the caller holds.
    @inline(__always)
    private func compare(_ values: UnsafeBufferPointer<SlotValue>, _ left: Int, _ right: Int) -> ComparisonResult {
        let width = rules.count
        for index in 0..<width {
            let result = compare(values[left * width + index], values[right * width + index], index)
            if result != .orderedSame { return result.directed(rules[index].isAscending) }
        }
        return .orderedSame
    }

    // MARK: Slots

    /// The slots of the sort keys in a layout; -1 for a missing key. Only for an order by slots.
    func slots(in layout: EntityLayout) -> [Int] {
        accesses.map { access in if case .slot(let slot) = access { slot.slot(in: layout) } else { -1 } }
    }

    /// The order of an object and a row by value. Reads only the values it needs, and ignores identity.
    ///
    /// - Parameter slots: the sort keys' slots in the object's layout.
    func compare(_ object: some RowReadable, _ slots: [Int], _ values: SortValues, _ row: Int) -> ComparisonResult {
        for index in slots.indices {
            let value = slots[index] < 0 ? .null : object.slotValue(slots[index])
            let result = Self.compare(value, values.all[row * slots.count + index], rules[index].comparison)
            if result != .orderedSame { return result.directed(rules[index].isAscending) }
        }
        return .orderedSame
    }

    // MARK: Objects

    /// The order of two objects; `orderedSame` only for the same object.
    func compare(_ left: any RowReadable, _ right: any RowReadable) -> ComparisonResult {
        var values = values(ofRows: 2)
        read(left, into: &values)
        read(right, into: &values)
        let result = compare(values, 0, 1)
        return result == .orderedSame ? Self.compare(left.objectID, right.objectID) : result
    }

    /// The indexes of `objects` in sorted order. Values of later keys are read only if earlier keys are equal. For
    /// objects that are equal so far, all values are read again.
    func places(of objects: [some RowReadable]) -> [Int] {
        var words = SortWords(count: objects.count)
        for (index, rule) in rules.enumerated() {
            guard rule.isByValue else { break }
            guard words.append(objects.map { value(of: $0, index) }, isAscending: rule.isAscending) else { break }
        }
        var order = words.all.enumerated().map { (word: $1, place: $0) }
        order.sort { left, right in left.word == right.word ? left.place < right.place : left.word < right.word }
        Self.forEachRun(of: order.map(\.word)) { run in
            let places = order[run].map(\.place)
            var values = values(ofRows: places.count)
            for place in places { read(objects[place], into: &values) }
            let sorted = sortedPlaces(of: values, id: { objects[places[$0]].objectID })
            for (index, place) in zip(run, sorted) { order[index].place = places[place] }
        }
        return order.map(\.place)
    }

    /// Calls `body` with each range of equal adjacent words.
    private static func forEachRun(of words: [UInt64], _ body: (Range<Int>) -> Void) {
        var start = 0
        for place in words.indices.dropFirst() where words[place] != words[start] {
            if place - start > 1 { body(start..<place) }
            start = place
        }
        if words.count - start > 1 { body(start..<words.count) }
    }

    /// The row numbers in sorted order.
    ///
    /// Most values differ early, so each row gets the beginning of its first value as a number. The values themselves
    /// are compared only if these numbers are equal.
    ///
    /// - Parameter id: returns the identity of a row if all values are equal.
    func sortedPlaces(of values: SortValues, id: (Int) -> NSManagedObjectID) -> [Int] {
        sortedPlaces(of: values, id: id, check: {})
    }

    /// Sorts the rows. Calls `check` before long comparisons and periodically between others, and rethrows its error.
    // SAFETY: places are those of `values`, which outlives the closure.
    func sortedPlaces(
        of values: SortValues, id: (Int) -> NSManagedObjectID, check: () throws -> Void
    ) rethrows -> [Int] {
        let beginnings = ValueBeginning.list(
            of: values, isAscending: rules.first?.isAscending ?? true, rules.first?.isByValue ?? false)
        var order = beginnings.enumerated().map { (beginning: $1, place: $0) }
        var short = 0
        try values.all.withUnsafeBufferPointer { values in
            try order.sort { left, right in
                if left.beginning != right.beginning {
                    short &+= 1
                    if short & 0xFFFF == 0 { try check() }
                    return left.beginning < right.beginning
                }
                try check()
                var result = compare(values, left.place, right.place)
                if result == .orderedSame { result = Self.compare(id(left.place), id(right.place)) }
                return result == .orderedSame ? left.place < right.place : result == .orderedAscending
            }
        }
        return order.map(\.place)
    }

    /// The order of identities, always ascending: permanent IDs by number, then temporary IDs by theirs.
    static func compare(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> ComparisonResult {
        switch (left.reference, right.reference) {
        case (.permanent(let left), .permanent(let right)): ValueOrder.order(left, right)
        case (.temporary(let left), .temporary(let right)): ValueOrder.order(left, right)
        case (.permanent, .temporary): .orderedAscending
        case (.temporary, .permanent): .orderedDescending
        }
    }

    // MARK: One key

    private func compare(_ left: SlotValue, _ right: SlotValue, _ index: Int) -> ComparisonResult {
        if rules[index].hasCode, let code = comparators[index] {
            switch (left.isNull, right.isNull) {
            case (true, true): return .orderedSame
            case (true, false): return .orderedAscending
            case (false, true): return .orderedDescending
            case (false, false): return code(Self.foundationValue(left), Self.foundationValue(right))
            }
        }
        return Self.compare(left, right, rules[index].comparison)
    }

    private static func foundationValue(_ value: SlotValue) -> Any {
        if case .object(let box as OrderedValue) = value { return box.value.foundationValue ?? NSNull() }
        return PredicateValue(value, isDate: false).foundationValue ?? NSNull()
    }

    /// Compares two values of one key: `nil` first, then by value.
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

/// A sort key's value that does not fit a slot.
private final class OrderedValue: NSObject {
    let value: PredicateValue
    init(_ value: PredicateValue) { self.value = value }
}

extension PredicateValue {
    /// The value in a slot of any property.
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

/// The order of an attribute's values in a store.
enum SlotOrder {
    case number
    case text
    case bytes

    /// `nil` if the attribute's values have no order in a store: it is transient, transformable, composite or
    /// undefined, or its data may be outside the store's file.
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
