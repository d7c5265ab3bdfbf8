/// A model as a plain value: what a source model, a compiled model and the model cached in a store have in common.
///
/// Entities refer to each other by name. Nothing here knows the classes of the framework.
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
    /// What only the editor reads: attributes of the root element of a source model, such as `sourceLanguage`.
    package var editorSettings: [String: String] = [:]
    /// Where the editor draws the entities.
    package var diagram: [DiagramElement] = []
    package var unknown = UnknownParts()

    package init() {}

    /// The entity of that name. Looks at all entities.
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
    /// Whether the set is mirrored in the cloud, where the source says so.
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
    /// Attributes only.
    package var elements: [PropertyDocument]
    package var unknown = UnknownParts()

    package init(name: String, elements: [PropertyDocument]) {
        self.name = name
        self.elements = elements
    }
}

/// Where the editor draws an entity.
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
