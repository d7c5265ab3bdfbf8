/// The unknown parts of an element or an object in a model file.
///
/// They are kept next to the known parts, and written back at the same place when the model is written in the form that
/// it was read from: XML in source models, keys and objects in compiled ones.
package struct UnknownParts: Equatable, Sendable {
    /// An attribute of an XML element.
    package struct Attribute: Equatable, Sendable {
        package var name: String
        package var value: String
        /// The number of attributes of the element that precede it.
        package var position: Int

        package init(name: String, value: String, position: Int) {
            self.name = name
            self.value = value
            self.position = position
        }
    }

    /// An XML element.
    package struct Element: Equatable, Sendable {
        /// The text of the element in the file, from its `<` to its last `>`.
        package var text: String
        /// The number of children of the parent that precede it.
        package var position: Int

        package init(text: String, position: Int) {
            self.text = text
            self.position = position
        }
    }

    /// The unknown attributes, in the order of the file.
    package var attributes: [Attribute] = []
    /// The unknown elements, in the order of the file.
    package var elements: [Element] = []
    package var archived = ArchivedParts()
    /// The unknown parts of elements that have no document of their own, such as the list of uniqueness constraints.
    package var parts: [String: UnknownParts] = [:]

    package init() {}

    package var isEmpty: Bool {
        attributes.isEmpty && elements.isEmpty && archived.isEmpty && parts.values.allSatisfy(\.isEmpty)
    }

    /// The unknown parts of an element; setting empty ones removes them.
    package subscript(part name: String) -> UnknownParts {
        get { parts[name] ?? UnknownParts() }
        set { parts[name] = newValue.isEmpty ? nil : newValue }
    }

    /// Adds the unknown parts of another model. Parts that both models have are not duplicated.
    package mutating func merge(_ other: UnknownParts) {
        attributes += other.attributes.filter { added in !attributes.contains { $0.name == added.name } }
        elements += other.elements.filter { added in !elements.contains { $0.text == added.text } }
        if archived.isEmpty { archived = other.archived }
        for (name, part) in other.parts { self[part: name].merge(part) }
    }
}

/// The unknown keys of an archived object with all objects that they refer to.
package struct ArchivedParts: Equatable, Sendable {
    /// The target of a reference.
    package enum Object: Equatable, Sendable {
        case null
        case value(PropertyListValue)
        /// An object with its class and ancestors.
        case object(classes: [String], fields: [String: PropertyListValue])
        case model
        case entity(String)
        case property(entity: String, name: String)
    }

    /// An element of an array, or an entry of a dictionary.
    package struct Element: Equatable, Sendable {
        package var key: PropertyListValue?
        package var value: PropertyListValue
    }

    /// The archived form of a predicate or an expression whose document omits a part. It is valid while the document is
    /// unchanged.
    package struct Form: Equatable, Sendable {
        package enum Document: Equatable, Sendable {
            case predicate(PredicateDocument)
            case expression(ExpressionDocument)
        }

        package var document: Document
        package var value: PropertyListValue
    }

    /// The targets of the references in the values below, by number.
    package var objects: [Object] = []
    /// The values of keys.
    package var fields: [String: PropertyListValue] = [:]
    /// The unknown elements of known collections of the object, by the key of the collection.
    package var elements: [String: [Element]] = [:]
    package var forms: [Form] = []

    package init() {}

    package var isEmpty: Bool { fields.isEmpty && elements.isEmpty && forms.isEmpty }
}
