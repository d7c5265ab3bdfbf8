/// `@Managed var name: Type`: accessors of the model's property with that name, without storage.
package enum ManagedPropertyMacro {
    package static let attribute = "Managed"

    package static func expand(_ text: String, in surroundings: Surroundings, attributeOffset: Int) -> Expansion {
        let variable = Declaration(text)
        var mistakes = mistakes(of: variable)
        if let place = surroundings.mistake(attribute) {
            mistakes.append(Mistake(message: place, offset: attributeOffset))
        }
        guard mistakes.isEmpty, let name = variable.name?.text else { return .mistakes(mistakes) }
        let access = access(to: name)
        return .code("get { \(access) }\nset { \(access) = newValue }")
    }

    private static func access(to name: String) -> String {
        let isPrimitive = PropertyName.key(in: name[...], after: "primitive") != nil
        return "self[\(isPrimitive ? "primitive" : "managed"): \(PropertyName.literal(name))]"
    }

    private static func mistakes(of variable: Declaration) -> [Mistake] {
        guard let keyword = variable.keyword, keyword.text == "var" || keyword.text == "let" else {
            return [
                Mistake(
                    message: "'@Managed' is for variables; use '@ManagedMethod' for methods",
                    offset: variable.keyword?.offset ?? 0)
            ]
        }
        guard let name = variable.name else {
            return [
                Mistake(
                    message: "'@Managed' works on one variable, not a pattern; declare each property separately",
                    offset: keyword.offset)
            ]
        }
        var mistakes: [Mistake] = []
        func say(_ message: String, at token: Token) {
            mistakes.append(Mistake(message: message, offset: token.offset))
        }
        if keyword.text == "let" {
            say("'@Managed' properties can change; use 'var \(name.text)'", at: keyword)
        }
        if let modifier = variable.modifier("static", "class") {
            say("'@Managed' cannot be '\(modifier.text)': each object has its own value", at: modifier)
        }
        if let modifier = variable.modifier("lazy") {
            say(
                "'@Managed' cannot be 'lazy': managed objects already read their values when needed",
                at: modifier)
        }
        if let modifier = variable.modifier("weak", "unowned") {
            say(
                "'@Managed' cannot be '\(modifier.text)': the context keeps related objects alive",
                at: modifier)
        }
        if let equals = variable.equals {
            say(
                "'@Managed' cannot have an initial value; set a default value of '\(name.text)' in the model, or set it in awakeFromInsert()",
                at: equals)
        } else if let brace = variable.brace {
            let isObserved =
                variable.firstInBraces?.isWord("willSet") == true || variable.firstInBraces?.isWord("didSet") == true
            say(
                isObserved
                    ? "'@Managed' cannot have observers; write accessors with primitiveValue(forKey:), or override didChangeValue(forKey:)"
                    : "'@Managed' generates the accessors; remove those of '\(name.text)' or the attribute",
                at: brace)
        } else if !variable.hasType {
            say("'@Managed' needs the type of '\(name.text)': 'var \(name.text): …'", at: name)
        }
        return mistakes
    }
}
