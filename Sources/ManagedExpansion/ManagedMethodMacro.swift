/// `@ManagedMethod func addToPlayers(_ value: Player)`: the body of a method that changes a to-many relationship,
/// derived from its name.
package enum ManagedMethodMacro {
    package static let attribute = "ManagedMethod"

    package static func expand(_ text: String, in surroundings: Surroundings, attributeOffset: Int) -> Expansion {
        let method = Declaration(text)
        var mistakes = mistakes(of: method)
        if let place = surroundings.mistake(attribute) {
            mistakes.append(Mistake(message: place, offset: attributeOffset))
        }
        guard mistakes.isEmpty, let name = method.name else { return .mistakes(mistakes) }
        guard let form = Form(name.text, method.parameters) else {
            return .mistakes([Mistake(message: unknownForm(name.text, method.parameters), offset: name.offset)])
        }
        let names = method.parameters.compactMap(\.name)
        guard names.count == method.parameters.count else {
            return .mistakes([Mistake(message: "'@ManagedMethod' needs names for all parameters", offset: name.offset)])
        }
        let arguments = zip(form.labels, names).map { label, name in label.map { "\($0): \(name)" } ?? name }
        let members = "self[members: \(PropertyName.literal(form.key))]"
        return .code("{\n    \(members).\(form.action)(\(arguments.joined(separator: ", ")))\n}")
    }

    private static func mistakes(of method: Declaration) -> [Mistake] {
        guard let keyword = method.keyword, keyword.text == "func" else {
            return [
                Mistake(
                    message: "'@ManagedMethod' is for methods; use '@Managed' for variables",
                    offset: method.keyword?.offset ?? 0)
            ]
        }
        var mistakes: [Mistake] = []
        func say(_ message: String, at token: Token) {
            mistakes.append(Mistake(message: message, offset: token.offset))
        }
        if let modifier = method.modifier("static", "class") {
            say("'@ManagedMethod' cannot be '\(modifier.text)': each object has its own members", at: modifier)
        }
        if let effect = method.effect {
            say("'@ManagedMethod' cannot be '\(effect.text)'; remove '\(effect.text)'", at: effect)
        }
        if let arrow = method.arrow {
            say("'@ManagedMethod' methods have no result; remove the result type", at: arrow)
        }
        if let brace = method.brace {
            say("'@ManagedMethod' generates the body; remove this body or the attribute", at: brace)
        }
        return mistakes
    }

    private static func unknownForm(_ name: String, _ parameters: [Declaration.Parameter]) -> String {
        let labels = parameters.map { "\($0.label ?? "_"):" }.joined()
        return """
            '@ManagedMethod' cannot generate '\(name)(\(labels))'; it generates addTo<Key>(_:), removeFrom<Key>(_:), \
            insertInto<Key>(_:at:), removeFrom<Key>(at:) and replace<Key>(at:with:), with the name of a to-many relationship for <Key>
            """
    }

    /// The effect of a method: an action on the members of a relationship, and its argument labels.
    private struct Form {
        let key: String
        let action: String
        let labels: [String?]

        init?(_ name: String, _ parameters: [Declaration.Parameter]) {
            let found =
                parameters.count == 1
                ? Self.ofOne(name, parameters[0]) : parameters.count == 2 ? Self.ofTwo(name, parameters) : nil
            guard let (key, action, labels) = found else { return nil }
            self.key = key
            self.action = action
            self.labels = labels
        }

        private static func ofOne(_ name: String, _ parameter: Declaration.Parameter) -> (String, String, [String?])? {
            let all = name[...]
            if let key = PropertyName.key(in: all, after: "addTo") { return (key, "add", [nil]) }
            if let key = PropertyName.key(in: all, after: "removeFrom") {
                return parameter.label == "at" ? (key, "remove", ["at"]) : (key, "remove", [nil])
            }
            // The same accessor with its name in Objective-C, such as `removeObjectFromItemsAtIndex:`.
            for suffix in ["AtIndex", "AtIndexes"] {
                if let key = PropertyName.key(in: all, after: "removeObjectFrom", before: suffix) {
                    return (key, "remove", ["at"])
                }
                if let key = PropertyName.key(in: all, after: "remove", before: suffix) {
                    return (key, "remove", ["at"])
                }
            }
            if let key = PropertyName.key(in: all, after: "add", before: "Object") { return (key, "add", [nil]) }
            if let key = PropertyName.key(in: all, after: "remove", before: "Object") { return (key, "remove", [nil]) }
            if let key = PropertyName.key(in: all, after: "add") { return (key, "add", [nil]) }
            if let key = PropertyName.key(in: all, after: "remove") { return (key, "remove", [nil]) }
            return nil
        }

        private static func ofTwo(_ name: String, _ parameters: [Declaration.Parameter]) -> (String, String, [String?])?
        {
            let all = name[...]
            let second = parameters[1].label ?? ""
            if let key = PropertyName.key(in: all, after: "insertInto"), second == "at" {
                return (key, "insert", [nil, "at"])
            }
            // The same accessor with its name in Objective-C, such as `insertObject:inItemsAtIndex:`.
            if name == "insertObject", let key = PropertyName.key(in: second[...], after: "in", before: "AtIndex") {
                return (key, "insert", [nil, "at"])
            }
            if let key = PropertyName.key(in: all, after: "insert"), ["atIndexes", "at"].contains(second) {
                return (key, "insert", [nil, "at"])
            }
            for (prefix, suffix) in [("replaceObjectIn", "AtIndex"), ("replace", "AtIndexes"), ("replace", "")] {
                if let key = PropertyName.key(in: all, after: prefix, before: suffix), second.hasPrefix("with") {
                    return (key, "replace", ["at", "with"])
                }
            }
            return nil
        }
    }
}
