import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A list that cannot be updated reports an error.
@Suite struct FailedUpdateTests {
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var errors: [any Error] = []
        var changes = 0

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { changes += 1 }

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didFailToFollowChangesWith error: any Error
        ) {
            errors.append(error)
        }
    }

    @Test func theDelegateIsNotified() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            _ = context.team("Rovers")
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let listener = Listener()
            controller.delegate = listener
            try controller.performFetch()
            let connection = try Connection(path: stack.storeURL.path, access: .readWrite)
            try connection.execute("UPDATE ZTEAM SET ZNAME = 'United'")
            try connection.execute("ALTER TABLE ZTEAM RENAME TO ZAWAY")
            NotificationCenter.default.post(name: .contextHasUnknownChanges, object: context)
            #expect(listener.errors.count == 1 && listener.changes == 0 && controller.fetchedObjects?.count == 1)
            try connection.execute("ALTER TABLE ZAWAY RENAME TO ZTEAM")
            try connection.execute(
                "INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 99, Z_ENT, 1, 'Zebras' FROM ZTEAM")
            NotificationCenter.default.post(name: .contextHasUnknownChanges, object: context)
            #expect(listener.errors.count == 1 && listener.changes == 1 && controller.fetchedObjects?.count == 2)
        }
    }
}
