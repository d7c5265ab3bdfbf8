import Foundation

/// Writes compiled mapping models: the keyed archive of a `.cdm` file, with the same keys as Apple's.
package struct CompiledMappingWriter {
    private var writer = CompiledModelWriter(model: ModelDocument(), form: .file)

    /// Writes the file. An item at `url` is replaced only after the new file is complete.
    ///
    /// - Throws: ``ModelFileError``.
    package static func write(_ mappings: [EntityMappingDocument], to url: URL) throws {
        var writer = CompiledMappingWriter()
        try FileReplacement.file(at: url, try writer.write(mappings))
    }

    /// The archive of one expression, as source mapping models have them, in base64.
    static func archive(_ expression: ExpressionDocument) throws -> String {
        var writer = CompiledMappingWriter()
        let root = try writer.writer.write(expression)
        return writer.writer.builder.finish(root: root).base64EncodedString()
    }

    private init() {}

    private mutating func write(_ mappings: [EntityMappingDocument]) throws -> Data {
        var written: [PropertyListValue] = []
        for mapping in mappings { written.append(try write(mapping)) }
        let names = mappings.map { writer.builder.string($0.name) }
        let root = writer.builder.object(
            ["NSMappingModel", "NSObject"],
            [
                "NSEntityMappings": writer.builder.array(written),
                "NSEntityMappingsByName": writer.builder.dictionary(Array(zip(names, written)).map { ($0.0, $0.1) }),
            ])
        return writer.builder.finish(root: root)
    }

    private mutating func write(_ mapping: EntityMappingDocument) throws -> PropertyListValue {
        let fields: [String: PropertyListValue] = [
            "NSMappingName": writer.builder.string(mapping.name), "NSMappingType": .integer(Int64(mapping.type)),
            "NSSourceEntityName": writer.builder.string(mapping.sourceName),
            "NSDestinationEntityName": writer.builder.string(mapping.destinationName),
            "NSSourceEntityVersionHash": data(mapping.sourceHash),
            "NSDestinationEntityVersionHash": data(mapping.destinationHash),
            "NSSourceExpression": try source(mapping.source),
            "NSAttributeMappings": try write(mapping.attributes),
            "NSRelationshipMappings": try write(mapping.relationships),
            "NSEntityMigrationPolicyClassName": writer.builder.string(mapping.policyClassName),
            "NSUserInfo": try userInfo(mapping.userInfo),
        ]
        return writer.builder.object(["NSEntityMapping", "NSObject"], fields)
    }

    private mutating func write(_ properties: [PropertyMappingDocument]) throws -> PropertyListValue {
        var written: [PropertyListValue] = []
        for property in properties {
            let fields: [String: PropertyListValue] = [
                "NSDestinationPropertyName": writer.builder.string(property.name),
                "NSValueExpression": try property.value.map { try writer.write($0) } ?? writer.builder.null,
                "NSPropertyTransforms": writer.builder.null, "NSUserInfo": try userInfo(property.userInfo),
            ]
            written.append(writer.builder.object(["NSPropertyMapping", "NSObject"], fields))
        }
        return writer.builder.array(written)
    }

    /// Writes a source expression. A call of the manager's functions becomes a fetch in the manager's source context.
    private mutating func source(_ expression: ExpressionDocument?) throws -> PropertyListValue {
        guard let expression else { return writer.builder.null }
        let request = try writer.write(expression)
        guard case .functionOn(.variable("manager"), _, _) = expression else { return request }
        let context = try writer.write(.keyPathOf(.variable("manager"), "sourceContext"))
        return writer.object(
            "NSFetchRequestExpression", type: 50,
            ["NSFRExpression": request, "NSMOCExpression": context, "NSCountOnlyFlag": .boolean(false)])
    }

    private mutating func userInfo(_ entries: [String: ValueDocument]) throws -> PropertyListValue {
        guard !entries.isEmpty else { return writer.builder.null }
        var written: [(key: PropertyListValue, value: PropertyListValue)] = []
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            written.append((writer.builder.string(key), try writer.write(value)))
        }
        return writer.builder.dictionary(written)
    }

    private mutating func data(_ data: Data?) -> PropertyListValue {
        data.map { writer.builder.value(.data($0)) } ?? writer.builder.null
    }
}
