extension SourceModelReader {
    /// Reads an `entity` element.
    mutating func readEntity(_ tree: XMLTree) throws -> EntityDocument {
        var element = SourceElement(tree, file: file)
        var entity = EntityDocument(name: try element.requiredText("name"))
        entity.className = element.text("representedClassName")
        entity.isAbstract = try element.flag("isAbstract") ?? false
        entity.parentName = element.text("parentEntity")
        entity.renamingIdentifier = element.text("elementID") ?? element.text("renamingIdentifier")
        entity.versionHashModifier = element.text("versionHashModifier")
        entity.codeGenerationType = element.text("codeGenerationType")
        entity.isSyncable = try element.flag("syncable") ?? false
        finish(element)
        lines[entity.name] = tree.line
        for child in tree.children { try readChild(child, of: &entity) }
        return entity
    }

    private mutating func readChild(_ tree: XMLTree, of entity: inout EntityDocument) throws {
        switch tree.name {
        case "attribute": try add(readAttribute(tree), at: tree.line, to: &entity)
        case "relationship": try add(readRelationship(tree), at: tree.line, to: &entity)
        case "fetchedProperty": try add(readFetchedProperty(tree), at: tree.line, to: &entity)
        case "fetchIndex":
            let index = try readFetchIndex(tree, position: entity.fetchIndexes.count)
            lines["\(entity.name).\(index.name)"] = tree.line
            entity.fetchIndexes.append(index)
        case "uniquenessConstraints":
            entity.uniquenessConstraints = try readLists(tree, of: "uniquenessConstraint", items: "constraint")
        case "compoundIndexes":
            entity.compoundIndexes = try readLists(tree, of: "compoundIndex", items: "index")
        case "userInfo": entity.userInfo = try readUserInfo(tree)
        default: note(unknown: tree, in: "entity")
        }
    }

    private mutating func add(_ property: PropertyDocument, at line: Int, to entity: inout EntityDocument) {
        lines["\(entity.name).\(property.name)"] = line
        entity.properties.append(property)
    }

    /// Reads lists of property names: `<outer><inner><item value="name"/>…`.
    private mutating func readLists(_ tree: XMLTree, of inner: String, items: String) throws -> [[String]] {
        var lists: [[String]] = []
        for list in tree.children {
            guard list.name == inner else {
                note(unknown: list, in: tree.name)
                continue
            }
            var names: [String] = []
            for item in list.children(named: items) {
                var element = SourceElement(item, file: file)
                names.append(try element.requiredText("value"))
                finish(element)
            }
            lists.append(names)
        }
        return lists
    }

    private mutating func readFetchIndex(_ tree: XMLTree, position: Int) throws -> FetchIndexDocument {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let predicate = element.text("partialIndexPredicate").map(PredicateDocument.format)
        finish(element)
        var elements: [FetchIndexElementDocument] = []
        for child in tree.children {
            guard child.name == "fetchIndexElement" else {
                note(unknown: child, in: "fetchIndex")
                continue
            }
            elements.append(try readFetchIndexElement(child, number: elements.count + 1))
        }
        return FetchIndexDocument(name: name, elements: elements, partialPredicate: predicate)
    }

    private mutating func readFetchIndexElement(_ tree: XMLTree, number: Int) throws -> FetchIndexElementDocument {
        var element = SourceElement(tree, file: file)
        let content: FetchIndexElementDocument.Content
        if let expression = element.text("expression") {
            let type = try element.choice("expressionType", of: SourceValues.attributeKinds) ?? .undefined
            content = .expression(.format(expression), name: "expression\(number)", resultType: type.rawValue)
            _ = element.text("property")
        } else {
            content = .property(try element.requiredText("property"))
        }
        let isRTree = try element.choice("type", of: ["Binary": false, "RTree": true]) ?? false
        let isAscending = try element.choice("order", of: ["ascending": true, "descending": false]) ?? true
        finish(element)
        return FetchIndexElementDocument(content: content, isRTree: isRTree, isAscending: isAscending)
    }
}
