/// An entity as a plain value.
package struct EntityDocument: Equatable, Sendable {
    package var name: String
    /// The class of the objects; `nil` is `NSManagedObject`.
    package var className: String?
    package var isAbstract = false
    /// The entity that this one inherits from.
    package var parentName: String?
    /// The properties that the entity itself declares, in the order of the file.
    package var properties: [PropertyDocument] = []
    /// The renaming identifier; `nil` if it is the entity's name.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: ValueDocument] = [:]
    /// The names of the properties of each constraint.
    package var uniquenessConstraints: [[String]] = []
    package var fetchIndexes: [FetchIndexDocument] = []
    /// The form of indexes in old models: the names of the properties of each.
    package var compoundIndexes: [[String]] = []
    /// The kind of class that the editor generates: `class`, `category`, or `nil` for none. Source models only.
    package var codeGenerationType: String?
    /// A setting of source models that is kept but not used.
    package var isSyncable = false
    package var unknown = UnknownParts()

    package init(name: String) { self.name = name }

    /// The property with that name that the entity itself declares.
    package func property(named name: String) -> PropertyDocument? { properties.first { $0.name == name } }
}

/// An index of a store as a plain value.
package struct FetchIndexDocument: Equatable, Sendable {
    package var name: String
    package var elements: [FetchIndexElementDocument]
    /// Selects the rows in the index; `nil` for all.
    package var partialPredicate: PredicateDocument?
    package var unknown = UnknownParts()

    package init(name: String, elements: [FetchIndexElementDocument], partialPredicate: PredicateDocument? = nil) {
        self.name = name
        self.elements = elements
        self.partialPredicate = partialPredicate
    }
}

extension FetchIndexDocument {
    /// The names that an index of several elements orders by: the form that archives repeat for old readers. `nil` for
    /// other indexes.
    var compoundForm: [String]? {
        guard elements.count > 1, !elements.contains(where: \.isRTree) else { return nil }
        return elements.map { element in
            switch element.content {
            case .property(let name): name
            case .expression(.evaluatedObject, _, _): "self"
            case .expression(let expression, _, _): SyntaxPrinter.standardText(expression)
            }
        }
    }
}

/// One element that an index orders by.
package struct FetchIndexElementDocument: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case property(String)
        /// An expression, the name of its description, and the code of its result type.
        case expression(ExpressionDocument, name: String, resultType: UInt)
    }

    package var content: Content
    /// True if the element belongs to an index of ranges (an R-tree) and not to a sorted one.
    package var isRTree: Bool
    package var isAscending: Bool
    package var unknown = UnknownParts()

    package init(content: Content, isRTree: Bool = false, isAscending: Bool = true) {
        self.content = content
        self.isRTree = isRTree
        self.isAscending = isAscending
    }
}
