/// What a reader found in an element or an object of a model file without knowing it.
///
/// It is kept beside what was understood, and written back where it stood when the model is written in the form from which
/// it was read: XML into source models, keys and objects into compiled ones.
package struct UnknownParts: Equatable, Sendable {
    /// An attribute of an XML element.
    package struct Attribute: Equatable, Sendable {
        package var name: String
        package var value: String
        /// How many attributes of the element stand before it.
        package var position: Int

        package init(name: String, value: String, position: Int) {
            self.name = name
            self.value = value
            self.position = position
        }
    }

    /// An XML element.
    package struct Element: Equatable, Sendable {
        /// The element as it stands in the file, from its `<` to its last `>`.
        package var text: String
        /// How many children of the parent stand before it.
        package var position: Int

        package init(text: String, position: Int) {
            self.text = text
            self.position = position
        }
    }

    /// In the order of the file.
    package var attributes: [Attribute] = []
    /// In the order of the file.
    package var elements: [Element] = []
    package var archived = ArchivedParts()
    /// What was found in parts that have no document of their own, such as the list of uniqueness constraints.
    package var parts: [String: UnknownParts] = [:]

    package init() {}

    package var isEmpty: Bool {
        attributes.isEmpty && elements.isEmpty && archived.isEmpty && parts.values.allSatisfy(\.isEmpty)
    }

    /// What was found in a part; setting an empty one leaves no trace.
    package subscript(part name: String) -> UnknownParts {
        get { parts[name] ?? UnknownParts() }
        set { parts[name] = newValue.isEmpty ? nil : newValue }
    }

    /// Adds what another model has that this one does not. What stood in one place in both files stands there once.
    package mutating func merge(_ other: UnknownParts) {
        attributes += other.attributes.filter { added in !attributes.contains { $0.name == added.name } }
        elements += other.elements.filter { added in !elements.contains { $0.text == added.text } }
        if archived.isEmpty { archived = other.archived }
        for (name, part) in other.parts { self[part: name].merge(part) }
    }
}

/// The unknown keys of an archived object with all that they refer to.
package struct ArchivedParts: Equatable, Sendable {
    /// What a reference leads to.
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

    /// The archived form of a predicate or an expression, of which the document leaves something out. It holds as long as
    /// the document is the same.
    package struct Form: Equatable, Sendable {
        package enum Document: Equatable, Sendable {
            case predicate(PredicateDocument)
            case expression(ExpressionDocument)
        }

        package var document: Document
        package var value: PropertyListValue
    }

    /// What the references in the values below mean, by number.
    package var objects: [Object] = []
    /// The values of keys.
    package var fields: [String: PropertyListValue] = [:]
    /// What known collections of the object have beside that which was understood, by the key of the collection.
    package var elements: [String: [Element]] = [:]
    package var forms: [Form] = []

    package init() {}

    package var isEmpty: Bool { fields.isEmpty && elements.isEmpty && forms.isEmpty }
}
