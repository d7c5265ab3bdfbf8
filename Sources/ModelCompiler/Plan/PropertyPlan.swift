import ModelFiles

/// A property of a generated class: its name, its type, and its access to the object's value.
struct PropertyPlan {
    /// The kind of access to the value.
    enum Access: String {
        /// A type that the framework supports.
        case managed
        /// Any value, cast to the type: values of transformers and composites.
        case casting
    }

    /// The types that the generated code uses for the members of a to-many relationship.
    struct ToMany {
        /// The class of the members.
        let memberType: String
        let isOrdered: Bool
    }

    let name: String
    let type: String
    let access: Access
    let toMany: ToMany?

    /// The accessor of an attribute.
    ///
    /// As in Xcode, object types are always optional, and a number that is not marked as scalar is an `NSNumber`.
    static func attribute(_ name: String, _ attribute: AttributeDocument, _ types: TypeNames) -> PropertyPlan {
        let (type, access) = typeAndAccess(attribute, types)
        return PropertyPlan(name: name, type: type, access: access, toMany: nil)
    }

    private static func typeAndAccess(_ attribute: AttributeDocument, _ types: TypeNames) -> (String, Access) {
        let isScalar = attribute.usesScalarValueType == true
        func number(_ scalar: String) -> (String, Access) {
            (isScalar ? types.swift(scalar) : types.foundation("NSNumber") + "?", .managed)
        }
        switch attribute.type {
        case .integer16: return number("Int16")
        case .integer32: return number("Int32")
        case .integer64: return number("Int64")
        case .double: return number("Double")
        case .float: return number("Float")
        case .boolean: return number("Bool")
        case .date: return (isScalar ? types.foundation("TimeInterval") : types.foundation("Date") + "?", .managed)
        case .decimal: return (types.foundation("NSDecimalNumber") + "?", .managed)
        case .string: return (types.swift("String") + "?", .managed)
        case .binary: return (types.foundation("Data") + "?", .managed)
        case .uuid: return (types.foundation("UUID") + "?", .managed)
        case .uri: return (types.foundation("URL") + "?", .managed)
        case .objectID: return (types.coreData("NSManagedObjectID") + "?", .managed)
        case .composite: return ("[\(types.swift("String")) : Any]?", .casting)
        case .transformable, .undefined:
            guard let name = valueClass(attribute) else { return (types.foundation("NSObject") + "?", .managed) }
            return (name + "?", .casting)
        }
    }

    /// The model's class for the values of a transformable attribute; may be the text of any Swift type.
    private static func valueClass(_ attribute: AttributeDocument) -> String? {
        guard let text = attribute.valueClassName, !text.isEmpty, text != "NSObject" else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.isEmpty || SwiftWords.isIdentifier(String($0)) }) else { return text }
        return SwiftWords.className(text).map(SwiftWords.escaped)
    }

    /// The accessor of a relationship to objects of class `destination`.
    static func relationship(
        _ name: String, _ relationship: RelationshipDocument, destination: String, _ types: TypeNames
    ) -> PropertyPlan {
        guard relationship.maxCount != 1 else {
            return PropertyPlan(name: name, type: destination + "?", access: .managed, toMany: nil)
        }
        return PropertyPlan(
            name: name, type: types.foundation(relationship.isOrdered ? "NSOrderedSet" : "NSSet") + "?",
            access: .managed, toMany: ToMany(memberType: destination, isOrdered: relationship.isOrdered))
    }
}
