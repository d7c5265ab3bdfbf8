import Foundation

/// Makes faults real: rows of objects, contents of to-many relationships.
final class FaultFirer {
    private unowned(unsafe) let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    // MARK: Objects

    /// Makes one fault real. Without I/O if it carries its row.
    ///
    /// - Precondition: The store can be read; as Apple's raises, an accessor has no way to report an error.
    func fire(_ object: NSManagedObject) {
        context.requireQueue()
        if object.snapshot == nil {
            do {
                try fetchRows(
                    of: object.faultBatch?.waiting(with: object, registered: context.registry.registered) ?? [object])
            } catch {
                preconditionFailure(
                    "CoreData could not fulfill a fault for '\(object.objectID)': \((error as NSError).localizedDescription)"
                )
            }
            if object.snapshot == nil { return becomeInaccessible(object) }
        }
        realise(object)
    }

    /// Makes the faults among `objects` real that exist, with one query for all whose rows are not here.
    func fire(_ objects: [NSManagedObject]) throws {
        let faults = objects.filter { $0.isFault && $0.managedObjectContext === context }
        try fetchRows(of: faults.filter { $0.snapshot == nil })
        for object in faults where object.isFault {
            if object.snapshot == nil { becomeInaccessible(object) } else { realise(object) }
        }
    }

    /// Reads the rows of faults, with one query; a row that is gone leaves its object without a snapshot.
    func fetchRows(of objects: [NSManagedObject]) throws {
        guard !objects.isEmpty, let source = context.source else { return }
        let rows = try source.rows(for: objects.map(\.objectID))
        for object in objects { object.snapshot = rows[object.objectID] }
    }

    private func realise(_ object: NSManagedObject) {
        object.flags.remove(.fault)
        object.flags.insert(.awakening)
        object.awakeFromFetch()
        object.flags.remove(.awakening)
        object.adoptValuesAsSnapshot()
    }

    /// The row is gone: the object becomes a deleted one without values, or the program stops.
    private func becomeInaccessible(_ object: NSManagedObject) {
        guard context.shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil) else {
            preconditionFailure("CoreData could not fulfill a fault for '\(object.objectID)'")
        }
        object.snapshot = RowSnapshot(values: object.layout.slots.map { _ in .null }, version: 0)
        object.flags.remove(.fault)
        object.flags.insert(.inaccessible)
        context.changes.noteDeletion(object)
    }

    // MARK: To-many relationships

    /// Reads the contents of the to-many relationship `number` of `owners` (of one entity), with one query.
    ///
    /// - Precondition: The store can be read.
    func load(_ owners: [NSManagedObject], number: Int) {
        do {
            try fetchDestinations(of: owners, number: number)
        } catch {
            let name = owners.first?.layout.toManyRelationships[number].name ?? ""
            preconditionFailure(
                "CoreData could not fulfill the fault of the relationship '\(name)': "
                    + (error as NSError).localizedDescription)
        }
    }

    func fetchDestinations(of owners: [NSManagedObject], number: Int) throws {
        context.requireQueue()
        let unread = owners.filter { !$0.toManyState(number).isLoaded }
        let readable = unread.filter { !$0.objectID.isTemporaryID && !$0.flags.contains(.inaccessible) }
        guard let first = unread.first else { return }
        var destinations: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        if !readable.isEmpty, let source = context.source {
            destinations = try source.destinations(
                of: first.layout.toManyRelationships[number], from: readable.map(\.objectID))
        }
        for owner in unread {
            let ids = destinations[owner.objectID] ?? []
            let members = ids.map { context.registry.object(for: $0) }
            FaultBatch.join(members, size: FaultBatch.defaultSize)
            owner.toManyState(number).load(members)
        }
    }
}
