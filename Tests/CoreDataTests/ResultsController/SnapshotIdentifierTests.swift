import Foundation
import Testing

@testable import CoreData

/// Identifiers of a snapshot are valid as long as their rows exist, even those of objects that were unsaved then.
@Suite struct SnapshotIdentifierTests {
    private final class Shown: NSObject, NSFetchedResultsControllerDelegate {
        var snapshot: NSDiffableDataSourceSnapshotReference?

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
        ) { self.snapshot = snapshot }
    }

    @Test(arguments: 1...12) func identifiersOfUnsavedObjectsStayValid(seed: Int) throws {
        let stack = try ClubStack()
        let isNested = seed % 3 == 0
        let root = stack.context()
        let context = isNested ? root.child() : root
        let other = stack.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let list = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let shown = Shown()
            list.delegate = shown
            try list.performFetch()
            var random = SeededGenerator(seed: UInt64(seed))
            var handedOut: [NSManagedObjectID: String] = [:]
            var number = 0
            for step in 0..<60 {
                switch random.next() % 8 {
                case 0, 1, 2:
                    number += 1
                    _ = context.team("Team \(random.next() % 100) \(number)")
                case 3:
                    if let team = list.fetchedObjects?.randomElement(using: &random) { context.delete(team) }
                case 4:
                    try context.save()
                    context.reset()
                    try list.performFetch()
                case 5:
                    try context.save()
                    if isNested { try root.performAndWait { try root.save() } }
                    context.refreshAllObjects()
                case 6:
                    try context.save()
                    if random.next() % 2 == 0 { try list.performFetch() }
                default: try context.save()
                }
                context.processPendingChanges()
                let snapshot = try #require(shown.snapshot)
                let ids = snapshot.itemIdentifiers.compactMap { $0 as? NSManagedObjectID }
                let objects = try #require(list.fetchedObjects)
                let names = objects.compactMap { $0.value(forKey: "name") as? String }
                try #require(ids.count == objects.count)
                for (id, name) in zip(ids, names) { handedOut[id] = name }
                let places = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
                for (id, name) in handedOut {
                    guard let place = places[name] else { continue }
                    let text = "seed \(seed) step \(step) \(id)"
                    try #require(snapshot.index(ofItemIdentifier: id) == place, "\(text)")
                    try #require(context.object(with: id) === objects[place], "\(text)")
                    try #require(try context.existingObject(with: id) === objects[place], "\(text)")
                    try #require(context.registeredObject(for: id) === objects[place], "\(text)")
                }
            }
            // In other contexts, too, after their rows were saved.
            try context.save()
            if isNested { try root.performAndWait { try root.save() } }
            let names = Set((list.fetchedObjects ?? []).compactMap { $0.value(forKey: "name") as? String })
            try other.performAndWait {
                for (id, name) in handedOut where names.contains(name) {
                    let team = try other.existingObject(with: id)
                    #expect(team.value(forKey: "name") as? String == name)
                }
            }
        }
    }
}
