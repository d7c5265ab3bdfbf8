import CoreData
import Foundation
import Translation

/// The records of a store that have no value for what the next version of its model requires.
struct MissingValues {
    let step: MigrationStep
    let session: StoreSession
    let surroundings: CommandSurroundings

    /// One sentence for each attribute. A migration would fail at the first of them.
    ///
    /// - Throws: ``CommandError`` after an interruption; what the store throws.
    func sentences() throws -> [String] {
        guard step.isInferred else { return [] }
        var sentences: [String] = []
        for mapping in step.mapping.entityMappings ?? [] {
            guard let source = mapping.sourceEntityName.flatMap({ session.model.entitiesByName[$0] }),
                let destination = mapping.destinationEntityName.flatMap({ step.destination.model.entitiesByName[$0] }),
                !destination.isAbstract
            else { continue }
            for attribute in destination.attributesByName.values.sorted(by: { $0.name < $1.name }) {
                if surroundings.interruption.isRaised { throw CommandError.failure("interrupted") }
                guard let count = try count(attribute, in: source), count > 0 else { continue }
                sentences.append(
                    count == 1
                        ? sentence(
                            "1 record of \(source.name ?? "") would have no value for \(destination.name ?? "").\(attribute.name), which is required and has no default"
                        )
                        : sentence(
                            "\(count) records of \(source.name ?? "") would have no value for \(destination.name ?? "").\(attribute.name), which is required and has no default"
                        ))
            }
        }
        return sentences
    }

    /// How many records lack a value; `nil` where none can.
    private func count(_ attribute: NSAttributeDescription, in source: NSEntityDescription) throws -> Int? {
        guard !attribute.isOptional, !attribute.isTransient, attribute.defaultValue == nil,
            !(attribute is NSDerivedAttributeDescription)
        else { return nil }
        let former = attribute.source(in: source)
        let request = NSFetchRequest<NSManagedObject>(entityName: source.name ?? "")
        request.includesSubentities = false
        if let former = former as? NSAttributeDescription {
            guard former.isOptional else { return nil }
            request.predicate = NSPredicate(format: "%K == nil", former.name)
        }
        return try session.context.count(for: request)
    }
}
