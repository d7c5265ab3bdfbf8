import Translation

/// The fields of a record as read: keys with values, in order. A dotted key names a property of an owned record.
typealias RecordFields = [(key: String, value: JSONValue)]

enum FieldGrouping {
    /// Combines fields with dotted keys into objects: `location.latitude` and `location.longitude` become one
    /// `location`. An object whose values are all NULL becomes NULL, or the value of a field of its name.
    ///
    /// - Throws: ``FieldProblem`` if a field of that name, such as `location`, contradicts the dotted ones.
    static func grouped(_ fields: RecordFields) throws -> RecordFields {
        guard fields.contains(where: { $0.key.contains(".") }) else { return fields }
        var result: RecordFields = []
        var groups: [String: Int] = [:]
        var members: [Int: RecordFields] = [:]
        for field in fields {
            guard let dot = field.key.firstIndex(of: ".") else {
                result.append(field)
                continue
            }
            let head = String(field.key[..<dot])
            let index = groups[head] ?? result.count
            if groups[head] == nil {
                groups[head] = index
                result.append((head, .null))
            }
            members[index, default: []].append((String(field.key[field.key.index(after: dot)...]), field.value))
        }
        for (index, fields) in members where fields.contains(where: { $0.value != .null }) {
            result[index].value = .object(try grouped(fields))
        }
        return try groups.isEmpty ? result : withoutDoubles(result, groups)
    }

    /// Removes a NULL group if a plain field has its name.
    private static func withoutDoubles(_ fields: RecordFields, _ groups: [String: Int]) throws -> RecordFields {
        var surplus: Set<Int> = []
        for (index, field) in fields.enumerated() {
            guard let group = groups[field.key], group != index else { continue }
            guard fields[group].value == .null else {
                throw FieldProblem(
                    key: field.key, value: field.value,
                    reason: sentence(
                        "conflicts with keys that begin with “\(field.key).”: use either this key or those"))
            }
            surplus.insert(group)
        }
        return fields.enumerated().filter { !surplus.contains($0.offset) }.map(\.element)
    }
}
