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
        keepAttributes(of: element, in: &entity.unknown)
        lines[entity.name] = tree.line
        for (position, child) in tree.children.enumerated() { try readChild(child, at: position, of: &entity) }
        return entity
    }

    private mutating func readChild(_ tree: XMLTree, at position: Int, of entity: inout EntityDocument) throws {
        switch tree.name {
        case "attribute": try add(readAttribute(tree), at: tree.line, to: &entity)
        case "relationship": try add(readRelationship(tree), at: tree.line, to: &entity)
        case "fetchedProperty": try add(readFetchedProperty(tree), at: tree.line, to: &entity)
        case "fetchIndex":
            let index = try readFetchIndex(tree, position: entity.fetchIndexes.count)
            lines["\(entity.name).\(index.name)"] = tree.line
            entity.fetchIndexes.append(index)
        case "uniquenessConstraints":
            entity.uniquenessConstraints += try readLists(
                tree, of: "uniquenessConstraint", items: "constraint", keeping: &entity.unknown[part: tree.name])
        case "compoundIndexes":
            entity.compoundIndexes += try readLists(
                tree, of: "compoundIndex", items: "index", keeping: &entity.unknown[part: tree.name])
        case "userInfo": entity.userInfo = readUserInfo(tree, keeping: &entity.unknown[part: tree.name])
        default: keep(tree, at: position, of: "entity", in: &entity.unknown)
        }
    }

    private mutating func add(_ property: PropertyDocument, at line: Int, to entity: inout EntityDocument) {
        lines["\(entity.name).\(property.name)"] = line
        entity.properties.append(property)
    }

    /// Reads lists of property names: `<outer><inner><item value="name"/>…`.
    private mutating func readLists(
        _ tree: XMLTree, of inner: String, items: String, keeping unknown: inout UnknownParts
    ) throws -> [[String]] {
        var lists: [[String]] = []
        keepAttributes(of: SourceElement(tree, file: file), in: &unknown)
        for (position, list) in tree.children.enumerated() {
            guard list.name == inner else {
                keep(list, at: position, of: tree.name, in: &unknown)
                continue
            }
            lists.append(try readList(list, items: items, keeping: &unknown[part: String(lists.count)]))
        }
        return lists
    }

    private mutating func readList(
        _ tree: XMLTree, items: String, keeping unknown: inout UnknownParts
    ) throws -> [String] {
        var names: [String] = []
        keepAttributes(of: SourceElement(tree, file: file), in: &unknown)
        for (position, item) in tree.children.enumerated() {
            guard item.name == items else {
                keep(item, at: position, of: tree.name, in: &unknown)
                continue
            }
            var element = SourceElement(item, file: file)
            names.append(try element.requiredText("value"))
            keepAll(of: element, in: &unknown[part: String(names.count - 1)])
        }
        return names
    }

    private mutating func readFetchIndex(_ tree: XMLTree, position: Int) throws -> FetchIndexDocument {
        var element = SourceElement(tree, file: file)
        let name = try element.requiredText("name")
        let predicate = element.text("partialIndexPredicate").map(PredicateDocument.format)
        var index = FetchIndexDocument(name: name, elements: [], partialPredicate: predicate)
        keepAttributes(of: element, in: &index.unknown)
        for (position, child) in tree.children.enumerated() {
            guard child.name == "fetchIndexElement" else {
                keep(child, at: position, of: tree.name, in: &index.unknown)
                continue
            }
            index.elements.append(try readFetchIndexElement(child, number: index.elements.count + 1))
        }
        return index
    }

    private mutating func readFetchIndexElement(_ tree: XMLTree, number: Int) throws -> FetchIndexElementDocument {
        var element = SourceElement(tree, file: file)
        let content: FetchIndexElementDocument.Content
        if let expression = element.text("expression") {
            let type = try element.choice("expressionType", of: SourceValues.attributeKinds) ?? .undefined
            content = .expression(.format(expression), name: "expression\(number)", resultType: type.rawValue)
        } else {
            content = .property(try element.requiredText("property"))
        }
        let isRTree = try element.choice("type", of: ["Binary": false, "RTree": true]) ?? false
        let isAscending = try element.choice("order", of: ["ascending": true, "descending": false]) ?? true
        var read = FetchIndexElementDocument(content: content, isRTree: isRTree, isAscending: isAscending)
        keepAll(of: element, in: &read.unknown)
        return read
    }
}
