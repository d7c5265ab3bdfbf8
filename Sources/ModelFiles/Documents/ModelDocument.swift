/// A model as a plain value: the common form of source models, compiled models and the model cached in a store.
///
/// Entities refer to each other by name. Independent of the classes of the framework.
package struct ModelDocument: Equatable, Sendable {
    package var entities: [EntityDocument] = []
    /// Named fetch requests.
    package var fetchRequests: [FetchRequestDocument] = []
    /// Named sets of entities, without the default one.
    package var configurations: [ConfigurationDocument] = []
    /// The kinds of composite attributes, for source models; compiled ones have the elements in the attributes.
    package var composites: [CompositeDocument] = []
    /// The names that the author gave to the version.
    package var versionIdentifiers: [String] = []
    /// Settings that only the editor reads: attributes of the root element of a source model, such as `sourceLanguage`.
    package var editorSettings: [String: String] = [:]
    /// The positions of the entities in the editor.
    package var diagram: [DiagramElement] = []
    package var unknown = UnknownParts()

    package init() {}

    /// The entity with that name. O(entities).
    package func entity(named name: String) -> EntityDocument? { entities.first { $0.name == name } }

    /// The entities that inherit from another one, by their parent's name, in the order of ``entities``.
    package var subentities: [String: [EntityDocument]] {
        Dictionary(grouping: entities.filter { $0.parentName != nil }) { $0.parentName ?? "" }
    }
}

/// A named set of entities.
package struct ConfigurationDocument: Equatable, Sendable {
    package var name: String
    package var entityNames: [String]
    /// True if the set is mirrored in the cloud; `nil` if the source does not specify it.
    package var usesCloudKit: Bool?
    package var unknown = UnknownParts()

    package init(name: String, entityNames: [String], usesCloudKit: Bool? = nil) {
        self.name = name
        self.entityNames = entityNames
        self.usesCloudKit = usesCloudKit
    }
}

/// A kind of composite attribute: named elements.
package struct CompositeDocument: Equatable, Sendable {
    package var name: String
    /// The elements, which are attributes.
    package var elements: [PropertyDocument]
    package var unknown = UnknownParts()

    package init(name: String, elements: [PropertyDocument]) {
        self.name = name
        self.elements = elements
    }
}

/// The position of an entity in the editor.
package struct DiagramElement: Equatable, Sendable {
    package var name: String
    package var positionX: String
    package var positionY: String
    package var width: String
    package var height: String
    package var unknown = UnknownParts()

    package init(name: String, positionX: String, positionY: String, width: String, height: String) {
        self.name = name
        self.positionX = positionX
        self.positionY = positionY
        self.width = width
        self.height = height
    }
}
