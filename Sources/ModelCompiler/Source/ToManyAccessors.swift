/// The methods that add and remove members of a to-many relationship.
struct ToManyAccessors {
    private let name: String
    private let member: String
    private let set: String
    private let isOrdered: Bool
    private let types: TypeNames

    init(_ property: PropertyPlan, _ toMany: PropertyPlan.ToMany, _ types: TypeNames) {
        name = property.name
        member = toMany.memberType
        set = types.foundation(toMany.isOrdered ? "NSOrderedSet" : "NSSet")
        isOrdered = toMany.isOrdered
        self.types = types
    }

    var lines: [String] {
        let suffix = SwiftWords.capitalized(name)
        let number = types.swift("Int")
        let indexes = types.foundation("NSIndexSet")
        let ordered = [
            method("insertInto\(suffix)(_ value: \(member), at idx: \(number))", "insert(value, at: idx)"),
            method("removeFrom\(suffix)(at idx: \(number))", "remove(at: idx)"),
            method("insertInto\(suffix)(_ values: [\(member)], at indexes: \(indexes))", "insert(values, at: indexes)"),
            method("removeFrom\(suffix)(at indexes: \(indexes))", "remove(at: indexes)"),
            method("replace\(suffix)(at idx: \(number), with value: \(member))", "replace(at: idx, with: value)"),
            method(
                "replace\(suffix)(at indexes: \(indexes), with values: [\(member)])",
                "replace(at: indexes, with: values)"),
        ]
        let all = [
            method("addTo\(suffix)(_ value: \(member))", "add(value)"),
            method("removeFrom\(suffix)(_ value: \(member))", "remove(value)"),
            method("addTo\(suffix)(_ values: \(set))", "add(values)"),
            method("removeFrom\(suffix)(_ values: \(set))", "remove(values)"),
        ]
        return ((isOrdered ? ordered : []) + all).flatMap { [""] + $0 } + [""]
    }

    private func method(_ signature: String, _ call: String) -> [String] {
        ["public func \(signature) {", "    self[members: \(SwiftWords.literal(name))].\(call)", "}"]
    }
}
