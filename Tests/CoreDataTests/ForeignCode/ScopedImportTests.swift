import class CoreData.NSFetchRequest
import class CoreData.NSManagedObject
import class CoreData.NSManagedObjectModel
import protocol CoreData.NSFetchRequestResult
import Testing

/// A file that imports single names of the framework (issue 18, point 23).
@Suite struct ScopedImportTests {
    @Test func singleClassesCanBeImported() {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
        #expect(request.entityName == "Team" && NSManagedObjectModel().entities.isEmpty)
        #expect(NSFetchRequest<NSManagedObject>(entityName: "Team").fetchLimit == 0)
    }
}
