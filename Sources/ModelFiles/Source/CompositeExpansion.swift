/// Copies the elements of named composites into the attributes that use them.
struct CompositeExpansion {
    let file: String
    let lines: [String: Int]

    /// The number of elements that may still be added: composites of composites grow quickly.
    private var allowance = 10_000

    init(file: String, lines: [String: Int]) {
        self.file = file
        self.lines = lines
    }

    mutating func expand(_ model: inout ModelDocument) throws {
        let composites = Dictionary(
            model.composites.map { ($0.name, $0.elements) }, uniquingKeysWith: { first, _ in first })
        for entity in model.entities.indices {
            for property in model.entities[entity].properties.indices {
                let path = "\(model.entities[entity].name).\(model.entities[entity].properties[property].name)"
                try expand(&model.entities[entity].properties[property], from: composites, inside: [], path: path)
            }
        }
    }

    private mutating func expand(
        _ property: inout PropertyDocument, from composites: [String: [PropertyDocument]], inside outer: [String],
        path: String
    ) throws {
        guard case .attribute(var attribute) = property.kind, attribute.type == .composite else { return }
        guard let name = attribute.compositeName, let elements = composites[name] else {
            throw error(
                path,
                "the composite attribute '\(path)' has the composite type '\(attribute.compositeName ?? "")', "
                    + "which the model does not have")
        }
        guard !outer.contains(name) else { throw error(path, "the composite '\(name)' contains itself") }
        allowance -= elements.count
        guard allowance >= 0 else { throw error(path, "the composites of the model have too many elements in total") }
        attribute.elements = elements
        for index in attribute.elements.indices {
            try expand(&attribute.elements[index], from: composites, inside: outer + [name], path: path)
        }
        property.kind = .attribute(attribute)
    }

    private func error(_ path: String, _ reason: String) -> ModelFileError {
        ModelFileError(.malformed, file: file, line: lines[path], reason)
    }
}
