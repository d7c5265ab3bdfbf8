import Foundation

/// One migration of a store by a mapping model, in batches.
///
/// The destination is saved after each block without validation, so that neither side is ever completely in memory;
/// outside the current block only row keys are kept. The destination is validated as a whole at the end. It is a new
/// store, and is removed if anything fails.
final class MigrationRun {
    unowned let manager: NSMigrationManager
    let associations: MigrationAssociations
    private let source: MigratedObjects
    private let destination: MigratedObjects
    private var policies: [NSEntityMigrationPolicy] = []
    private var done = 0
    private var all = 1

    init(manager: NSMigrationManager) {
        self.manager = manager
        source = MigratedObjects(context: manager.sourceContext)
        destination = MigratedObjects(context: manager.destinationContext)
        associations = MigrationAssociations(sources: source, destinations: destination)
    }

    var steps: MigrationSteps { MigrationSteps(manager: manager) }

    private var mappings: [NSEntityMapping] { manager.mappingModel.entityMappings ?? [] }

    func run() throws {
        try check()
        let modules = manager.destinationModel.classModules + manager.sourceModel.classModules
        policies = try mappings.map { try MigrationPolicies.policy(for: $0, modules: modules) }
        // Policies may look for their new objects among the registered objects.
        manager.destinationContext.retainsRegisteredObjects = policies.contains {
            type(of: $0) != NSEntityMigrationPolicy.self
        }
        let sources = try mappings.map(self.sources)
        // Each object counts three times: for the two passes over the objects and for its validation.
        all = max(1, try sources.map(count).reduce(0, +) * 3)
        for ((mapping, policy), sources) in zip(zip(mappings, policies), sources) {
            try enter(mapping)
            try policy.begin(mapping, with: manager)
            try createInstances(sources, mapping, policy)
            try policy.endInstanceCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try createRelationships(mapping, policy)
            try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try policy.performCustomValidation(forMapping: mapping, manager: manager)
            try save()
        }
        try destination.validate { try self.stepped() }
        for (mapping, policy) in zip(mappings, policies) {
            try enter(mapping)
            try policy.end(mapping, manager: manager)
        }
        try manager.checkCancellation()
        try save()
    }

    private func check() throws {
        let fit = MappingFit(from: manager.sourceModel, to: manager.destinationModel)
        guard let problem = fit.problem(of: mappings) else { return }
        throw CoreDataError.make(134110, "The mapping model does not fit: \(problem).")
    }

    private func enter(_ mapping: NSEntityMapping) throws {
        manager.enter(mapping)
        try manager.checkCancellation()
    }

    private func stepped() throws {
        done += 1
        if done % 100 == 0 { manager.report(progress: min(1, Float(done) / Float(all))) }
        try manager.checkCancellation()
    }

    // MARK: Instances

    /// The source objects of a mapping.
    private enum Sources {
        case none
        case found(NSFetchRequest<NSManagedObject>)
        case listed([NSManagedObject])
    }

    private func sources(of mapping: NSEntityMapping) throws -> Sources {
        guard mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType,
            let entity = manager.sourceEntity(for: mapping)
        else { return .none }
        let expression = mapping.sourceExpression ?? InferredMappings.allObjects(of: entity)
        let owner = "the source of \(mapping.name ?? "")"
        let found = try MappingExpression(tree: expression.tree, manager: manager, owner: owner).value([
            NSMigrationManagerKey: manager, NSMigrationEntityMappingKey: mapping,
        ])
        switch found {
        case let request as NSFetchRequest<NSManagedObject>: return .found(request)
        case let objects as [NSManagedObject]: return .listed(objects)
        default:
            throw CoreDataError.make(
                134110, "\(owner) is neither a fetch request nor a list of objects of the source store.")
        }
    }

    private func count(_ sources: Sources) throws -> Int {
        switch sources {
        case .none: 0
        case .found(let request): try manager.sourceContext.count(for: request)
        case .listed(let objects): objects.count
        }
    }

    private func createInstances(
        _ sources: Sources, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
    ) throws {
        switch sources {
        case .none: return
        case .found(let request):
            try source.forEachPage(of: request) { keys in
                try createInstances(keys.count, mapping, policy) { try source.objects(keys[$0]) }
            }
        case .listed(let objects):
            try createInstances(objects.count, mapping, policy) { Array(objects[$0]) }
        }
    }

    /// - Parameter objects: returns the source objects of a block.
    private func createInstances(
        _ count: Int, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy,
        _ objects: (Range<Int>) throws -> [NSManagedObject]
    ) throws {
        for block in MigrationBlocks(count: count) {
            for object in try objects(block) {
                try policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
                try stepped()
            }
            try saveBlock()
        }
    }

    // MARK: Relationships

    private func createRelationships(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        let pairs = associations.pairs(of: mapping.name)
        guard fillsRelationships(mapping, policy) else {
            done += pairs.count
            return
        }
        for block in MigrationBlocks(count: pairs.count) {
            let pairs = pairs[block]
            // All rows of a side are read at once and held here, because the context does not retain the objects.
            let sources = try source.objects(pairs.map(\.source))
            try withExtendedLifetime(sources) {
                for object in try destination.objects(pairs.map(\.destination)) {
                    try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
                    try stepped()
                }
            }
            try saveBlock()
        }
    }

    /// True if the second pass over a mapping's objects can have an effect.
    private func fillsRelationships(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) -> Bool {
        if type(of: policy) != NSEntityMigrationPolicy.self { return true }
        if !(mapping.relationshipMappings ?? []).isEmpty { return true }
        let destination = manager.destinationEntity(for: mapping)
        return mapping.mappingType == .copyEntityMappingType && destination?.relationshipsByName.isEmpty == false
    }

    // MARK: Saving

    /// Saves the objects of a block and releases all of them.
    private func saveBlock() throws {
        try save()
        source.letGo()
        destination.letGo()
    }

    private func save() throws {
        let context = manager.destinationContext
        if context.hasChanges {
            context.savePipeline.validates = false
            defer { context.savePipeline.validates = true }
            do { try context.save() } catch let error as NSError where error.code == 133021 {
                throw CoreDataError.make(
                    134111,
                    "Objects of the migrated store have the same values where they must be unique: "
                        + error.localizedDescription, underlying: error)
            }
        }
        associations.settle()
    }
}
