import ModelFiles

/// The generated code for one entity.
struct ClassPlan {
    /// The parts to generate, from the model's `codeGenerationType`.
    enum Extent {
        /// The class and its properties.
        case wholeClass
        /// The properties, as an extension of a class that the user wrote.
        case properties

        /// - Parameter everything: True to generate classes even for entities whose classes are written by hand.
        init?(_ codeGenerationType: String?, everything: Bool) {
            switch codeGenerationType {
            case "class": self = .wholeClass
            case "category": self = .properties
            default:
                guard everything else { return nil }
                self = .wholeClass
            }
        }
    }

    let entityName: String
    /// The class without its module.
    let className: String
    let superclassName: String
    let extent: Extent
    /// True if the class is declared `Identifiable`; false if it inherits that from the class of another entity.
    let isIdentifiable: Bool
    /// Attributes by name, then relationships by name.
    let properties: [PropertyPlan]
    let templates: [TemplatePlan]

    /// The class name in source.
    var escapedName: String { SwiftWords.escaped(className) }
}

/// The generated code for a model: determined and checked before any of it is written.
struct GenerationPlan {
    private let source: ModelSource
    private let entities: [String: EntityDocument]
    let types: TypeNames
    private(set) var classes: [ClassPlan] = []
    private(set) var diagnostics: [Diagnostic] = []

    /// - Parameter everything: True to generate classes even for entities whose classes are written by hand.
    /// - Throws: ``GenerationFailure`` with all errors.
    init(_ source: ModelSource, everything: Bool) throws(GenerationFailure) {
        self.source = source
        entities = Dictionary(source.model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        types = TypeNames(ownClasses: Set(source.model.entities.compactMap { SwiftWords.className($0.className) }))
        for entity in source.model.entities.sorted(by: { $0.name < $1.name }) {
            guard let extent = ClassPlan.Extent(entity.codeGenerationType, everything: everything) else { continue }
            add(entity, extent)
        }
        checkNamesAreUnique()
        guard diagnostics.allSatisfy({ $0.severity == .warning }) else {
            throw GenerationFailure(diagnostics: diagnostics)
        }
    }

    private mutating func report(_ severity: Diagnostic.Severity, _ path: String, _ text: String) {
        diagnostics.append(source.diagnostic(severity, at: path, text))
    }

    // MARK: Classes

    private mutating func add(_ entity: EntityDocument, _ extent: ClassPlan.Extent) {
        guard let name = ownClass(of: entity) else {
            return report(
                .warning, entity.name,
                "no class is generated for the entity '\(entity.name)': it has no class name (representedClassName)")
        }
        guard SwiftWords.isIdentifier(name) else {
            return report(
                .error, entity.name,
                "the class name '\(name)' of the entity '\(entity.name)' is not valid in Swift")
        }
        let ancestor = nearestClass(above: entity)
        classes.append(
            ClassPlan(
                entityName: entity.name, className: name,
                superclassName: ancestor.map(SwiftWords.escaped) ?? types.coreData("NSManagedObject"), extent: extent,
                isIdentifiable: ancestor == nil, properties: properties(of: entity), templates: templates(of: entity)))
    }

    /// The class that the entity names, without its module; `nil` if there is none, or it is `NSManagedObject` itself.
    private func ownClass(of entity: EntityDocument) -> String? {
        let name = SwiftWords.className(entity.className)
        return name == "NSManagedObject" ? nil : name
    }

    private func nearestClass(above entity: EntityDocument) -> String? {
        var current = entity.parentName.flatMap { entities[$0] }
        while let ancestor = current {
            if let name = ownClass(of: ancestor) { return name }
            current = ancestor.parentName.flatMap { entities[$0] }
        }
        return nil
    }

    private mutating func checkNamesAreUnique() {
        var owners: [String: String] = [:]
        for plan in classes {
            if let other = owners.updateValue(plan.entityName, forKey: plan.className) {
                report(
                    .error, plan.entityName,
                    "the entities '\(other)' and '\(plan.entityName)' both generate the class '\(plan.className)': "
                        + "set codeGenerationType of one of them to manual")
            }
        }
    }

    // MARK: Properties

    /// Names of properties of every managed object, which a property of the model cannot have.
    static let takenNames: Set<String> = [
        "managedObjectContext", "objectID", "entity", "isFault", "isInserted", "isUpdated", "isDeleted", "hasChanges",
        "hasPersistentChangedValues", "faultingState", "hash", "hashValue", "description", "debugDescription",
    ]

    private mutating func properties(of entity: EntityDocument) -> [PropertyPlan] {
        var attributes: [PropertyPlan] = []
        var relationships: [PropertyPlan] = []
        for property in entity.properties.sorted(by: { $0.name < $1.name }) {
            let path = "\(entity.name).\(property.name)"
            guard checkName(of: property, at: path) else { continue }
            switch property.kind {
            case .attribute(let attribute): attributes.append(.attribute(property.name, attribute, types))
            case .relationship(let relationship):
                let destination = entities[relationship.destinationName].flatMap { ownClass(of: $0) }
                relationships.append(
                    .relationship(
                        property.name, relationship,
                        destination: destination.map(SwiftWords.escaped) ?? types.coreData("NSManagedObject"), types))
            // As in Xcode, the author of the class writes the accessor of a fetched property.
            case .fetched: break
            }
        }
        return attributes + relationships
    }

    private mutating func checkName(of property: PropertyDocument, at path: String) -> Bool {
        guard SwiftWords.isIdentifier(property.name) else {
            report(.error, path, "the name of the property '\(path)' is not valid in Swift")
            return false
        }
        guard !Self.takenNames.contains(property.name) else {
            report(
                .error, path,
                "every managed object has a property with the name of '\(path)': rename it")
            return false
        }
        return true
    }

    // MARK: Templates

    private mutating func templates(of entity: EntityDocument) -> [TemplatePlan] {
        guard let name = ownClass(of: entity) else { return [] }
        let requests = source.model.fetchRequests.filter { $0.entityName == entity.name }
        return requests.sorted { $0.name < $1.name }.compactMap { request in
            guard SwiftWords.isIdentifier("_" + request.name) else {
                report(
                    .warning, request.name,
                    "no method is generated for the fetch request template '\(request.name)': its name is not valid in Swift"
                )
                return nil
            }
            do {
                return try TemplatePlan(request, className: SwiftWords.escaped(name), types)
            } catch {
                report(
                    .error, request.name,
                    "cannot read the predicate of the fetch request template '\(request.name)': \(error)")
                return nil
            }
        }
    }
}
