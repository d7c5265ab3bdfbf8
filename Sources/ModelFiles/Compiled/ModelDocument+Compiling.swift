extension ModelDocument {
    /// The model as a model compiler outputs it for programs.
    ///
    /// Predicates and expressions become structures. An attribute with a fetch index of its own is marked as indexed,
    /// and a marked one without such an index gets one under its own name, as in the files of Apple's compiler. Parts
    /// that only the editor needs stay; they are omitted when the model is written.
    ///
    /// - Parameters:
    ///   - file: The path for messages.
    ///   - lines: The lines of properties and fetch requests in the file, for messages.
    /// - Throws: ``ModelFileError`` if the text of a predicate or an expression cannot be parsed.
    package func compiled(file: String, lines: [String: Int] = [:]) throws(ModelFileError) -> ModelDocument {
        let parsing = PredicateParsing(file: file, lines: lines)
        var model = self
        for index in model.entities.indices {
            try parsing.parse(&model.entities[index])
            model.entities[index].addMarkedIndexes()
        }
        for index in model.fetchRequests.indices {
            try parsing.parse(&model.fetchRequests[index], path: model.fetchRequests[index].name)
        }
        return model
    }
}

extension EntityDocument {
    fileprivate mutating func addMarkedIndexes() {
        let alone = Set(
            fetchIndexes.compactMap { index -> String? in
                guard index.elements.count == 1, let element = index.elements.first, !element.isRTree,
                    case .property(let name) = element.content
                else { return nil }
                return name
            })
        let known = Set(fetchIndexes.map(\.name))
        var added: [FetchIndexDocument] = []
        for index in properties.indices {
            guard let attribute = properties[index].attribute, !properties[index].isTransient else { continue }
            let name = properties[index].name
            if alone.contains(name) { properties[index].isIndexed = true }
            guard properties[index].isIndexed, attribute.type != .composite, !known.contains(name),
                !alone.contains(name)
            else { continue }
            added.append(
                FetchIndexDocument(name: name, elements: [FetchIndexElementDocument(content: .property(name))]))
        }
        fetchIndexes = added.sorted { $0.name < $1.name } + fetchIndexes
    }
}

/// Turns the text of predicates and expressions into structures.
private struct PredicateParsing {
    let file: String
    let lines: [String: Int]

    /// The line of the path, or of its closest known parent.
    private func line(of path: String) -> Int? {
        var keys = path.split(separator: ".")
        while !keys.isEmpty {
            if let line = lines[keys.joined(separator: ".")] { return line }
            keys.removeLast()
        }
        return nil
    }

    func parse(_ entity: inout EntityDocument) throws(ModelFileError) {
        for index in entity.properties.indices {
            try parse(&entity.properties[index], path: "\(entity.name).\(entity.properties[index].name)")
        }
        for index in entity.fetchIndexes.indices {
            let path = "\(entity.name).\(entity.fetchIndexes[index].name)"
            entity.fetchIndexes[index].partialPredicate = try parsed(entity.fetchIndexes[index].partialPredicate, path)
            for element in entity.fetchIndexes[index].elements.indices {
                guard
                    case .expression(let expression, let name, let type) = entity.fetchIndexes[index].elements[element]
                        .content
                else { continue }
                entity.fetchIndexes[index].elements[element].content = .expression(
                    try parsed(expression, path), name: name, resultType: type)
            }
        }
    }

    private func parse(_ property: inout PropertyDocument, path: String) throws(ModelFileError) {
        switch property.kind {
        case .attribute(var attribute):
            if let derivation = attribute.derivation { attribute.derivation = try parsed(derivation, path) }
            attribute.derivationFilter = try parsed(attribute.derivationFilter, path)
            for index in attribute.elements.indices {
                try parse(&attribute.elements[index], path: "\(path).\(attribute.elements[index].name)")
            }
            property.kind = .attribute(attribute)
        case .fetched(var request?):
            try parse(&request, path: path)
            property.kind = .fetched(request)
        case .fetched(nil), .relationship: break
        }
        for index in property.validations.indices {
            guard case .predicate(let predicate, let warning) = property.validations[index],
                let structure = try parsed(predicate, path)
            else { continue }
            property.validations[index] = .predicate(structure, warning: warning)
        }
    }

    func parse(_ request: inout FetchRequestDocument, path: String) throws(ModelFileError) {
        request.predicate = try parsed(request.predicate, path)
    }

    private func parsed(_ predicate: PredicateDocument?, _ path: String) throws(ModelFileError) -> PredicateDocument? {
        guard let predicate else { return nil }
        do {
            return try PredicateTranslation.document(PredicateTranslation.tree(predicate))
        } catch {
            throw ModelFileError(
                .malformed, file: file, line: line(of: path), "cannot read a predicate of '\(path)': \(error)")
        }
    }

    private func parsed(_ expression: ExpressionDocument, _ path: String) throws(ModelFileError) -> ExpressionDocument {
        do {
            return try PredicateTranslation.document(PredicateTranslation.tree(expression))
        } catch {
            throw ModelFileError(
                .malformed, file: file, line: line(of: path), "cannot read an expression of '\(path)': \(error)")
        }
    }
}
