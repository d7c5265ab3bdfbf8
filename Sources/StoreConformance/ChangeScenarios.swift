import CoreData
import Foundation

// Changes, conflicts, and saves that fail.
extension StoreConformance {
    static let changeScenarios = [
        Scenario("updates and deletes", updatesAndDeletes),
        Scenario("refuses stale edits", refusesStaleEdits),
        Scenario("keeps constraints", needs: .constraints, keepsConstraints),
        Scenario("writes all of a save or nothing", writesAllOrNothing),
    ]

    @Sendable private static func updatesAndDeletes(_ stack: StoreConformance) throws {
        try stack.fill()
        let uris = try stack.inContext { context -> [URL] in
            let authors = try context.all("Author", by: "born")
            let books = authors[0].mutableOrderedSetValue(forKey: "books")
            books.moveObjects(at: IndexSet(integer: 2), to: 0)
            authors[1].setValue(nil, forKey: "born")
            try context.save()
            context.delete(try need(try context.all("Atlas").first, "the atlas"))
            let old = try context.all("Tag", where: NSPredicate(format: "name == 'new'")).first
            context.delete(try need(old, "the tag"))
            try context.save()
            return authors.map { $0.objectID.uriRepresentation() }
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let ids = uris.compactMap { stack.coordinator.managedObjectID(forURIRepresentation: $0) }
            let authors = try ids.map { try context.existingObject(with: $0) }
            try expect(authors.map { $0.text("name") }, ["Ada 🧮", "鲁迅"], "the authors by their URIs")
            try expect(authors[0].texts("books", "title"), ["ب", "C"], "the books after a move and a deletion")
            try expect(authors[1].value(forKey: "born") == nil, "a value that was set to nil is nil")
            try expect(try context.all("Novel").first?.texts("tags", "name"), ["old"], "the tags that are left")
            context.delete(authors[0])
            try context.save()
            try expect(try context.all("Book").isEmpty, "a cascade deletes the books")
            let address = try need(try context.all("Address").first, "the address")
            try expect(address.value(forKey: "owner") == nil, "a nullified owner is nil")
        }
    }

    @Sendable private static func refusesStaleEdits(_ stack: StoreConformance) throws {
        try stack.fill()
        let (first, second) = (stack.context(), stack.context())
        let late = try second.performAndWait { try need(try second.all("Address").first, "the address") }
        try second.performAndWait { try expect(late.text("city"), "London", "the city") }
        try first.performAndWait {
            try need(try first.all("Address").first, "the address").setValue("Paris", forKey: "city")
            try first.save()
        }
        try second.performAndWait {
            late.setValue("Rome", forKey: "city")
            try expectError(133020, "a save of a stale edit") { try second.save() }
            second.rollback()
            second.refresh(late, mergeChanges: false)
            try expect(late.text("city"), "Paris", "the city after the rollback")
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            try expect(try context.all("Address").map { $0.text("city") }, ["Paris"], "the cities in the store")
        }
    }

    @Sendable private static func keepsConstraints(_ stack: StoreConformance) throws {
        try stack.fill()
        try stack.inContext { context in
            _ = context.make("Tag", named: "old")
            try expectError(133021, "a save of a second tag of one name") { try context.save() }
            context.rollback()
            try expect(try context.all("Tag").count, 2, "the count of tags")
        }
        try stack.inContext { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = context.make("Tag", named: "old")
            try context.save()
            try expect(try context.all("Tag").count, 2, "the count of tags after a merge")
        }
    }

    @Sendable private static func writesAllOrNothing(_ stack: StoreConformance) throws {
        try stack.fill()
        try stack.inContext { context in
            let ada = try need(try context.all("Author", by: "born").first, "the author")
            ada.setValue("Eva", forKey: "name")
            _ = context.make("Tag", named: "third")
            // Another context deletes the address.
            let address = try need(ada.value(forKey: "address") as? NSManagedObject, "the address")
            _ = address.text("city")
            let id = address.objectID
            try stack.inContext { other in
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            address.setValue("Rome", forKey: "city")
            try expectError(133020, "a save with an edit of a row that is gone") { try context.save() }
            try expect(context.hasChanges, "the context keeps its changes")
        }
        if stack.keepsRows { try stack.reopen() }
        try stack.inContext { context in
            let names = try context.all("Author", by: "born").map { $0.text("name") }
            try expect(names, ["Ada 🧮", "鲁迅"], "the authors after the save that failed")
            try expect(try context.all("Tag").count, 2, "the count of tags after it")
        }
    }
}
