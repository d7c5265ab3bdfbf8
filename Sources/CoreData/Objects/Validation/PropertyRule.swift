import Foundation

/// The conditions of a model for one property, prepared for checking at each save.
final class PropertyRule {
    let property: NSPropertyDescription
    let key: String
    let place: EntityLayout.Place
    private let isOptional: Bool
    private let bounds: ValueBounds
    private let hasBounds: Bool
    /// The valid integers, if the rule has no other condition for them. Most rules are just the range of their type.
    private let plainRange: ClosedRange<Int64>?
    private let lengthBounds: LengthBounds
    private let pattern: NSRegularExpression?
    private let isDate: Bool
    /// The type of a numeric attribute; `nil` for any other property.
    private let numberType: NSAttributeType?
    /// The numeric elements of a composite attribute.
    private let numberLeaves: [NSCompositeAttributeDescription.Leaf]
    /// The conditions not covered above, with their codes or messages.
    private let predicates: [(predicate: NSPredicate, warning: Any)]
    private let counts: (minimum: Int, maximum: Int)?
    /// True if the rule rejects some values.
    let demandsAnything: Bool

    /// The rules of all attributes and relationships; slots first, then to-many relationships by number.
    static func rules(of layout: EntityLayout) -> [PropertyRule] {
        let slots = layout.slots.enumerated().map { slot, property in
            PropertyRule(property, slot < layout.attributeCount ? .attribute(slot) : .toOne(slot))
        }
        return slots + layout.toManyRelationships.enumerated().map { PropertyRule($1, .toMany($0)) }
    }

    private init(_ property: NSPropertyDescription, _ place: EntityLayout.Place) {
        self.property = property
        key = property.name
        self.place = place
        // A derived value is nil until the store has computed it.
        isOptional = property.isOptional || property is NSDerivedAttributeDescription
        let attribute = property as? NSAttributeDescription
        let bounds = attribute.map(Self.bounds) ?? ValueBounds()
        self.bounds = bounds
        hasBounds = !bounds.isEmpty
        lengthBounds = attribute?.lengthBounds ?? LengthBounds()
        pattern = attribute?.pattern.flatMap { try? NSRegularExpression(pattern: "\\A(?:\($0))\\z") }
        isDate = attribute?.attributeType == .dateAttributeType
        numberType = attribute.flatMap { $0.attributeType.isNumber ? $0.attributeType : nil }
        numberLeaves =
            (attribute as? NSCompositeAttributeDescription)?.leaves
            .filter(\.attribute.attributeType.isNumber) ?? []
        predicates = property.validation.otherConditions
        let (least, most) = (bounds.minimum ?? .integer(.min), bounds.maximum ?? .integer(.max))
        if predicates.isEmpty, numberType?.isWholeNumber == true, case .integer(let least) = least,
            case .integer(let most) = most, least <= most
        {
            plainRange = least...most
        } else {
            plainRange = nil
        }
        let relationship = property as? NSRelationshipDescription
        counts = relationship.flatMap { $0.isToMany ? ($0.minCount, $0.maxCount) : nil }
        demandsAnything =
            !isOptional || isDate || numberType != nil || !numberLeaves.isEmpty || hasBounds || !lengthBounds.isEmpty
            || pattern != nil || !predicates.isEmpty
            || counts != nil
    }

    /// Returns the limits of the attribute, and of its numeric type.
    private static func bounds(of attribute: NSAttributeDescription) -> ValueBounds {
        var bounds = attribute.bounds
        let range: ClosedRange<Int64>? =
            switch attribute.attributeType {
            case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
            case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
            default: nil
            }
        if let range {
            bounds.minimum = bounds.minimum ?? .integer(range.lowerBound)
            bounds.maximum = bounds.maximum ?? .integer(range.upperBound)
        }
        return bounds
    }

    // MARK: Checking

    /// Returns the error of a slot's value; `nil` if it is valid. Cheap for valid values.
    func failure(of value: SlotValue, in object: NSManagedObject) -> NSError? {
        if let plainRange, case .integer(let number) = value, plainRange.contains(number) { return nil }
        if value.isNull {
            if isOptional || isUnread(in: object) { return nil }
            return error(1570, "is a required value.", value, object)
        }
        if isDate, case .real(let number) = value, !number.isFinite {
            // Printing a date that is not finite stops the program, so the error contains its seconds.
            return error(1650, "is not a date.", NSNumber(value: number), object)
        }
        return numberFailure(value, object) ?? boundsFailure(value, object) ?? rangeFailure(value, object)
            ?? elementFailure(value, object) ?? lengthFailure(value, object) ?? predicateFailure(value, object)
    }

    /// True if a saved object lacks a value because its store cannot read the property, or no class here can read the
    /// value. It stays in the row until it is changed.
    private func isUnread(in object: NSManagedObject) -> Bool {
        guard object.flags.contains(.stored) else { return false }
        if case .attribute(let slot) = place, isTransformable, let row = object.snapshot, row.value(slot).isNull {
            return true
        }
        return object.objectID.rowStore?.cannotRead(property) == true
    }

    private var isTransformable: Bool {
        (property as? NSAttributeDescription)?.attributeType == .transformableAttributeType
    }

    private func numberFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        // Stores cannot store NaN: it would be read as nil.
        numberType != nil && value.isNotANumber ? error(1550, "is not a number.", value, object) : nil
    }

    /// Returns the error of a number outside the range of the attribute's type.
    private func rangeFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        guard let numberType, case .real(let number) = value, !numberType.holds(number) else { return nil }
        let (code, word) = number < 0 ? (1620, "small") : (1610, "large")
        return error(code, "is too \(word) for \(numberType.editorName).", value, object)
    }

    private func elementFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        for leaf in numberLeaves {
            let (type, path) = (leaf.attribute.attributeType, leaf.path.joined(separator: "."))
            if let element = CompositeRow.value(of: value, at: leaf) {
                if element.isNotANumber { return error(1550, "has \(path), which is not a number.", value, object) }
            } else {
                return error(1550, "has \(path), which is out of range of \(type.editorName).", value, object)
            }
        }
        return nil
    }

    private func boundsFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        guard hasBounds else { return nil }
        if let minimum = bounds.minimum, Self.isLess(value, minimum) {
            let limit = text(minimum)
            return isDate
                ? error(1640, "is too soon: it must not be before \(limit).", value, object)
                : error(1620, "is too small: it must be at least \(limit).", value, object)
        }
        if let maximum = bounds.maximum, Self.isLess(maximum, value) {
            let limit = text(maximum)
            return isDate
                ? error(1630, "is too late: it must not be after \(limit).", value, object)
                : error(1610, "is too large: it must be at most \(limit).", value, object)
        }
        return nil
    }

    private func lengthFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        guard !lengthBounds.isEmpty || pattern != nil, case .text(let text) = value else { return nil }
        let length = text.utf16.count
        if let minimum = lengthBounds.minimum, length < minimum {
            return error(1670, "is too short: it must have at least \(minimum) characters.", value, object)
        }
        if let maximum = lengthBounds.maximum, length > maximum {
            return error(1660, "is too long: it may have at most \(maximum) characters.", value, object)
        }
        if let pattern, pattern.firstMatch(in: text, range: NSRange(location: 0, length: length)) == nil {
            return error(1680, "does not match its pattern.", value, object)
        }
        return nil
    }

    private func predicateFailure(_ value: SlotValue, _ object: NSManagedObject) -> NSError? {
        if predicates.isEmpty { return nil }
        let subject = boxed(value, object)
        for (predicate, warning) in predicates where !predicate.evaluate(with: subject) {
            let code = (warning as? NSNumber)?.intValue ?? 1550
            let message = warning as? String ?? "is not valid."
            return error(code, message, value, object, predicate)
        }
        return nil
    }

    /// Returns the error of the number of destinations of a to-many relationship.
    ///
    /// - Parameter number: The number of the relationship, whose members are part of the error.
    func failure(ofCount count: Int, _ number: Int, in object: NSManagedObject) -> NSError? {
        guard let counts else { return nil }
        func error(_ code: Int, _ message: String) -> NSError {
            self.error(code, message, KeyValueAccess.collection(of: object, number: number), object)
        }
        if count == 0 {
            // A required relationship without a minimum may be empty, as in saves of Apple's own stores.
            return isOptional || counts.minimum == 0
                ? nil : error(1580, "has too few objects: it must have at least \(counts.minimum).")
        }
        if count < counts.minimum {
            return error(1580, "has too few objects: it must have at least \(counts.minimum).")
        }
        if counts.maximum > 0, count > counts.maximum {
            return error(1590, "has too many objects: it may have at most \(counts.maximum).")
        }
        return nil
    }

    // MARK: Values and errors

    private static func isLess(_ left: SlotValue, _ right: SlotValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.decimal(let left), .decimal(let right)): left.compare(right) == .orderedAscending
        default: false
        }
    }

    private func boxed(_ value: SlotValue, _ object: NSManagedObject) -> Any? {
        if case .reference(let id) = value { return object.managedObjectContext?.ownedObject(id) }
        let type = (property as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType
        return AttributeCoercion.value(value, type: type)
    }

    private func text(_ value: SlotValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .real(let number): isDate ? "\(Date(timeIntervalSinceReferenceDate: number))" : "\(number)"
        case .decimal(let number): "\(number)"
        default: "\(value)"
        }
    }

    private func error(
        _ code: Int, _ message: String, _ value: SlotValue, _ object: NSManagedObject, _ predicate: NSPredicate? = nil
    ) -> NSError {
        error(code, message, boxed(value, object), object, predicate)
    }

    private func error(
        _ code: Int, _ message: String, _ value: Any?, _ object: NSManagedObject, _ predicate: NSPredicate? = nil
    ) -> NSError {
        var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: property.name]
        info[NSValidationValueErrorKey] = value
        if let predicate { info[NSValidationPredicateErrorKey] = predicate }
        return CoreDataError.make(code, "\(property.name) \(message)", userInfo: info)
    }
}
