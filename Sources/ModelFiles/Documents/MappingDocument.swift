import Foundation

/// A mapping of one entity as a plain value.
package struct EntityMappingDocument: Equatable, Sendable {
    package var name: String
    /// 1 custom, 2 add, 3 remove, 4 copy, 5 transform.
    package var type: UInt = 0
    package var sourceName: String?
    package var destinationName: String?
    package var sourceHash: Data?
    package var destinationHash: Data?
    /// The expression for the fetch request of the source objects.
    package var source: ExpressionDocument?
    package var policyClassName: String?
    package var attributes: [PropertyMappingDocument] = []
    package var relationships: [PropertyMappingDocument] = []
    package var userInfo: [String: ValueDocument] = [:]

    package init(name: String) { self.name = name }

    /// The expression for all objects of a source entity: the default of a mapping.
    static func allObjects(of entity: String) -> ExpressionDocument {
        .functionOn(
            .variable("manager"), MappingSelectors.fetchRequest,
            [.constant(.string(entity)), .constant(.string("TRUEPREDICATE"))])
    }
}

/// The mapping of one property as a plain value.
package struct PropertyMappingDocument: Equatable, Sendable {
    package var name: String
    package var value: ExpressionDocument?
    package var userInfo: [String: ValueDocument] = [:]

    package init(name: String, value: ExpressionDocument? = nil) {
        self.name = name
        self.value = value
    }
}

/// The methods of a migration manager that expressions of mapping models call.
package enum MappingSelectors {
    package static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    package static let destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    package static let relationshipDestinations = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
}
