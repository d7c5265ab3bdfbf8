import Foundation

/// An object of a source mapping model.
struct SourceMappingObject {
    let type: String
    let id: String
    let line: Int
    /// The texts of the attributes, trimmed.
    private(set) var values: [String: String] = [:]
    /// The IDs of the destination objects of each relationship.
    private(set) var destinations: [String: [String]] = [:]

    subscript(key: String) -> String? { values[key].flatMap { $0.isEmpty ? nil : $0 } }

    func integer(_ key: String) -> Int? { self[key].flatMap { Int($0) } }

    init(_ element: XMLTextElement, file: String) throws {
        guard let type = element.attributes["type"], let id = element.attributes["id"] else {
            throw ModelFileError(.malformed, file: file, line: element.line, "an object lacks its type or its id")
        }
        (self.type, self.id, line) = (type.uppercased(), id, element.line)
        for child in element.children {
            guard let name = child.attributes["name"]?.lowercased() else {
                throw ModelFileError(
                    .malformed, file: file, line: child.line, "the element '\(child.name)' has no name")
            }
            switch child.name {
            case "attribute": values[name] = child.text.trimmingCharacters(in: .whitespacesAndNewlines)
            case "relationship":
                destinations[name] = (child.attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
            default: break
            }
        }
    }
}

/// One of the two models of a mapping model, with the version hashes of its entities.
struct MappedModel {
    let model: ModelDocument
    let hashes: [String: Data]

    /// Finds the source or destination model: the compiled model that the mapping file contains, otherwise the model
    /// file at the path in it. The path is relative to a project folder that the file does not name, so the model is
    /// searched for in the file's folder and its parents. (The editor's own archive in the file has classes that only
    /// the editor has, and is not read.)
    ///
    /// - Parameter side: `source` or `destination`.
    /// - Throws: ``ModelFileError`` if the model is not found or cannot be read.
    static func find(_ root: SourceMappingObject, _ side: String, file: String) throws -> MappedModel {
        if let data = root["\(side)modeldata"].flatMap({ Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }),
            let found = try? CompiledModelReader.read(data, file: file)
        {
            return MappedModel(found.model)
        }
        let path = root["\(side)modelpath"] ?? ""
        let parts = path.split(separator: "/").suffix(2)
        let name = (parts.first?.hasSuffix(".xcdatamodeld") == true ? parts : parts.suffix(1)).joined(separator: "/")
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        for _ in 0..<8 where !name.isEmpty {
            for place in [path, name].map(folder.appendingPathComponent)
            where FileManager.default.fileExists(atPath: place.path) {
                return MappedModel(try ModelFile.readForUse(place).model)
            }
            folder.deleteLastPathComponent()
        }
        throw ModelFileError(
            .missing, file: file, line: root.line,
            "cannot find the \(side) model\(path.isEmpty ? "" : " '\(path)'"): put it into the folder of the mapping model, or name both models"
        )
    }

    init(_ model: ModelDocument) {
        self.model = model
        hashes = ModelHashes.entities(of: model)
    }

    /// The property of an entity, including inherited ones.
    func property(_ name: String, of entity: String?) -> PropertyDocument? {
        var current = entity.flatMap(model.entity(named:))
        var steps = model.entities.count
        while let entity = current, steps > 0 {
            if let found = entity.property(named: name) { return found }
            current = entity.parentName.flatMap(model.entity(named:))
            steps -= 1
        }
        return nil
    }

    func hasSubentities(_ name: String) -> Bool { model.entities.contains { $0.parentName == name } }
}

/// Creates the expressions that the editor leaves to its compiler: a property takes the value of the source property
/// with the same name, or with the name of its renaming identifier.
struct MappedProperties {
    let source: String?
    let destination: String?
    let sourceModel: MappedModel
    let destinationModel: MappedModel
    /// The names of the mappings of each source entity.
    let mappingNames: [String: [String]]

    /// The expression for an attribute; `nil` if the source has no such attribute.
    func attribute(_ name: String) -> ExpressionDocument? {
        guard let origin = origin(of: name), case .attribute = origin.kind else { return nil }
        return .keyPathOf(.variable("source"), origin.name)
    }

    /// The expression for the destinations of the source's relationship: by the name of their mapping if one mapping
    /// covers all of them.
    func relationship(_ name: String) -> ExpressionDocument? {
        guard let origin = origin(of: name), case .relationship(let relationship) = origin.kind else { return nil }
        let value = ExpressionDocument.keyPathOf(.variable("source"), origin.name)
        let mappings = mappingNames[relationship.destinationName] ?? []
        if mappings.count == 1, !sourceModel.hasSubentities(relationship.destinationName) {
            return .functionOn(
                .variable("manager"), MappingSelectors.destinations, [.constant(.string(mappings[0])), value])
        }
        return .functionOn(
            .variable("manager"), MappingSelectors.relationshipDestinations, [.constant(.string(origin.name)), value])
    }

    private func origin(of name: String) -> PropertyDocument? {
        let old = destinationModel.property(name, of: destination)?.renamingIdentifier
        return sourceModel.property(old ?? name, of: source) ?? sourceModel.property(name, of: source)
    }
}
