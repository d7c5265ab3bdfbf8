import Foundation

/// Evaluates a key path on a sample object of its class without a context, and on objects of its relationships.
///
/// The key is that of the only property that the key path reads, if the key path always returns that property's value.
final class KeyPathSearch {
    private let keyPath: AnyKeyPath
    private let kind: Kind
    private let root: NSManagedObject
    /// The root, and the objects in its relationships.
    private var samples: [NSManagedObject] = []

    /// The maximum number of to-one relationships in a key path.
    private static let depth = 3

    init(_ keyPath: AnyKeyPath, _ type: NSManagedObject.Type, _ entity: NSEntityDescription) {
        self.keyPath = keyPath
        kind = Kind(keyPath)
        root = Self.blank(type, entity, depth: Self.depth, &samples)
    }

    /// Returns the key; `nil` if the key path is not of a model property.
    func key() -> String? {
        SampleReads.record(of: samples)
        defer { SampleReads.forget(samples) }
        let found = UnknownRawValues.noting { seen(in: root) }
        guard let found, found.count == 1, let key = found.first else { return nil }
        let reads = samples.flatMap { object in SampleReads.reads(of: object).map { (object.entity, $0) } }
        for (entity, read) in reads {
            guard let step = key.steps.lastIndex(where: { $0.entity === entity && $0.place == read.place }) else {
                return nil
            }
            if step == key.steps.count - 1, key.isValue, let type = read.type, !kind.fits(type) { return nil }
        }
        return key.name
    }

    private func value() -> PredicateValue {
        PredicateValue((root as Any)[keyPath: keyPath].flatMap(OptionalValues.unwrapped))
    }

    // MARK: Changes of the value

    /// A key that was found to determine the key path's value: if it is changed, the value changes.
    private struct Found {
        struct Step {
            let entity: NSEntityDescription
            let place: EntityLayout.Place
        }

        var name: String
        /// The properties of the key, including the last one.
        var steps: [Step]
        /// True if the key path returns the last property's value, false for the number of its members.
        var isValue = true
    }

    /// The type of a key path's values, which may be optional.
    private struct Kind {
        let type: Any.Type
        let isOptional: Bool
        let isNumber: Bool
        let isBoolean: Bool
        /// True if the values are raw-representable and an attribute stores their raw values.
        let isEnumeration: Bool
        /// True if the key path ends with an exclamation mark.
        let isUnwrapped: Bool

        init(_ keyPath: AnyKeyPath) {
            type = Swift.type(of: keyPath).valueType
            let value = Self.unwrapped(type)
            isOptional = value.isOptional
            isNumber = value.type == Int.self
            isBoolean = value.type == Bool.self
            isEnumeration = value.type is any RawRepresentable.Type
            isUnwrapped = keyPath.debugDescription.hasSuffix("!")
        }

        /// True if a key path of this type may return a property read as `other`: the same type or a wider number.
        /// Across optional relationships the key path is optional.
        func fits(_ other: Any.Type) -> Bool {
            let (mine, theirs) = (Self.unwrapped(type), Self.unwrapped(other))
            guard !isEnumeration else { return true }
            guard !theirs.isOptional || isOptional || isUnwrapped else { return false }
            return mine.type == theirs.type
                || mine.type is any BinaryFloatingPoint.Type && theirs.type is any BinaryFloatingPoint.Type
                || Self.hasSigns(mine.type).map { $0 || Self.hasSigns(theirs.type) == false } == true
                    && Self.hasSigns(theirs.type) != nil
        }

        private static func unwrapped(_ type: Any.Type) -> (type: Any.Type, isOptional: Bool) {
            (type as? any OptionalValue.Type).map { ($0.wrappedType, true) } ?? (type, false)
        }

        /// True if an integer type has negative numbers; `nil` for other types.
        private static func hasSigns(_ type: Any.Type) -> Bool? { (type as? any BinaryInteger.Type)?.isSigned }

        /// True if the type can represent the number.
        func has(_ value: SlotValue) -> Bool {
            func has<Number: BinaryInteger>(_ number: Int64, _: Number.Type) -> Bool { Number(exactly: number) != nil }
            guard case .integer(let number) = value,
                let type = Self.unwrapped(type).type as? any BinaryInteger.Type
            else { return true }
            return has(number, type)
        }
    }

    /// Returns the keys, relative to `object`, whose change changes the key path's value; `nil` if that value is
    /// computed from a property's.
    private func seen(in object: NSManagedObject) -> [Found]? {
        let blankValue = value()
        func changes() -> Bool { !ValueOrder.areEqual(value(), blankValue) }
        var found: [Found] = []
        func note(_ name: String, _ place: EntityLayout.Place, isValue: Bool = true) {
            found.append(Found(name: name, steps: [.init(entity: object.entity, place: place)], isValue: isValue))
        }
        for slot in object.layout.slots.indices {
            let name = object.layout.slots[slot].name
            if let attribute = object.layout.attribute(at: slot) {
                guard let samples = SampleValues(attribute.attributeType) else { continue }
                let before = object.currentValue(slot)
                object.write(samples.other, slot: slot)
                if changes() || kind.isEnumeration && UnknownRawValues.wereRead(of: object, name) {
                    note(name, .attribute(slot))
                    if !kind.isEnumeration, !isValue(of: attribute, samples, object, slot) { return nil }
                }
                object.write(before, slot: slot)
            } else if let far = object.toOneTarget(slot) {
                guard let behind = seen(in: far) else { return nil }
                found += behind.map {
                    Found(
                        name: "\(name).\($0.name)",
                        steps: [.init(entity: object.entity, place: .toOne(slot))] + $0.steps, isValue: $0.isValue)
                }
                guard behind.isEmpty else { continue }
                let other = blank(far)
                refer(object, slot, to: other)
                if changes() {
                    guard isObject(other, object, slot) else { return nil }
                    note(name, .toOne(slot))
                }
                refer(object, slot, to: far)
            }
        }
        for (number, relationship) in object.layout.toManyRelationships.enumerated() {
            switch seenMembers(number, relationship, of: object) {
            case nil: return nil
            case false?: continue
            case true?:
                let name = relationship.name
                note(kind.isNumber ? "\(name).@count" : name, .toMany(number), isValue: !kind.isNumber)
            }
        }
        return found
    }

    /// True if the key path returns the attribute's value itself. Unusual values are tried last, since a getter may not
    /// handle them.
    private func isValue(
        of attribute: NSAttributeDescription, _ samples: SampleValues, _ object: NSManagedObject, _ slot: Int
    ) -> Bool {
        guard isValue(of: object, slot) else { return false }
        if kind.isBoolean {
            return [.booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType]
                .contains(attribute.attributeType)
        }
        for sample in samples.odd where kind.has(sample) {
            object.write(sample, slot: slot)
            guard isValue(of: object, slot) else { return false }
        }
        return isEmptied(object, slot)
    }

    /// True if the value is the attribute's, as an object or as the number that a scalar accessor returns.
    private func isValue(of object: NSManagedObject, _ slot: Int) -> Bool {
        let value = value()
        let name = object.layout.slots[slot].name
        return ValueOrder.areEqual(value, PredicateValue(object.value(forKey: name)))
            || ValueOrder.areEqual(value, PredicateValue(object.currentValue(slot), isDate: false))
    }

    private func isObject(_ target: NSManagedObject, _ object: NSManagedObject, _ slot: Int) -> Bool {
        ValueOrder.areEqual(value(), PredicateValue(target)) && isEmptied(object, slot)
    }

    /// True if the key path's value is nil when the property is. Checked only if all types are optional.
    private func isEmptied(_ object: NSManagedObject, _ slot: Int) -> Bool {
        let place = object.layout.place(ofSlot: slot)
        let types = SampleReads.reads(of: object).filter { $0.place == place }.compactMap(\.type)
        guard kind.isOptional, types.allSatisfy({ $0 is any OptionalValue.Type }) else { return true }
        object.write(.null, slot: slot)
        return value().isNull
    }

    /// The numbers of members with which a relationship is tried.
    private static let counts: Set = [1, 2, 3, 12]

    /// True for a relationship's members or their number, false if independent of them; `nil` if computed from them.
    private func seenMembers(
        _ number: Int, _ relationship: NSRelationshipDescription, of object: NSManagedObject
    ) -> Bool? {
        guard let entity = relationship.destinationEntity else { return false }
        let blankValue = value()
        let state = object.toManyState(number)
        var members: [NSManagedObject] = []
        defer { for member in members { state.remove(member) } }
        for count in 1...(Self.counts.max() ?? 1) {
            let member = blank(entity, variety: count)
            members.append(member)
            state.insert(member)
            guard Self.counts.contains(count) else { continue }
            let value = value()
            if ValueOrder.areEqual(value, blankValue) { return count == 1 ? false : nil }
            let expected =
                kind.isNumber
                ? PredicateValue.integer(Int64(count)) : PredicateValue(object.value(forKey: relationship.name))
            guard ValueOrder.areEqual(value, expected) else { return nil }
        }
        return kind.isNumber && !ValueOrder.areEqual(blankValue, .integer(0)) ? nil : true
    }

    // MARK: Objects

    private func refer(_ object: NSManagedObject, _ slot: Int, to far: NSManagedObject) {
        Self.refer(object, slot, to: far)
    }

    private static func refer(_ object: NSManagedObject, _ slot: Int, to far: NSManagedObject) {
        object.write(.reference(far.objectID), slot: slot)
        object.remember(far, slot: slot)
    }

    /// Creates another object of the class of `object`, without destinations.
    private func blank(_ object: NSManagedObject) -> NSManagedObject {
        recorded { Self.blank(type(of: object), object.entity, depth: 0, &$0) }
    }

    /// Creates an object whose values depend on `variety`.
    private func blank(_ entity: NSEntityDescription, variety: Int) -> NSManagedObject {
        let object = recorded { Self.blank(entity, depth: 0, &$0) }
        for slot in 0..<object.layout.attributeCount {
            guard let samples = object.layout.attribute(at: slot).flatMap({ SampleValues($0.attributeType) }) else {
                continue
            }
            let values = [samples.blank, samples.other] + samples.odd
            object.write(values[(variety - 1) % values.count], slot: slot)
        }
        return object
    }

    private func recorded(_ make: (inout [NSManagedObject]) -> NSManagedObject) -> NSManagedObject {
        var made: [NSManagedObject] = []
        let object = make(&made)
        SampleReads.record(of: made)
        samples += made
        return object
    }

    /// Creates an object of any entity; for an abstract one, of a concrete subentity.
    private static func blank(
        _ entity: NSEntityDescription, depth: Int, _ made: inout [NSManagedObject]
    ) -> NSManagedObject {
        let concrete = entity.isAbstract ? entity.family.first { !$0.isAbstract } ?? entity : entity
        return blank(ManagedObjectClasses.objectClass(of: concrete), concrete, depth: depth, &made)
    }

    /// Creates an object without a context. All its slots have values, as a getter may need them.
    private static func blank(
        _ type: NSManagedObject.Type, _ entity: NSEntityDescription, depth: Int, _ made: inout [NSManagedObject]
    ) -> NSManagedObject {
        let object = type.init(entity: entity, insertInto: nil)
        made.append(object)
        for slot in object.layout.slots.indices {
            if let attribute = object.layout.attribute(at: slot) {
                object.write(SampleValues(attribute.attributeType)?.blank ?? .null, slot: slot)
            } else if depth > 0,
                let destination = entity.relationship(named: object.layout.slots[slot].name)?.destinationEntity
            {
                refer(object, slot, to: blank(destination, depth: depth - 1, &made))
            }
        }
        return object
    }
}
