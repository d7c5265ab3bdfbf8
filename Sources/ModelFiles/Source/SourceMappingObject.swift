import Foundation

/// An object of a source mapping model.
struct SourceMappingObject {
    let type: String
    let id: String
    let line: Int
    /// The texts of the attributes, without space around them.
    private(set) var values: [String: String] = [:]
    /// The ids of the objects that each relationship leads to.
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

    /// The model that the file holds as the archive of a compiled model, or else the one that it names by a path. The path is
    /// relative to the folder of some project, which is one of those above the file; there, and beside the file, the model
    /// is looked for. (The editor puts its own archive into the file, of classes that only it has: that is not read.)
    ///
    /// - Parameter side: `source` or `destination`.
    /// - Throws: ``ModelFileError`` where the model is not found or cannot be read.
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
            "the \(side) model \(path.isEmpty ? "" : "'\(path)' ")is not found: put it into the folder of the mapping model, or name both models"
        )
    }

    init(_ model: ModelDocument) {
        self.model = model
        hashes = ModelHashes.entities(of: model)
    }

    /// The property of an entity, inherited ones too.
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

/// Makes the expressions that the editor leaves to its compiler: a property takes the value of the source's property of the
/// same name, or of the name that its renaming identifier says.
struct MappedProperties {
    let source: String?
    let destination: String?
    let sourceModel: MappedModel
    let destinationModel: MappedModel
    /// The names of the mappings of each source entity.
    let mappingNames: [String: [String]]

    /// `nil` where the source has nothing of that name.
    func attribute(_ name: String) -> ExpressionDocument? {
        guard let origin = origin(of: name), case .attribute = origin.kind else { return nil }
        return .keyPathOf(.variable("source"), origin.name)
    }

    /// What the objects became that the source's relationship leads to: by the name of their mapping where one mapping
    /// takes all of them.
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
