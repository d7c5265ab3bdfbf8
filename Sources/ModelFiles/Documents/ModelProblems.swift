extension ModelDocument {
    /// Throws if the model is inconsistent.
    ///
    /// - Parameter file: The path for messages.
    package func check(file: String) throws(ModelFileError) {
        guard let problem = ModelProblems.find(in: self).first else { return }
        throw ModelFileError(.malformed, file: file, problem.reason)
    }
}

/// Finds inconsistencies of a model: names that do not exist, duplicate names, circular hierarchies.
struct ModelProblems {
    struct Problem: Equatable {
        /// `Entity`, `Entity.property`, or the name of another part: the key for looking up the line.
        let path: String
        let reason: String
    }

    private let model: ModelDocument
    private let entities: [String: EntityDocument]
    private(set) var problems: [Problem] = []

    /// All problems of `model`, in the order of the model.
    static func find(in model: ModelDocument) -> [Problem] {
        var search = ModelProblems(model)
        search.checkEntities()
        search.checkOthers()
        return search.problems
    }

    private init(_ model: ModelDocument) {
        self.model = model
        entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func report(_ path: String, _ reason: String) {
        problems.append(Problem(path: path, reason: reason))
    }

    private mutating func checkEntities() {
        var seen: Set<String> = []
        for entity in model.entities {
            if entity.name.isEmpty { report("", "an entity has no name") }
            if !seen.insert(entity.name).inserted { report(entity.name, "duplicate entity '\(entity.name)'") }
        }
        for entity in model.entities where checkHierarchy(of: entity) { checkContents(of: entity) }
    }

    /// True if all ancestors of `entity` exist and do not form a circle.
    private mutating func checkHierarchy(of entity: EntityDocument) -> Bool {
        var passed: Set<String> = [entity.name]
        var current = entity
        while let name = current.parentName {
            guard let parent = entities[name] else {
                report(
                    current.name, "the entity '\(current.name)' has the parent '\(name)', which the model does not have"
                )
                return false
            }
            guard passed.insert(name).inserted else {
                report(entity.name, "the entity '\(entity.name)' is its own ancestor")
                return false
            }
            current = parent
        }
        return true
    }

    private mutating func checkContents(of entity: EntityDocument) {
        var known = inheritedNames(of: entity)
        for property in entity.properties {
            let path = "\(entity.name).\(property.name)"
            if property.name.isEmpty { report(entity.name, "a property of '\(entity.name)' has no name") }
            if !known.insert(property.name).inserted {
                report(
                    path, "duplicate property '\(property.name)' of the entity '\(entity.name)', own or inherited")
            }
            if case .relationship(let relationship) = property.kind { check(relationship, path: path) }
        }
        for name in entity.uniquenessConstraints.joined() where !known.contains(name) {
            report(
                entity.name,
                "a uniqueness constraint of '\(entity.name)' names the property '\(name)', which the entity does not have"
            )
        }
        checkIndexes(of: entity, known: known)
    }

    private mutating func checkIndexes(of entity: EntityDocument, known: Set<String>) {
        for index in entity.fetchIndexes {
            let path = "\(entity.name).\(index.name)"
            for element in index.elements {
                guard case .property(let name) = element.content, !known.contains(name) else { continue }
                report(
                    path,
                    "the index '\(index.name)' of '\(entity.name)' names the property '\(name)', which the entity does not have"
                )
            }
            if Set(index.elements.map(\.isRTree)).count > 1 {
                report(path, "the index '\(index.name)' of '\(entity.name)' mixes binary and R-tree elements")
            }
        }
    }

    private func inheritedNames(of entity: EntityDocument) -> Set<String> {
        var names: Set<String> = []
        var parent = entity.parentName.flatMap { entities[$0] }
        while let current = parent {
            names.formUnion(current.properties.map(\.name))
            parent = current.parentName.flatMap { entities[$0] }
        }
        return names
    }

    private mutating func check(_ relationship: RelationshipDocument, path: String) {
        guard let destination = entities[relationship.destinationName] else {
            report(
                path,
                "the destination of the relationship '\(path)' is the entity '\(relationship.destinationName)', "
                    + "which the model does not have")
            return
        }
        guard let inverse = relationship.inverseName, inverseExists(inverse, in: destination) == false else { return }
        report(
            path, "the relationship '\(path)' has the inverse '\(inverse)', which '\(destination.name)' does not have")
    }

    private func inverseExists(_ name: String, in entity: EntityDocument) -> Bool {
        var current: EntityDocument? = entity
        var steps = 0
        while let level = current, steps <= entities.count {
            if level.property(named: name)?.relationship != nil { return true }
            current = level.parentName.flatMap { entities[$0] }
            steps += 1
        }
        return false
    }

    private mutating func checkOthers() {
        for configuration in model.configurations {
            for name in configuration.entityNames where entities[name] == nil {
                report(
                    configuration.name,
                    "the configuration '\(configuration.name)' has the entity '\(name)', which the model does not have")
            }
        }
        for request in model.fetchRequests where entities[request.entityName] == nil {
            report(
                request.name,
                "the fetch request '\(request.name)' is for the entity '\(request.entityName)', "
                    + "which the model does not have")
        }
    }
}
