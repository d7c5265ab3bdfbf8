import Foundation

/// Writes the `contents` file of a source model like Xcode: the same order of attributes, four spaces, no final line
/// break.
package enum SourceModelWriter {
    /// The bytes of the `contents` file. Predicates and expressions of a compiled model are written as text that parses
    /// to the same structure.
    package static func write(_ model: ModelDocument) -> Data {
        var output = XMLOutput()
        output.open("model", modelAttributes(model), model.unknown)
        for entity in model.entities { write(entity, to: &output) }
        for request in model.fetchRequests { write(request, to: &output) }
        for configuration in model.configurations { write(configuration, to: &output) }
        for composite in model.composites {
            output.open("composite", [("name", composite.name)], composite.unknown)
            for element in composite.elements { write(element, to: &output) }
            output.close("composite")
        }
        let unknown = model.unknown[part: "elements"]
        if !model.diagram.isEmpty || !unknown.isEmpty {
            output.open("elements", [], unknown)
            for element in model.diagram {
                output.empty(
                    "element",
                    [
                        ("name", element.name), ("positionX", element.positionX), ("positionY", element.positionY),
                        ("width", element.width), ("height", element.height),
                    ], element.unknown)
            }
            output.close("elements")
        }
        output.close("model")
        return output.finish()
    }

    private static func modelAttributes(_ model: ModelDocument) -> [(String, String?)] {
        var settings = model.editorSettings
        settings["type"] = settings["type"] ?? "com.apple.IDECoreDataModeler.DataModel"
        settings["documentVersion"] = settings["documentVersion"] ?? "1.0"
        settings["minimumToolsVersion"] = settings["minimumToolsVersion"] ?? "Automatic"
        return SourceValues.editorSettings.map { ($0, settings[$0]) } + [
            ("userDefinedModelVersionIdentifier", model.versionIdentifiers.sorted().first ?? "")
        ]
    }

    private static func write(_ entity: EntityDocument, to output: inout XMLOutput) {
        output.open(
            "entity",
            [
                ("name", entity.name), ("representedClassName", entity.className),
                flag("isAbstract", entity.isAbstract),
                ("parentEntity", entity.parentName), ("elementID", entity.renamingIdentifier),
                ("versionHashModifier", entity.versionHashModifier), flag("syncable", entity.isSyncable),
                ("codeGenerationType", entity.codeGenerationType),
            ], entity.unknown)
        for property in entity.properties { write(property, to: &output) }
        for index in entity.fetchIndexes { write(index, to: &output) }
        write(
            entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint",
            entity.unknown, to: &output)
        write(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index", entity.unknown, to: &output)
        write(entity.userInfo, entity.unknown, to: &output)
        output.close("entity")
    }

    private static func write(
        _ lists: [[String]], _ outer: String, _ inner: String, _ item: String, _ unknown: UnknownParts,
        to output: inout XMLOutput
    ) {
        let unknown = unknown[part: outer]
        guard !lists.isEmpty || !unknown.isEmpty else { return }
        output.open(outer, [], unknown)
        for (place, list) in lists.enumerated() {
            let unknown = unknown[part: String(place)]
            output.open(inner, [], unknown)
            for (place, name) in list.enumerated() {
                output.empty(item, [("value", name)], unknown[part: String(place)])
            }
            output.close(inner)
        }
        output.close(outer)
    }

    private static func write(
        _ index: FetchIndexDocument, to output: inout XMLOutput
    ) {
        output.open(
            "fetchIndex",
            [("name", index.name), ("partialIndexPredicate", index.partialPredicate.map(SyntaxPrinter.text))],
            index.unknown)
        for element in index.elements {
            var attributes: [(String, String?)] = []
            switch element.content {
            case .property(let name): attributes = [("property", name)]
            case .expression(let expression, _, let resultType):
                let type = AttributeKind(rawValue: resultType) ?? .undefined
                attributes = [
                    ("expression", SyntaxPrinter.text(expression)), ("expressionType", SourceValues.name(of: type)),
                ]
            }
            attributes += [
                ("type", element.isRTree ? "RTree" : "Binary"),
                ("order", element.isAscending ? "ascending" : "descending"),
            ]
            output.empty("fetchIndexElement", attributes, element.unknown)
        }
        output.close("fetchIndex")
    }

    /// - Parameter unknown: The unknown parts of the owner of the user info.
    static func write(_ userInfo: [String: ValueDocument], _ unknown: UnknownParts, to output: inout XMLOutput) {
        let unknown = unknown[part: "userInfo"]
        guard !userInfo.isEmpty || !unknown.isEmpty else { return }
        output.open("userInfo", [], unknown)
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
            output.empty(
                "entry", [("key", key), ("value", value.text ?? SourceValues.text(of: value))], unknown[part: key])
        }
        output.close("userInfo")
    }

    static func write(
        _ request: FetchRequestDocument, to output: inout XMLOutput
    ) {
        func count(_ number: Int) -> String? { number == 0 ? nil : String(number) }
        output.empty(
            "fetchRequest",
            [
                ("name", request.name), ("entity", request.entityName),
                ("predicateString", request.predicate.map(SyntaxPrinter.text)),
                ("fetchLimit", count(request.fetchLimit)),
                ("fetchOffset", count(request.fetchOffset)), ("fetchBatchSize", count(request.fetchBatchSize)),
                ("resultType", count(Int(request.resultType))),
                ("includeSubentities", request.includesSubentities ? nil : "NO"),
                ("includePropertyValues", request.includesPropertyValues ? nil : "NO"),
                ("includesPendingChanges", request.includesPendingChanges ? nil : "NO"),
                ("returnObjectsAsFaults", request.returnsObjectsAsFaults ? nil : "NO"),
                flag("returnDistinctResults", request.returnsDistinctResults),
            ], request.unknown)
    }

    private static func write(_ configuration: ConfigurationDocument, to output: inout XMLOutput) {
        output.open(
            "configuration",
            [("name", configuration.name), ("usedWithCloudKit", configuration.usesCloudKit.map { $0 ? "YES" : "NO" })],
            configuration.unknown)
        for name in configuration.entityNames {
            output.empty("memberEntity", [("name", name)], configuration.unknown[part: name])
        }
        output.close("configuration")
    }

    /// An attribute that is only written if it is true.
    static func flag(_ name: String, _ value: Bool) -> (String, String?) { (name, value ? "YES" : nil) }
}
