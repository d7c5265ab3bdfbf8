/// An entity as a plain value.
package struct EntityDocument: Equatable, Sendable {
    package var name: String
    /// The class of the objects; `nil` stands for `NSManagedObject`.
    package var className: String?
    package var isAbstract = false
    /// The entity from which this one inherits.
    package var parentName: String?
    /// The properties that the entity itself declares, in the order of the file.
    package var properties: [PropertyDocument] = []
    /// `nil` while it is the name.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: ValueDocument] = [:]
    /// The names of the properties of each constraint.
    package var uniquenessConstraints: [[String]] = []
    package var fetchIndexes: [FetchIndexDocument] = []
    /// The form in which old models have indexes: the names of the properties of each.
    package var compoundIndexes: [[String]] = []
    /// How the editor makes a class of the entity: `class`, `category`, or `nil` for not at all. Source models only.
    package var codeGenerationType: String?
    /// Kept from source models; nothing reads it.
    package var isSyncable = false
    package var unknown = UnknownParts()

    package init(name: String) { self.name = name }

    /// The property of that name that the entity itself declares.
    package func property(named name: String) -> PropertyDocument? { properties.first { $0.name == name } }
}

/// An index of a store as a plain value.
package struct FetchIndexDocument: Equatable, Sendable {
    package var name: String
    package var elements: [FetchIndexElementDocument]
    /// Which rows stand in the index; `nil` means all.
    package var partialPredicate: PredicateDocument?
    package var unknown = UnknownParts()

    package init(name: String, elements: [FetchIndexElementDocument], partialPredicate: PredicateDocument? = nil) {
        self.name = name
        self.elements = elements
        self.partialPredicate = partialPredicate
    }
}

extension FetchIndexDocument {
    /// The form in which archives have an index of several elements once more, for old readers: the names of what it orders
    /// by. `nil` for other indexes.
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

/// One of the things that an index orders by.
package struct FetchIndexElementDocument: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case property(String)
        /// An expression, the name that its description has, and the code of the type of its result.
        case expression(ExpressionDocument, name: String, resultType: UInt)
    }

    package var content: Content
    /// Whether the element belongs to an index of ranges (an R-tree) and not to a sorted one.
    package var isRTree: Bool
    package var isAscending: Bool
    package var unknown = UnknownParts()

    package init(content: Content, isRTree: Bool = false, isAscending: Bool = true) {
        self.content = content
        self.isRTree = isRTree
        self.isAscending = isAscending
    }
}
