import CoreData
import Foundation
import Translation

/// The values of a store that several records have, and that the next version of its model requires to be unique.
struct RepeatedValues {
    let step: MigrationStep
    let session: StoreSession
    let surroundings: CommandSurroundings

    /// One sentence for each constraint. A migration would fail at the first of them.
    ///
    /// - Throws: ``CommandError`` after an interruption; what the store throws.
    func sentences() throws -> [String] {
        guard step.isInferred else { return [] }
        var sentences: [String] = []
        for mapping in step.mapping.entityMappings ?? [] {
            guard let source = mapping.sourceEntityName.flatMap({ session.model.entitiesByName[$0] }),
                let destination = mapping.destinationEntityName.flatMap({ step.destination.model.entitiesByName[$0] })
            else { continue }
            for names in Self.constraints(of: destination) {
                if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
                let count = try count(names, of: destination, in: source)
                guard count > 0 else { continue }
                let keys = names.joined(separator: ", ")
                sentences.append(
                    count == 1
                        ? sentence(
                            "1 value of \(source.name ?? "") would be in several records, and \(destination.name ?? "").\(keys) is unique"
                        )
                        : sentence(
                            "\(count) values of \(source.name ?? "") would be in several records, and \(destination.name ?? "").\(keys) is unique"
                        ))
            }
        }
        return sentences
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

    /// The number of values, or groups of them, that several records have. A record without a value is like no other.
    private func count(
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
        // All get the default.
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
