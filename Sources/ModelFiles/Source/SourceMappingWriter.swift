import Foundation

/// Writes source mapping models: the `xcmapping.xml` of an `.xcmappingmodel` folder, in the editor's format.
///
/// User infos of mappings are omitted, since the editor's format for them is unknown. Compiled mapping models have
/// them.
package struct SourceMappingWriter {
    /// The source and destination models, and the paths where the editor finds them.
    package struct Models {
        package var source: ModelDocument
        package var destination: ModelDocument
        package var sourcePath: String
        package var destinationPath: String

        package init(
            source: ModelDocument, destination: ModelDocument, sourcePath: String = "", destinationPath: String = ""
        ) {
            self.source = source
            self.destination = destination
            self.sourcePath = sourcePath
            self.destinationPath = destinationPath
        }
    }

    private var nextID = 102
    private var text = ""

    /// Writes the folder. An existing `.xcmappingmodel` at `url` is replaced after the new one is complete.
    ///
    /// - Throws: ``ModelFileError``.
    package static func write(_ mappings: [EntityMappingDocument], between models: Models, to url: URL) throws {
        var writer = SourceMappingWriter()
        let data = try writer.write(mappings, models)
        try FileReplacement.folder(at: url, isReplaceable: { Set($0).isSubset(of: ["xcmapping.xml"]) }) {
            [("xcmapping.xml", data)]
        }
    }

    private init() {}

    private mutating func write(_ mappings: [EntityMappingDocument], _ models: Models) throws -> Data {
        let root = takeID()
        var members: [Int] = []
        for (number, mapping) in mappings.enumerated() { members.append(try write(mapping, number + 1, root)) }
        begin("MAPPINGMODEL", root)
        if !models.sourcePath.isEmpty { attribute("sourcemodelpath", "string", models.sourcePath) }
        attribute("sourcemodeldata", "binary", try Self.archive(models.source))
        if !models.destinationPath.isEmpty { attribute("destinationmodelpath", "string", models.destinationPath) }
        attribute("destinationmodeldata", "binary", try Self.archive(models.destination))
        relationship("entitymappings", "0/0", "ENTITYMAPPING", members)
        end()
        return Data((Self.head(next: nextID) + text + "</database>\n").utf8)
    }

    private static func archive(_ model: ModelDocument) throws -> String {
        try CompiledModelWriter.write(model, form: .file).base64EncodedString()
    }

    // MARK: Mappings

    private mutating func write(_ mapping: EntityMappingDocument, _ number: Int, _ root: Int) throws -> Int {
        let id = takeID()
        let attributes = try mapping.attributes.map { try write($0, "ATTRIBUTEMAPPING", id) }
        let relationships = try mapping.relationships.map { try write($0, "RELATIONSHIPMAPPING", id) }
        begin("ENTITYMAPPING", id)
        attribute("name", "string", mapping.name)
        if let name = mapping.sourceName { attribute("sourcename", "string", name) }
        if let name = mapping.destinationName { attribute("destinationname", "string", name) }
        if let name = mapping.policyClassName { attribute("migrationpolicyclassname", "string", name) }
        attribute("mappingtypename", "string", Self.typeNames[mapping.type] ?? "Undefined")
        attribute("mappingnumber", "int16", "\(number)")
        let made = mapping.sourceName.map(EntityMappingDocument.allObjects)
        if let source = mapping.source, source != made {
            attribute("sourceexpressiondata", "binary", try CompiledMappingWriter.archive(source))
        }
        attribute("autogenerateexpression", "bool", mapping.source == made ? "1" : "0")
        relationship("mappingmodel", "1/1", "MAPPINGMODEL", [root])
        relationship("attributemappings", "0/0", "ATTRIBUTEMAPPING", attributes)
        relationship("relationshipmappings", "0/0", "RELATIONSHIPMAPPING", relationships)
        end()
        return id
    }

    private static let typeNames: [UInt: String] = [1: "Custom", 2: "Add", 3: "Remove", 4: "Copy", 5: "Transform"]

    private mutating func write(_ property: PropertyMappingDocument, _ type: String, _ owner: Int) throws -> Int {
        let id = takeID()
        begin(type, id)
        attribute("name", "string", property.name)
        if let value = property.value {
            attribute("valueexpressiondata", "binary", try CompiledMappingWriter.archive(value))
        }
        attribute("autogenerateexpression", "bool", "0")
        relationship("entitymapping", "1/1", "ENTITYMAPPING", [owner])
        end()
        return id
    }

    // MARK: Text

    private mutating func takeID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    private mutating func begin(_ type: String, _ id: Int) {
        text += "    <object type=\"XDDEV\(type)\" id=\"z\(id)\">\n"
    }

    private mutating func end() { text += "    </object>\n" }

    private mutating func attribute(_ name: String, _ type: String, _ value: String) {
        text += "        <attribute name=\"\(name)\" type=\"\(type)\">\(XMLOutput.escaped(value))</attribute>\n"
    }

    private mutating func relationship(_ name: String, _ kind: String, _ destination: String, _ ids: [Int]) {
        let references = ids.map { "z\($0)" }.joined(separator: " ")
        text +=
            "        <relationship name=\"\(name)\" type=\"\(kind)\" destination=\"XDDEV\(destination)\""
            + (ids.isEmpty ? "" : " idrefs=\"\(references)\"") + "></relationship>\n"
    }

    /// The beginning of the file. The version hashes are those of the editor's own entities, which it requires to open
    /// the file.
    private static func head(next: Int) -> String {
        let hashes = [
            ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
            ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
            ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
            ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
            ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
        ].map { "<key>\($0)</key><data>\($1)</data>" }.joined(separator: "\n                        ")
        return """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(UUID().uuidString)</UUID>
                    <nextObjectID>\(next)</nextObjectID>
                    <metadata>
                        <plist version="1.0"><dict>
                            <key>NSPersistenceFrameworkVersion</key><integer>1044</integer>
                            <key>NSStoreModelVersionHashes</key><dict>
                                \(hashes)
                            </dict>
                            <key>NSStoreModelVersionHashesVersion</key><integer>3</integer>
                            <key>NSStoreModelVersionIdentifiers</key><array><string></string></array>
                        </dict></plist>
                    </metadata>
                </databaseInfo>

            """
    }
}
