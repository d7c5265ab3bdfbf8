import Foundation

/// Reads source mapping models: the `xcmapping.xml` of an `.xcmappingmodel` folder, which is an XML store of the
/// editor's own entities. Names of entities are in upper case there, names of properties in lower case.
///
/// The two models are needed for the version hashes of the mapped entities, and for expressions that the editor leaves
/// to its compiler.
package struct SourceMappingReader {
    let file: String
    let objects: [String: SourceMappingObject]
    private let source: MappedModel
    private let destination: MappedModel
    private let root: SourceMappingObject

    /// The file in an `.xcmappingmodel` folder; any other URL is returned unchanged.
    package static func contents(of url: URL) -> URL {
        url.pathExtension == "xcmappingmodel" ? url.appendingPathComponent("xcmapping.xml") : url
    }

    /// - Parameters:
    ///   - url: An `.xcmappingmodel` folder, or the file in it.
    ///   - models: The source and destination models; `nil` searches for those that the file contains or names.
    /// - Returns: The mappings in the order of the editor, as its compiler outputs them.
    /// - Throws: ``ModelFileError`` with the line. An unknown part is an error if values would be lost.
    package static func read(
        _ url: URL, between models: (source: ModelDocument, destination: ModelDocument)? = nil
    ) throws -> [EntityMappingDocument] {
        let contents = contents(of: url)
        let file = contents.path
        let objects = try objects(in: try ModelFile.contents(of: contents), file: file)
        let roots = objects.values.filter { $0.type == "XDDEVMAPPINGMODEL" }
        guard let root = roots.first, roots.count == 1 else {
            throw ModelFileError(
                .malformed, file: file, "the file contains \(roots.count) mapping models instead of one")
        }
        let reader = SourceMappingReader(
            file: file, objects: objects,
            source: try models.map { MappedModel($0.source) } ?? .find(root, "source", file: file),
            destination: try models.map { MappedModel($0.destination) } ?? .find(root, "destination", file: file),
            root: root)
        return try reader.readAll()
    }

    private static func objects(in data: Data, file: String) throws -> [String: SourceMappingObject] {
        let root: XMLTextElement
        do throws(XMLTextParser.Failure) { root = try XMLTextParser.parse(data) } catch {
            throw ModelFileError(.malformed, file: file, line: error.line, error.reason)
        }
        guard root.name == "database" else {
            throw ModelFileError(
                .malformed, file: file, line: root.line,
                "this is not a mapping model: its root element is '\(root.name)'")
        }
        var objects: [String: SourceMappingObject] = [:]
        for element in root.children where element.name == "object" {
            let object = try SourceMappingObject(element, file: file)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw ModelFileError(
                    .malformed, file: file, line: object.line, "two objects have the id '\(object.id)'")
            }
        }
        return objects
    }

    private func error(_ object: SourceMappingObject, _ reason: String) -> ModelFileError {
        ModelFileError(.malformed, file: file, line: object.line, reason)
    }

    private func readAll() throws -> [EntityMappingDocument] {
        let members = try objects(of: root, "entitymappings", "XDDEVENTITYMAPPING")
        // The editor numbers the mappings; those without a number are last, sorted by name.
        let ordered = members.map { ($0, number: $0.integer("mappingnumber") ?? .max, name: Self.name(of: $0)) }
            .sorted { ($0.number, $0.name) < ($1.number, $1.name) }.map(\.0)
        let names = Dictionary(
            grouping: ordered.filter { $0["sourcename"] != nil }, by: { $0["sourcename"] ?? "" }
        ).mapValues { $0.map(Self.name) }
        return try ordered.map { try entity($0, mappingNames: names) }
    }

    private func objects(
        of object: SourceMappingObject, _ relationship: String, _ type: String
    ) throws -> [SourceMappingObject] {
        try (object.destinations[relationship] ?? []).map { id in
            guard let found = objects[id], found.type == type else {
                throw error(object, "'\(relationship)' refers to \(id), which is not a \(type) of this file")
            }
            return found
        }
    }

    private static func name(of mapping: SourceMappingObject) -> String {
        if let name = mapping["name"] { return name }
        guard let source = mapping["sourcename"] else { return mapping["destinationname"] ?? "" }
        return mapping["destinationname"].map { "\(source)To\($0)" } ?? source
    }

    // MARK: Entities

    private func entity(
        _ object: SourceMappingObject, mappingNames: [String: [String]]
    ) throws -> EntityMappingDocument {
        try checkParts(of: object)
        var mapping = EntityMappingDocument(name: Self.name(of: object))
        mapping.sourceName = object["sourcename"]
        mapping.destinationName = object["destinationname"]
        guard mapping.sourceName != nil || mapping.destinationName != nil else {
            throw error(object, "an entity mapping names neither a source nor a destination")
        }
        mapping.sourceHash = try hash(of: mapping.sourceName, in: source, "source", object)
        mapping.destinationHash = try hash(of: mapping.destinationName, in: destination, "destination", object)
        mapping.policyClassName = object["migrationpolicyclassname"]
        mapping.type = type(of: mapping, named: object["mappingtypename"])
        mapping.source =
            try expression(of: object, "sourceexpression")
            ?? mapping.sourceName.map(EntityMappingDocument.allObjects)
        let properties = MappedProperties(
            source: mapping.sourceName, destination: mapping.destinationName, sourceModel: source,
            destinationModel: destination, mappingNames: mappingNames)
        mapping.attributes = try objects(of: object, "attributemappings", "XDDEVATTRIBUTEMAPPING")
            .map { try property($0, made: properties.attribute) }.sorted { $0.name < $1.name }
        mapping.relationships = try objects(of: object, "relationshipmappings", "XDDEVRELATIONSHIPMAPPING")
            .map { try property($0, made: properties.relationship) }.sorted { $0.name < $1.name }
        return mapping
    }

    private func hash(
        of name: String?, in model: MappedModel, _ side: String, _ object: SourceMappingObject
    ) throws -> Data? {
        guard let name else { return nil }
        guard let hash = model.hashes[name] else {
            throw error(object, "the \(side) model of the mapping model has no entity '\(name)'")
        }
        return hash
    }

    /// The type by its name; if the editor leaves it undefined, it depends on the mapped entities.
    private func type(of mapping: EntityMappingDocument, named name: String?) -> UInt {
        switch name?.lowercased() {
        case "custom": return 1
        case "add": return 2
        case "remove": return 3
        case "copy": return 4
        case "transform": return 5
        default: break
        }
        if mapping.policyClassName != nil { return 1 }
        if mapping.sourceName == nil { return 2 }
        // Apple's compiler writes a copy even if the entity's version hashes differ.
        return mapping.destinationName == nil ? 3 : 4
    }

    private func property(
        _ object: SourceMappingObject, made: (String) -> ExpressionDocument?
    ) throws -> PropertyMappingDocument {
        try checkParts(of: object)
        guard let name = object["name"] else { throw error(object, "a property mapping has no name") }
        if let value = try expression(of: object, "valueexpression") {
            return PropertyMappingDocument(name: name, value: value)
        }
        let isMade = object["autogenerateexpression"] != "0"
        return PropertyMappingDocument(name: name, value: isMade ? made(name) : nil)
    }

    // MARK: Expressions

    /// Reads an expression, which is an archive or text.
    private func expression(of object: SourceMappingObject, _ key: String) throws -> ExpressionDocument? {
        if let text = object[key + "data"] {
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw error(object, "'\(key)data' is not in base64")
            }
            do {
                return try CompiledMappingReader.expression(data, file: file, of: object["name"] ?? key)
            } catch let problem as ModelFileError {
                throw error(object, problem.reason)
            }
        }
        guard let text = object[key + "string"] ?? object[key] else { return nil }
        do throws(PredicateTranslation.Failure) {
            return try PredicateTranslation.document(try PredicateTranslation.tree(ExpressionDocument.format(text)))
        } catch let problem {
            throw error(object, "cannot read '\(key)': \(problem.description)")
        }
    }

    private static let knownParts: Set = [
        "autogenerateexpression", "valueexpressiondata", "valueexpressionstring", "valueexpression",
        "sourceexpressiondata", "sourceexpressionstring", "sourceexpression",
    ]

    private func checkParts(of object: SourceMappingObject) throws {
        let lost = object.values.keys.filter {
            !Self.knownParts.contains($0) && ($0.contains("expression") || $0.contains("predicate"))
        }
        guard let key = lost.min() else { return }
        throw error(
            object,
            "cannot read '\(key)' of \(object["name"] ?? object.type): use the .cdm that Xcode's compiler makes")
    }
}
