import CoreData
import Foundation
import Translation

/// The values of a store that the next version of its model does not allow: missing values of required attributes, and
/// repeated values of unique ones.
struct MigrationObstacles {
    let step: MigrationStep
    let session: StoreSession
    let surroundings: CommandSurroundings

    /// One sentence for each attribute, then one for each constraint. A migration would fail at the first of them.
    ///
    /// - Throws: ``CommandError`` after an interruption; errors of the store.
    func sentences() throws -> [String] {
        guard step.isInferred else { return [] }
        let pairs = (step.mapping.entityMappings ?? []).compactMap { mapping in
            mapping.sourceEntityName.flatMap { session.model.entitiesByName[$0] }.flatMap { source in
                mapping.destinationEntityName.flatMap { step.destination.model.entitiesByName[$0] }
                    .map { (source: source, destination: $0) }
            }
        }
        var sentences: [String] = []
        for (source, destination) in pairs where !destination.isAbstract {
            for attribute in destination.attributesByName.values.sorted(by: { $0.name < $1.name }) {
                let count = try whileWanted { try missing(attribute, in: source) }
                if count > 0 { sentences.append(missing(attribute, of: destination, in: source, count)) }
            }
        }
        for (source, destination) in pairs {
            for names in Self.constraints(of: destination) {
                let count = try whileWanted { try repeated(names, of: destination, in: source) }
                if count > 0 { sentences.append(repeated(names, of: destination, in: source, count)) }
            }
        }
        return sentences
    }

    private func whileWanted(_ count: () throws -> Int) throws -> Int {
        if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
        return try count()
    }

    // MARK: Missing values

    private func missing(
        _ attribute: NSAttributeDescription, of destination: NSEntityDescription, in source: NSEntityDescription,
        _ count: Int
    ) -> String {
        count == 1
            ? sentence(
                "1 record of \(source.name ?? "") would have no value for \(destination.name ?? "").\(attribute.name), which is required and has no default"
            )
            : sentence(
                "\(count) records of \(source.name ?? "") would have no value for \(destination.name ?? "").\(attribute.name), which is required and has no default"
            )
    }

    /// The number of records that lack a value.
    private func missing(_ attribute: NSAttributeDescription, in source: NSEntityDescription) throws -> Int {
        guard !attribute.isOptional, !attribute.isTransient, attribute.defaultValue == nil,
            !(attribute is NSDerivedAttributeDescription)
        else { return 0 }
        let former = attribute.source(in: source)
        let request = NSFetchRequest<NSManagedObject>(entityName: source.name ?? "")
        request.includesSubentities = false
        if let former = former as? NSAttributeDescription {
            guard former.isOptional else { return 0 }
            request.predicate = NSPredicate(format: "%K == nil", former.name)
        }
        return try session.context.count(for: request)
    }

    // MARK: Repeated values

    private func repeated(
        _ names: [String], of destination: NSEntityDescription, in source: NSEntityDescription, _ count: Int
    ) -> String {
        let keys = names.joined(separator: ", ")
        return count == 1
            ? sentence(
                "1 value of \(source.name ?? "") is in several records, but \(destination.name ?? "").\(keys) must be unique"
            )
            : sentence(
                "\(count) values of \(source.name ?? "") are in several records, but \(destination.name ?? "").\(keys) must be unique"
            )
    }

    /// The constraints that an entity does not inherit.
    private static func constraints(of entity: NSEntityDescription) -> [[String]] {
        func names(_ entity: NSEntityDescription?) -> [[String]] {
            (entity?.uniquenessConstraints ?? []).map { constraint in
                constraint.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
            }
        }
        let inherited = names(entity.superentity)
        return names(entity).filter { !$0.isEmpty && !inherited.contains($0) }
    }

    /// The number of values, or groups of values, that several records share. Records without a value do not count.
    private func repeated(
        _ names: [String], of destination: NSEntityDescription, in source: NSEntityDescription
    ) throws -> Int {
        var former: [NSAttributeDescription] = []
        for name in names {
            guard let attribute = destination.attributesByName[name] else { return 0 }
            if let old = attribute.source(in: source) as? NSAttributeDescription {
                if old.isTransient { return 0 }
                former.append(old)
            } else if attribute.defaultValue == nil {
                return 0
            }
        }
        // A new attribute: all records get its default, so two records already have equal values.
        guard let first = former.first else {
            return try session.context.count(for: NSFetchRequest<NSManagedObject>(entityName: source.name ?? "")) > 1
                ? 1 : 0
        }
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: first.name)])
        count.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: source.name ?? "")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = former.map(\.name) + [count]
        request.propertiesToGroupBy = former.map(\.name)
        request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: former.map { NSPredicate(format: "%K != nil", $0.name) })
        request.havingPredicate = NSPredicate(format: "$count > 1")
        return try session.context.fetch(request).count
    }
}
