extension ModelDocument {
    /// The model in the form of the editor, in which it is written as a source model.
    ///
    /// Additions of the compiler are removed (see ``compiled(file:lines:)``), composite attributes get named types, and
    /// the usual editor settings are added. A model that was read from a source file has all of this and is unchanged.
    package func decompiled() -> ModelDocument {
        var model = self
        for index in model.entities.indices { model.entities[index].removeMarkedIndexes() }
        var naming = CompositeNaming(known: model.composites)
        for index in model.entities.indices { naming.name(&model.entities[index]) }
        model.composites = naming.composites
        guard editorSettings.isEmpty else { return model }
        model.editorSettings = Self.usualSettings
        for index in model.entities.indices {
            model.entities[index].isSyncable = true
            for property in model.entities[index].properties.indices {
                model.entities[index].properties[property].isSyncable = true
            }
        }
        return model
    }

    /// The settings that the editor writes about itself.
    private static let usualSettings = [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "lastSavedToolsVersion": "22758",
        "systemVersion": "23F79", "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
    ]

    /// The parts that a source model cannot contain, a line each: they are omitted when the model is written as one.
    package var unwritableInSource: [String] {
        var lines: [String] = []
        if versionIdentifiers.count(where: { !$0.isEmpty }) > 1 {
            lines.append("all version identifiers but the first")
        }
        lines += unknown.unwritableInSource(of: "the model")
        for request in fetchRequests {
            if !request.sortKeys.isEmpty {
                lines.append("the sort descriptors of the fetch request '\(request.name)'")
            }
            lines += request.unknown.unwritableInSource(of: "the fetch request '\(request.name)'")
        }
        for entity in entities {
            lines += entity.unknown.unwritableInSource(of: "'\(entity.name)'")
            for index in entity.fetchIndexes {
                let parts = [index.unknown] + index.elements.map(\.unknown)
                lines += parts.flatMap { $0.unwritableInSource(of: "the index '\(entity.name).\(index.name)'") }
            }
            for property in entity.properties {
                let path = "\(entity.name).\(property.name)"
                lines += property.unknown.unwritableInSource(of: "'\(path)'")
                lines += property.validations.compactMap { validation in
                    guard case .predicate(let predicate, _) = validation else { return nil }
                    return "the validation '\(SyntaxPrinter.text(predicate))' of '\(path)'"
                }
                switch property.attribute?.defaultValue {
                case .data, .array, .set, .dictionary, .unknown: lines.append("the default value of '\(path)'")
                default: break
                }
                if case .fetched(let request?) = property.kind, !request.sortKeys.isEmpty {
                    lines.append("the sort descriptors of '\(path)'")
                }
                if property.attribute?.hasUnknownDerivation == true {
                    lines.append("the unknown derivation of '\(path)': give it a 'derivationExpression'")
                }
                if property.attribute?.derivationFilter != nil {
                    lines.append("the filter of the derivation '\(path)'")
                }
            }
        }
        return lines
    }
}

extension UnknownParts {
    /// The unknown parts of a compiled model, a line for each key.
    fileprivate func unwritableInSource(of owner: String) -> [String] {
        let keys = Set(archived.fields.keys).union(archived.elements.keys)
            .subtracting(["NSDerivationExpression", "NSFilteringPredicate"])
        return keys.sorted().map { "the unknown value of the key '\($0)' of \(owner)" }
    }
}

extension EntityDocument {
    /// Removes the additions of the compiler: an index under an attribute's own name for its mark, and the mark of an
    /// attribute that has an index of another name for itself.
    fileprivate mutating func removeMarkedIndexes() {
        func alone(_ index: FetchIndexDocument) -> String? {
            guard index.elements.count == 1, let element = index.elements.first, !element.isRTree,
                index.partialPredicate == nil, case .property(let name) = element.content
            else { return nil }
            return name
        }
        for place in properties.indices where properties[place].attribute != nil && properties[place].isIndexed {
            let name = properties[place].name
            fetchIndexes.removeAll { $0.name == name && alone($0) == name && $0.elements.allSatisfy(\.isAscending) }
            if fetchIndexes.contains(where: { alone($0) == name }) { properties[place].isIndexed = false }
        }
    }
}

/// Names the types of composite attributes that have no name, since compiled models do not keep them.
private struct CompositeNaming {
    private(set) var composites: [CompositeDocument]

    init(known: [CompositeDocument]) { composites = known }

    mutating func name(_ entity: inout EntityDocument) {
        for index in entity.properties.indices { name(&entity.properties[index], prefix: entity.name) }
    }

    private mutating func name(_ property: inout PropertyDocument, prefix: String) {
        guard case .attribute(var attribute) = property.kind, attribute.type == .composite,
            attribute.compositeName == nil
        else { return }
        for index in attribute.elements.indices { name(&attribute.elements[index], prefix: prefix) }
        if let known = composites.first(where: { $0.elements == attribute.elements }) {
            attribute.compositeName = known.name
        } else {
            let wanted = property.name.prefix(1).uppercased() + property.name.dropFirst()
            var free = wanted
            var number = 1
            while composites.contains(where: { $0.name == free }) {
                free = number == 1 ? prefix + wanted : "\(prefix)\(wanted)\(number)"
                number += 1
            }
            composites.append(CompositeDocument(name: free, elements: attribute.elements))
            attribute.compositeName = free
        }
        property.kind = .attribute(attribute)
    }
}
