import Foundation
import SQLiteAccess
import TestSupport
import Testing

@testable import CoreData

/// Contexts that keep reading one state of the store while others write.
@Suite struct QueryGenerationTests {
    @Test func aPinnedContextReadsTheStateOfItsFirstRead() throws {
        let world = try GenerationWorld()
        let (pinned, free) = (try world.pinned(), League.context(world.coordinator))
        try pinned.use { context in
            #expect(context.queryGenerationToken == .current, "fixed by the first reading")
            #expect(try world.names(context) == ["Ghana"])
            #expect(context.queryGenerationToken != .current && context.queryGenerationToken != nil)
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana"])
            #expect(try context.count(for: League.request("Team")) == 1)
            #expect(try context.existingObject(with: world.id).value(forKey: "wins") as? Int == 1)
            context.refreshAllObjects()
            #expect(try context.existingObject(with: world.id).value(forKey: "wins") as? Int == 1)
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Team")
            dictionaries.resultType = .dictionaryResultType
            #expect(try context.fetch(dictionaries).count == 1)
        }
        try free.use { context in
            let names = try world.names(context)
            #expect(context.queryGenerationToken == nil && names == ["Ghana", "Togo"])
        }
        try pinned.use { context in
            try context.setQueryGenerationFrom(nil)
            #expect(context.queryGenerationToken == nil)
            context.refreshAllObjects()
            #expect(try world.names(context) == ["Ghana", "Togo"])
            #expect(try context.existingObject(with: world.id).value(forKey: "wins") as? Int == 2)
        }
    }

    @Test func aPinnedContextReadsDeletedRows() throws {
        let world = try GenerationWorld()
        let pinned = try world.pinned()
        try pinned.use { context in
            #expect(try world.names(context) == ["Ghana"])
            let venue = try #require(context.fetch(League.request("Venue")).first)
            try League.context(world.coordinator).use { other in
                other.delete(try other.existingObject(with: world.id))
                try other.save()
            }
            #expect(venue.names("teams") == ["Ghana"])
            #expect(context.object(with: world.id).value(forKey: "name") as? String == "Ghana")
        }
    }

    @Test func anotherProcessWritesAtTheSameTime() throws {
        let world = try GenerationWorld()
        let elsewhere = try world.place.coordinator()
        let pinned = try world.pinned()
        try pinned.use { context in
            #expect(try world.names(context) == ["Ghana"])
            for name in ["Togo", "Mali"] { try world.write(name, through: elsewhere) }
            #expect(try world.names(context) == ["Ghana"])
            try context.setQueryGenerationFrom(.current)
            #expect(try world.names(context) == ["Ghana", "Mali", "Togo"])
        }
    }

    @Test func savingMergingAndResettingAdvanceToTheNewestState() throws {
        let world = try GenerationWorld()
        let pinned = try world.pinned()
        try pinned.use { context in
            let saves = Notices(context, [.NSManagedObjectContextDidSave])
            #expect(try world.names(context) == ["Ghana"])
            let first = context.queryGenerationToken
            try world.write("Togo")
            context.addTeam("Mali")
            try context.save()
            let token = saves.take().first?.userInfo?[NSManagedObjectContextQueryGenerationKey]
            #expect(token as? NSQueryGenerationToken == context.queryGenerationToken)
            #expect(context.queryGenerationToken != first)
            #expect(try world.names(context) == ["Ghana", "Mali", "Togo"])
            try world.write("Benin")
            #expect(try world.names(context).count == 3)
            context.reset()
            #expect(try world.names(context).count == 4)
            let writer = League.context(world.coordinator)
            let observer = try writer.use { writer in
                let observer = Notices(writer, [.NSManagedObjectContextDidSaveObjectIDs])
                writer.addTeam("Chad")
                try writer.save()
                return observer
            }
            #expect(try world.names(context).count == 4)
            context.mergeChanges(fromContextDidSave: try #require(observer.take().first))
            #expect(try world.names(context).count == 5 && context.queryGenerationToken != nil)
        }
    }

    @Test func aSaveOfAnOldStateMeetsConflicts() throws {
        let world = try GenerationWorld()
        let pinned = try world.pinned()
        try pinned.use { context in
            let ghana = try context.existingObject(with: world.id)
            try world.write("Togo")
            ghana.setValue(10, forKey: "wins")
            #expect { try context.save() } throws: { code($0) == 133020 }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }

    @Test func contextsShareAState() throws {
        let world = try GenerationWorld()
        let pinned = try world.pinned()
        var token = try pinned.use { context in
            _ = try world.names(context)
            return context.queryGenerationToken
        }
        try world.write("Togo")
        let second = League.context(world.coordinator)
        try second.use { context in
            try context.setQueryGenerationFrom(token)
            #expect(context.queryGenerationToken == token && token?.copy() as? NSQueryGenerationToken == token)
            #expect(try world.names(context) == ["Ghana"])
        }
        // An archived token is valid as long as the state is kept.
        let archive = try NSKeyedArchiver.archivedData(withRootObject: try #require(token), requiringSecureCoding: true)
        func unarchived() throws -> NSQueryGenerationToken {
            try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: archive))
        }
        #expect(try unarchived() == token)
        token = nil
        try pinned.use { try $0.setQueryGenerationFrom(nil) }
        try second.use { context in
            try context.setQueryGenerationFrom(nil)
            let lost = try unarchived()
            #expect { try context.setQueryGenerationFrom(lost) } throws: { code($0) == 134060 }
        }
        let marker = try NSKeyedArchiver.archivedData(
            withRootObject: NSQueryGenerationToken.current, requiringSecureCoding: true)
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: marker) == .current)
    }

    @Test func aStateWhoseStoreWasRemovedCannotBeSet() throws {
        let world = try GenerationWorld()
        let context = try world.pinned()
        try context.use { context in
            _ = try world.names(context)
            let token = context.queryGenerationToken
            try context.setQueryGenerationFrom(nil)
            try world.coordinator.remove(world.coordinator.persistentStores[0])
            #expect { try context.setQueryGenerationFrom(token) } throws: { code($0) == 134060 }
        }
    }

    @Test func aStoreThatIsAddedLaterIsNotInTheState() throws {
        let world = try GenerationWorld()
        try world.pinned().use { context in
            #expect(try world.names(context) == ["Ghana"])
            let later = try League.Place(.sqlite)
            let store = try world.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: later.url)
            let id = try League.context(world.coordinator).use { other in
                let team = other.addTeam("Togo")
                other.assign(team, to: store)
                try other.save()
                return team.objectID
            }
            #expect(try world.names(context) == ["Ghana"] && context.count(for: League.request("Team")) == 1)
            #expect { try context.existingObject(with: id) } throws: { code($0) == 133000 }
            let child = context.child()
            try child.use { child in
                let names = try world.names(child)
                #expect(names == ["Ghana"] && child.queryGenerationToken == nil)
            }
            try context.setQueryGenerationFrom(.current)
            #expect(try world.names(context) == ["Ghana", "Togo"])
            #expect(try context.existingObject(with: id).value(forKey: "name") as? String == "Togo")
            try world.coordinator.remove(store)
        }
    }

    @Test(.needs(.process)) func anotherProgramWritesAtTheSameTime() async throws {
        let world = try GenerationWorld()
        let pinned = try world.pinned()
        let token = try pinned.use { context in
            let names = try world.names(context)
            #expect(names == ["Ghana"])
            return context.queryGenerationToken
        }
        let place = world.place.url
        await #expect(processExitsWith: .success) { [place = place as URL] in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: League.model())
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place)
            try League.context(coordinator).use { context in
                let ghana = try context.fetch(League.request("Team"))[0]
                ghana.setValue(5, forKey: "wins")
                context.addTeam("Togo")
                try context.save()
            }
        }
        try pinned.use { context in
            context.refreshAllObjects()
            #expect(try world.names(context) == ["Ghana"] && context.queryGenerationToken == token)
            let ghana = try context.existingObject(with: world.id)
            #expect(ghana.value(forKey: "wins") as? Int == 1)
            // The other program's change still causes a conflict.
            ghana.setValue(2, forKey: "wins")
            #expect { try context.save() } throws: { code($0) == 133020 }
            context.rollback()
            try context.setQueryGenerationFrom(.current)
            context.refreshAllObjects()
            #expect(try world.names(context) == ["Ghana", "Togo"] && ghana.value(forKey: "wins") as? Int == 5)
        }
    }

    @Test func otherStoresShowTheNewestState() throws {
        let world = try GenerationWorld(.memory)
        try world.pinned().use { context in
            #expect(try world.names(context) == ["Ghana"])
            try world.write("Togo")
            #expect(try world.names(context) == ["Ghana", "Togo"])
        }
    }

    @Test func aReleasedStateLetsTheLogBeEmptied() throws {
        let world = try GenerationWorld()
        let store = try #require(world.coordinator.persistentStores.first as? SQLiteStore)
        let connection = try #require(store.openSession).connection
        func isEmptied() throws -> Bool {
            try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)").first?.first == .integer(0)
        }
        connection.setBusyTimeout(0)
        let pinned = try world.pinned()
        _ = try pinned.use { try world.names($0) }
        try world.write("Togo")
        #expect(try !isEmptied())
        try pinned.use { try $0.setQueryGenerationFrom(nil) }
        #expect(try isEmptied())
    }
}
