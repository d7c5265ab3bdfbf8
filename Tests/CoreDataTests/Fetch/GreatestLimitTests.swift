import CoreData
import Foundation
import Testing

/// `.max` is a limit like any other, with offsets, unsaved changes and several stores.
@Suite struct GreatestLimitTests {
    @Test(arguments: [["a.sqlite"], ["a.sqlite", "b.sqlite"]]) func theGreatestIsNoLimit(files: [String]) throws {
        let desk = try HistoryRequestTests.Desk()
        let container = try desk.container(files)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for name in ["a", "b", "c"] { HistoryRequestTests.insert(name, context) }
            try context.save()
            HistoryRequestTests.insert("d", context)
            for offset in [0, 1, Int.max] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                request.fetchLimit = .max
                request.fetchOffset = offset
                let names = try context.fetch(request).map { $0.value(forKey: "name") as? String }
                #expect(names == Array(["a", "b", "c", "d"].dropFirst(offset)))
                #expect(try context.count(for: request) == names.count)
                // Sorts in memory.
                request.sortDescriptors = [
                    NSSortDescriptor(key: "name", ascending: true) { left, right in
                        ((left as? String) ?? "").compare((right as? String) ?? "")
                    }
                ]
                #expect(try context.fetch(request).count == names.count)
            }
        }
    }
}
