import CoreData
import Foundation
import StoreConformance
import Testing

/// Atomic stores defined by a program: nodes, references, and refused saves.
@Suite struct AtomicStoreTests {
    @Test func namesRowsByReferencesOfItsOwn() throws {
        let stack = try StoreConformance(PropertyListStore.type)
        let uri = try stack.inContext { context -> URL in
            let author = context.make("Author", named: "Ada")
            try context.obtainPermanentIDs(for: [author])
            let early = author.objectID.uriRepresentation()
            try context.save()
            let uri = author.objectID.uriRepresentation()
            #expect(early == uri)
            let store = try #require(stack.store as? PropertyListStore)
            let reference = try #require(store.referenceObject(for: author.objectID) as? String)
            #expect(reference.hasPrefix("Author/"))
            let id = store.objectID(for: author.entity, withReferenceObject: reference)
            #expect(id == author.objectID && id.persistentStore === store)
            #expect(store.cacheNode(for: id)?.value(forKey: "name") as? String == "Ada")
            #expect(store.cacheNodes().count == 1)
            return uri
        }
        try stack.reopen()
        try stack.inContext { context in
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
            let author = try context.existingObject(with: id)
            #expect(author.text("name") == "Ada")
            let store = try #require(stack.store as? PropertyListStore)
            let node = try #require(store.cacheNode(for: id))
            context.delete(author)
            try context.save()
            #expect(store.removed == ["\(store.referenceObject(for: node.objectID))"] && store.cacheNodes().isEmpty)
        }
    }

    @Test func aRefusedSaveChangesNothing() throws {
        let stack = try StoreConformance(PropertyListStore.type)
        try stack.inContext { context in
            let (kept, gone) = (context.make("Author", named: "Ada"), context.make("Author", named: "Bob"))
            try context.save()
            let before = try Data(contentsOf: stack.url)
            let store = try #require(stack.store as? PropertyListStore)
            store.refusal = CocoaError(.fileWriteOutOfSpace)
            kept.setValue("Eva", forKey: "name")
            context.delete(gone)
            let new = context.make("Author", named: "Cleo")
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(try Data(contentsOf: stack.url) == before)
            let names = Set(store.cacheNodes().compactMap { $0.value(forKey: "name") as? String })
            #expect(names == ["Ada", "Bob"])
            let stored = try stack.inContext { try $0.all("Author", by: "name").map { $0.text("name") } }
            #expect(stored == ["Ada", "Bob"])
            #expect(new.isInserted && kept.isUpdated && context.hasChanges)
            store.refusal = nil
            try context.save()
        }
        try stack.reopen()
        let stored = try stack.inContext { try $0.all("Author", by: "name").map { $0.text("name") } }
        #expect(stored == ["Cleo", "Eva"])
    }

    @Test func aNodeHasNoValuesUntilOneIsSet() throws {
        let stack = try StoreConformance(PropertyListStore.type)
        let store = try #require(stack.store as? NSAtomicStore)
        let entity = try #require(stack.model.entitiesByName["Author"])
        let node = NSAtomicStoreCacheNode(objectID: store.objectID(for: entity, withReferenceObject: 7))
        #expect(node.propertyCache == nil && node.value(forKey: "name") == nil)
        node.setValue("Ada", forKey: "name")
        #expect(node.propertyCache?["name"] as? String == "Ada")
        node.setValue(nil, forKey: "name")
        #expect(node.value(forKey: "name") == nil)
        #expect(store.referenceObject(for: node.objectID) as? Int == 7)
        #expect(node.objectID.uriRepresentation().lastPathComponent == "p7")
    }

    @Test func aReadOnlyStoreIsNotSaved() throws {
        let stack = try StoreConformance(PropertyListStore.type)
        try stack.inContext { context in
            _ = context.make("Author", named: "Ada")
            try context.save()
        }
        try stack.reopen(options: [NSReadOnlyPersistentStoreOption: true])
        let before = try Data(contentsOf: stack.url)
        try stack.inContext { context in
            try #require(try context.all("Author").first).setValue("Eva", forKey: "name")
            #expect(throws: CocoaError.self) { try context.save() }
        }
        #expect(try Data(contentsOf: stack.url) == before)
    }
}
