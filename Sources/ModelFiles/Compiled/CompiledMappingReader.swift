import Foundation

/// Reads compiled mapping models: the keyed archive of a `.cdm` file.
package struct CompiledMappingReader {
    private var reader: CompiledModelReader
    private var archive: KeyedArchive { reader.archive }

    /// Reads a compiled mapping model.
    ///
    /// - Parameter url: A `.cdm` file.
    /// - Throws: ``ModelFileError``. An expression that cannot be read is an error, since its values would be lost.
    package static func read(_ url: URL) throws -> [EntityMappingDocument] {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            let isMissing = !FileManager.default.fileExists(atPath: url.path)
            throw ModelFileError(
                isMissing ? .missing : .unreadable, file: url.path,
                isMissing ? "the file does not exist" : "cannot read the file: \(error.localizedDescription)")
        }
        return try read(data, file: url.path)
    }

    /// Reads a compiled mapping model from the data of its file.
    ///
    /// - Parameter file: The path for messages.
    package static func read(_ data: Data, file: String) throws -> [EntityMappingDocument] {
        let archive: KeyedArchive
        do {
            archive = try KeyedArchive(data)
        } catch let error as PropertyListError {
            let place = error.offset.map { " (at byte \($0))" } ?? ""
            throw ModelFileError(
                .malformed, file: file, "this is not a compiled mapping model: \(error.reason)\(place)")
        }
        var reader = CompiledMappingReader(reader: CompiledModelReader(archive: archive, file: file))
        return try reader.readAll()
    }

    /// Reads the archive of one expression, as source mapping models have them.
    ///
    /// - Parameter owner: The owner of the expression, for messages.
    static func expression(_ data: Data, file: String, of owner: String) throws -> ExpressionDocument? {
        let archive: KeyedArchive
        do {
            archive = try KeyedArchive(data)
        } catch let error as PropertyListError {
            throw ModelFileError(
                .malformed, file: file, "an expression of '\(owner)' is not a keyed archive: \(error.reason)")
        }
        var reader = CompiledMappingReader(reader: CompiledModelReader(archive: archive, file: file))
        return try reader.expression(archive.root, of: owner)
    }

    private mutating func readAll() throws -> [EntityMappingDocument] {
        guard let root = archive.object(archive.root), root.className == "NSMappingModel" else {
            throw reader.error(
                "the archive contains an object of the class \(archive.object(archive.root)?.className ?? "none"), not a "
                    + "mapping model")
        }
        guard let mappings = archive.elements(root.fields["NSEntityMappings"]) else {
            throw reader.error("the mapping model has no entity mappings")
        }
        var result: [EntityMappingDocument] = []
        for mapping in mappings {
            try reader.spend()
            guard let object = archive.object(mapping), object.className == "NSEntityMapping" else {
                throw reader.error("an entity mapping has another class")
            }
            result.append(try readEntity(object.fields))
        }
        return result
    }

    private mutating func readEntity(_ fields: [String: PropertyListValue]) throws -> EntityMappingDocument {
        guard let name = archive.text(fields["NSMappingName"]) else {
            throw reader.error("an entity mapping has no name")
        }
        var mapping = EntityMappingDocument(name: name)
        mapping.type = UInt(clamping: archive.integer(fields["NSMappingType"]) ?? 0)
        mapping.sourceName = archive.text(fields["NSSourceEntityName"])
        mapping.destinationName = archive.text(fields["NSDestinationEntityName"])
        mapping.sourceHash = data(fields["NSSourceEntityVersionHash"])
        mapping.destinationHash = data(fields["NSDestinationEntityVersionHash"])
        mapping.policyClassName = archive.text(fields["NSEntityMigrationPolicyClassName"])
        mapping.source = try expression(fields["NSSourceExpression"], of: name)
        mapping.attributes = try properties(fields["NSAttributeMappings"], of: name)
        mapping.relationships = try properties(fields["NSRelationshipMappings"], of: name)
        mapping.userInfo = try userInfo(fields["NSUserInfo"])
        return mapping
    }

    private mutating func properties(
        _ value: PropertyListValue?, of mapping: String
    ) throws -> [PropertyMappingDocument] {
        var result: [PropertyMappingDocument] = []
        for element in archive.elements(value) ?? [] {
            try reader.spend()
            guard let object = archive.object(element), object.className == "NSPropertyMapping",
                let name = archive.text(object.fields["NSDestinationPropertyName"])
            else { throw reader.error("a property mapping of '\(mapping)' has no name") }
            var property = PropertyMappingDocument(name: name)
            property.value = try expression(object.fields["NSValueExpression"], of: "\(mapping).\(name)")
            property.userInfo = try userInfo(object.fields["NSUserInfo"])
            result.append(property)
        }
        return result
    }

    /// Reads an expression. For a fetch of source objects, reads only its request: the context is always the manager's
    /// source context.
    private mutating func expression(_ value: PropertyListValue?, of owner: String) throws -> ExpressionDocument? {
        guard let object = archive.object(value) else { return nil }
        do {
            guard object.className == "NSFetchRequestExpression" else {
                return try reader.readExpression(value, depth: 0)
            }
            return try reader.readExpression(object.fields["NSFRExpression"], depth: 0)
        } catch let problem as UnknownSyntax {
            throw reader.error("cannot read an expression of '\(owner)': \(problem.reason)")
        }
    }

    private mutating func userInfo(_ value: PropertyListValue?) throws -> [String: ValueDocument] {
        var unknown = UnknownParts()
        return try reader.readUserInfo(value, keeping: &unknown)
    }

    private func data(_ value: PropertyListValue?) -> Data? {
        if case .data(let data) = archive.resolve(value) { return data }
        guard let object = archive.object(value), case .data(let data) = archive.resolve(object.fields["NS.data"])
        else {
            return nil
        }
        return data
    }
}
