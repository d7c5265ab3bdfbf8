import Foundation

/// Writes the `contents` file of a source model, as Xcode does: attributes in its order, four spaces, no last line end.
package enum SourceModelWriter {
    /// The bytes of the `contents` file. Predicates and expressions that came from a compiled model are written as text
    /// that parses back to them.
    package static func write(_ model: ModelDocument) -> Data {
        var output = XMLOutput()
        output.open("model", modelAttributes(model))
        for entity in model.entities { write(entity, to: &output) }
        for request in model.fetchRequests { write(request, to: &output) }
        for configuration in model.configurations { write(configuration, to: &output) }
        for composite in model.composites {
            output.open("composite", [("name", composite.name)])
            for element in composite.elements { write(element, to: &output) }
            output.close("composite")
        }
        if !model.diagram.isEmpty {
            output.open("elements", [])
            for element in model.diagram {
                output.empty(
                    "element",
                    [
                        ("name", element.name), ("positionX", element.positionX), ("positionY", element.positionY),
                        ("width", element.width), ("height", element.height),
                    ])
            }
            output.close("elements")
        }
        output.close("model")
        return output.finish()
    }

    private static let settingOrder = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "macOSVersion",
        "iOSVersion", "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
    ]

    private static func modelAttributes(_ model: ModelDocument) -> [(String, String?)] {
        var settings = model.editorSettings
        settings["type"] = settings["type"] ?? "com.apple.IDECoreDataModeler.DataModel"
        settings["documentVersion"] = settings["documentVersion"] ?? "1.0"
        settings["minimumToolsVersion"] = settings["minimumToolsVersion"] ?? "Automatic"
        let known = settingOrder.map { ($0, settings[$0]) }
        let others = settings.keys.filter { !settingOrder.contains($0) }.sorted().map { ($0, settings[$0]) }
        return known + others + [("userDefinedModelVersionIdentifier", model.versionIdentifiers.sorted().first ?? "")]
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
            ])
        for property in entity.properties { write(property, to: &output) }
        for index in entity.fetchIndexes { write(index, to: &output) }
        write(entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint", to: &output)
        write(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index", to: &output)
        write(entity.userInfo, to: &output)
        output.close("entity")
    }

    private static func write(
        _ lists: [[String]], _ outer: String, _ inner: String, _ item: String, to output: inout XMLOutput
    ) {
        guard !lists.isEmpty else { return }
        output.open(outer, [])
        for list in lists {
            output.open(inner, [])
            for name in list { output.empty(item, [("value", name)]) }
            output.close(inner)
        }
        output.close(outer)
    }

    private static func write(
        _ index: FetchIndexDocument, to output: inout XMLOutput
    ) {
        output.open(
            "fetchIndex",
            [("name", index.name), ("partialIndexPredicate", index.partialPredicate.map(SyntaxPrinter.text))])
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
            output.empty("fetchIndexElement", attributes)
        }
        output.close("fetchIndex")
    }

    static func write(_ userInfo: [String: ValueDocument], to output: inout XMLOutput) {
        guard !userInfo.isEmpty else { return }
        output.open("userInfo", [])
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
            output.empty("entry", [("key", key), ("value", value.text ?? SourceValues.text(of: value))])
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
            ])
    }

    private static func write(_ configuration: ConfigurationDocument, to output: inout XMLOutput) {
        output.open(
            "configuration",
            [("name", configuration.name), ("usedWithCloudKit", configuration.usesCloudKit.map { $0 ? "YES" : "NO" })])
        for name in configuration.entityNames { output.empty("memberEntity", [("name", name)]) }
        output.close("configuration")
    }

    /// An attribute that is only written when it is true.
    static func flag(_ name: String, _ value: Bool) -> (String, String?) { (name, value ? "YES" : nil) }
}
