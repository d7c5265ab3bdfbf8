import CoreData
import Foundation

// Stores without rows, with one row, and with many; and their complete contents in another coordinator.
extension StoreConformance {
    static let sizeScenarios = [
        Scenario("holds no row and one", holdsNoRowAndOne), Scenario("holds many rows", holdsManyRows),
        Scenario("is whole in a new coordinator", needs: .keepsRows, isWholeInANewCoordinator),
    ]

    private static func songs(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return request
    }

    /// Checks the result of each kind of fetch for the songs with the numbers from 0 to `count`.
    private static func checkSongs(_ count: Int, _ context: NSManagedObjectContext) throws {
        func numbers(_ request: NSFetchRequest<NSManagedObject>) throws -> [Int] {
            try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
        }
        try expect(try context.count(for: songs()), count, "the count of \(count) songs")
        try expect(try numbers(songs()) == Array(0..<count), "the numbers of \(count) songs are those that were saved")
        let cut = songs()
        (cut.fetchOffset, cut.fetchLimit) = (max(count - 2, 0), 3)
        try expect(try numbers(cut), Array(max(count - 2, 0)..<count), "the last of \(count) songs")
        cut.fetchOffset = count
        try expect(try numbers(cut), [], "what follows the last of \(count) songs")
        try expect(try context.count(for: songs("number < 10")), min(count, 10), "the first songs")
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Song")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["name"]
        dictionaries.sortDescriptors = songs().sortDescriptors
        dictionaries.fetchLimit = 2
        let names = try context.fetch(dictionaries).map { $0["name"] as? String }
        try expect(names, (0..<min(count, 2)).map { "s\($0)" }, "the names in dictionaries")
    }

    @Sendable private static func holdsNoRowAndOne(_ stack: StoreConformance) throws {
        func checkEmpty(_ context: NSManagedObjectContext) throws {
            try checkSongs(0, context)
            let request = songs("ANY playlists.name == 'all' OR playlists.@count > 0")
            request.relationshipKeyPathsForPrefetching = ["playlists"]
            request.fetchBatchSize = 10
            try expect(try context.fetch(request).count, 0, "what a store without rows finds")
            try context.save()
        }
        try stack.inEachState(checkEmpty)
        try stack.inContext { context in
            let first = context.make("Song", named: "s0")
            try context.save()
            context.delete(first)
            try context.save()
        }
        try stack.inEachState(checkEmpty)
        try stack.inContext { context in
            context.make("Song", named: "s0").setValue(0, forKey: "number")
            // An object that is deleted before it is saved has no effect.
            context.delete(context.make("Song", named: "s1"))
            try context.save()
        }
        try stack.inEachState { context in
            try checkSongs(1, context)
            try expect(try context.all("Song").first?.ties(), "", "the relationships of the one song")
        }
    }

    @Sendable private static func holdsManyRows(_ stack: StoreConformance) throws {
        let count = stack.manyRows
        // An order that differs from that of the numbers and of the insertions.
        let order = (0..<count).map { $0 / 2 + ($0 % 2) * ((count + 1) / 2) }
        try stack.inContext { context in
            let songs = (0..<count).map { number -> NSManagedObject in
                let song = context.make("Song", named: "s\(number)")
                song.setValue(number, forKey: "number")
                return song
            }
            let all = context.make("Playlist", named: "all")
            all.setValue(NSOrderedSet(array: order.map { songs[$0] }), forKey: "songs")
            try context.save()
        }
        func playlist(_ context: NSManagedObjectContext) throws -> NSManagedObject {
            try need(try context.all("Playlist").first, "the playlist")
        }
        func numbers(_ context: NSManagedObjectContext) throws -> [Int] {
            let members = try playlist(context).mutableOrderedSetValue(forKey: "songs").array
            return members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "number") as? Int }
        }
        try stack.inEachState { context in
            try checkSongs(count, context)
            try expect(try numbers(context) == order, "the order of \(count) songs is that in which they were saved")
        }
        let rest = count - count / 50
        try stack.inContext { context in
            for song in try context.fetch(songs("number >= \(rest)")) { context.delete(song) }
            for song in try context.fetch(songs("number < 200")) {
                song.setValue("s\(song.value(forKey: "number") ?? 0)", forKey: "name")
            }
            let request = songs("number IN {7, 8, 9}")
            let moved = try context.fetch(request)
            let list = try playlist(context).mutableOrderedSetValue(forKey: "songs")
            for song in moved { list.remove(song) }
            for song in moved { list.insert(song, at: 0) }
            try context.save()
        }
        try stack.inEachState { context in
            try checkSongs(rest, context)
            let wanted = [9, 8, 7] + order.filter { $0 < rest && !(7...9).contains($0) }
            try expect(try numbers(context) == wanted, "the order of the songs after moves and deletions is right")
        }
    }

    /// Every object of the store with all of its values, by its URI.
    private static func everything(in context: NSManagedObjectContext) throws -> [URL: String] {
        var found: [URL: String] = [:]
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] {
            for object in try context.all(entity.name ?? "") {
                let values = object.entity.attributesByName.keys.sorted().map {
                    "\($0)=\(object.value(forKey: $0) ?? "nil")"
                }
                let ties = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }.map { relationship in
                    let members: [Any] =
                        if !relationship.isToMany {
                            [object.value(forKey: relationship.name)].compactMap { $0 }
                        } else if relationship.isOrdered {
                            object.mutableOrderedSetValue(forKey: relationship.name).array
                        } else {
                            object.mutableSetValue(forKey: relationship.name).allObjects
                        }
                    let uris = members.compactMap {
                        ($0 as? NSManagedObject)?.objectID.uriRepresentation().absoluteString
                    }
                    return "\(relationship.name)=\(relationship.isOrdered ? uris : uris.sorted())"
                }
                let text = "\(object.entity.name ?? "") " + (values + ties).joined(separator: " ")
                try expect(found[object.objectID.uriRepresentation()] ?? text, text, "an object that two fetches find")
                found[object.objectID.uriRepresentation()] = text
            }
        }
        return found
    }

    @Sendable private static func isWholeInANewCoordinator(_ stack: StoreConformance) throws {
        try stack.fill()
        try stack.fillPeople()
        try stack.inContext { context in
            let list = context.make("Playlist", named: "p")
            list.setValue(NSOrderedSet(array: ["b", "a"].map { context.make("Song", named: $0) }), forKey: "songs")
            context.make("Sample", named: "full", "text").setValuesForKeys([
                "moment": Date(timeIntervalSinceReferenceDate: 1.5), "id": UUID(),
                "price": NSDecimalNumber(string: "1.10"),
                "real": 0.1, "flag": true, "bytes": Data([0, 255]),
            ])
            try context.save()
        }
        let (before, uuid) = (try stack.inContext(everything), stack.store.identifier)
        try expect(before.count, 16, "the objects")
        // Without a change, with an empty save, and with an object that is saved and deleted again.
        for round in 0..<3 {
            try stack.reopen()
            try expect(stack.store.identifier, uuid, "the store's UUID")
            try stack.inContext { context in
                try expect(try everything(in: context), before, "everything after opening \(round + 1)")
                if round == 1 { try context.save() }
                guard round == 2 else { return }
                let label = context.make("Label", named: "new")
                try context.save()
                context.delete(label)
                try context.save()
            }
        }
        // In a coordinator with another model, after the first one has released the store.
        try stack.coordinator.remove(stack.store)
        let other = NSPersistentStoreCoordinator(managedObjectModel: library())
        let store = try other.addPersistentStore(type: stack.type, at: stack.url, options: stack.options)
        let context = context(other)
        try context.performAndWait {
            try expect(try everything(in: context), before, "everything with another model of the same entities")
            for (uri, text) in before {
                let id = try need(other.managedObjectID(forURIRepresentation: uri), "the ID of \(uri)")
                let object = try context.existingObject(with: id)
                try expect(text.hasPrefix("\(object.entity.name ?? "") "), "the object of \(uri) is of its entity")
            }
            try need(try context.named("Person")["Bo"], "Bo").setValue("Bob", forKey: "name")
            try context.save()
        }
        try other.remove(store)
        try stack.coordinator.addPersistentStore(type: stack.type, at: stack.url, options: stack.options)
        try stack.inContext { context in
            try expect(try context.named("Person").keys.sorted(), ["Ada", "Bob", "Cy", "Di"], "the people")
            try expect(
                try everything(in: context).mapValues { $0.replacingOccurrences(of: "name=Bob", with: "name=Bo") },
                before,
                "everything after a change in the other coordinator")
        }
    }
}
