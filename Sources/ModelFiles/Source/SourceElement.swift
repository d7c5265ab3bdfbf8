/// Reads the attributes of one element and records which were read, so that the others can be noted and kept.
struct SourceElement {
    let tree: XMLTree
    let file: String
    private var asked: Set<String> = []

    init(_ tree: XMLTree, file: String) {
        self.tree = tree
        self.file = file
    }

    var line: Int { tree.line }

    /// The attribute's text; `nil` if it is absent.
    mutating func text(_ name: String) -> String? {
        asked.insert(name)
        return tree.attributes[name]
    }

    /// The attribute's text.
    ///
    /// - Throws: ``ModelFileError`` if it is absent or empty.
    mutating func requiredText(_ name: String) throws -> String {
        guard let text = text(name), !text.isEmpty else {
            throw error("the element '\(tree.name)' needs the attribute '\(name)'")
        }
        return text
    }

    /// The Boolean value of the attribute; `nil` if it is absent.
    mutating func flag(_ name: String) throws -> Bool? {
        guard let text = text(name) else { return nil }
        switch text.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: throw error("the attribute '\(name)' must be YES or NO, not '\(text)'")
        }
    }

    /// The whole number of the attribute; `nil` if it is absent.
    mutating func number(_ name: String) throws -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), Int32(exactly: number) != nil else {
            throw error("the attribute '\(name)' must be a whole number, not '\(text)'")
        }
        return number
    }

    /// The value of one of several words; `nil` if the attribute is absent.
    mutating func choice<Value>(_ name: String, of choices: [String: Value]) throws -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = choices[text] else {
            let known = choices.keys.sorted().joined(separator: ", ")
            throw error("the attribute '\(name)' has the unknown value '\(text)'. Known values: \(known)")
        }
        return value
    }

    func error(_ reason: String) -> ModelFileError { ModelFileError(.malformed, file: file, line: line, reason) }

    /// The attributes that were not read.
    var unknownAttributes: [UnknownParts.Attribute] {
        tree.attributeOrder.enumerated().filter { !asked.contains($1) }.map { position, name in
            UnknownParts.Attribute(name: name, value: tree.attributes[name] ?? "", position: position)
        }
    }
}
