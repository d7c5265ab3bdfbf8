import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Objects create their IDs on demand. A program notices only the lower memory use.
@Suite struct LazyIdentityTests {
    private func filled(_ count: Int, options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
        let (coordinator, _) = try League.memoryStack(options: options)
        let writer = League.context(coordinator)
        try writer.performAndWait {
            for number in 0..<count { writer.addTeam("T\(1000 + number)", wins: number) }
            try writer.save()
        }
        return coordinator
    }

    /// The size of a list of 100,000 faults is that of its objects.
    @Test func anObjectTakes40Bytes() throws {
        let context = League.context(try filled(30))
        try context.performAndWait { () throws in
            let teams = try context.fetch(League.request("Team"))
            let size = try #require(dlsym(nil, "malloc_usable_size"))
            let usableSize = unsafeBitCast(size, to: (@convention(c) (UnsafeMutableRawPointer) -> Int).self)
            // Uses the smallest size, because the allocator adds 16 bytes to a block if the rest would be too small for
            // another one.
            let smallest = teams.map { usableSize(Unmanaged.passUnretained($0).toOpaque()) }.min()
            #expect(try #require(smallest) <= 40)
        }
    }

    @Test(arguments: [0, 7]) func aFetchMakesNoIDs(_ batchSize: Int) throws {
        let context = League.context(try filled(30))
        try context.performAndWait { () throws in
            let request = League.request("Team", by: "-name")
            request.fetchBatchSize = batchSize
            let teams = try context.fetch(request)
            #expect(teams.count == 30)
            #expect(teams.allSatisfy { $0.keptID == nil })
            let byID = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
            byID.sortDescriptors = request.sortDescriptors
            byID.resultType = .managedObjectIDResultType
            let ids = try context.fetch(byID)
            #expect(teams.map(\.objectID) == ids)
            #expect(zip(teams, ids).allSatisfy { context.registeredObject(for: $1) === $0 })
            #expect(teams[3].objectID === teams[3].objectID)
            // The next fetch returns the same objects, and a lookup by ID finds those of earlier fetches.
            #expect(try context.fetch(request).elementsEqual(teams, by: ===))
            #expect(teams.map(\.objectID.isTemporaryID) == Array(repeating: false, count: 30))
        }
    }

    @Test func manyThreadsGetOneID() throws {
        let context = League.context(try filled(200))
        let teams = try context.performAndWait {
            UncheckedSendable(try context.fetch(League.request("Team")))
        }
        for index in teams.value.indices {
            let found = Mutex<[NSManagedObjectID]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let id = teams.value[index].objectID
                found.withLock { $0.append(id) }
            }
            #expect(found.withLock { ids in ids.allSatisfy { $0 === ids[0] } })
        }
    }

    /// IDs that another thread reads while a save assigns new ones are valid after the save, too.
    @Test func idsAreReadWhileASaveAssignsNewOnes() throws {
        let context = League.context(try filled(0))
        for round in 0..<20 {
            let teams = context.performAndWait {
                UncheckedSendable((0..<50).map { context.addTeam("R\(round) T\($0)") })
            }
            // The program has read the temporary IDs of some objects.
            let known = context.performAndWait { teams.value.prefix(10).map(\.objectID) }
            let isSaved = Atomic(false)
            let found = Mutex<[(index: Int, id: NSManagedObjectID)]>([])
            let group = DispatchGroup()
            DispatchQueue.global().async(group: group) {
                var all: [(index: Int, id: NSManagedObjectID)] = []
                repeat {
                    for index in teams.value.indices { all.append((index, teams.value[index].objectID)) }
                } while !isSaved.load(ordering: .acquiring)
                found.withLock { $0 = all }
            }
            try context.performAndWait { try context.save() }
            isSaved.store(true, ordering: .releasing)
            group.wait()
            try context.performAndWait { () throws in
                for (index, id) in found.withLock({ $0 }) {
                    #expect(context.registeredObject(for: id) === teams.value[index])
                    #expect(id.latest == teams.value[index].objectID)
                }
                #expect(known.map(\.latest) == teams.value.prefix(10).map(\.objectID))
                #expect(Set(teams.value.map(\.objectID)).count == 50)
                #expect(teams.value.allSatisfy { !$0.objectID.isTemporaryID && !$0.hasTemporaryID })
            }
        }
    }

    /// An object moves between contexts, with or without an ID, and is found in its current one.
    @Test func anObjectIsFoundInItsCurrentContext() throws {
        let coordinator = try filled(0)
        let (first, second) = (League.context(coordinator), League.context(coordinator))
        for isNamed in [false, true] {
            let team = first.performAndWait { UncheckedSendable(first.addTeam("Wanderer")) }
            let id = isNamed ? first.performAndWait { team.value.objectID } : nil
            first.performAndWait {
                first.delete(team.value)
                first.processPendingChanges()
                #expect(
                    team.value.managedObjectContext == nil && team.value.value(forKey: "name") as? String == "Wanderer")
            }
            try second.performAndWait {
                second.insert(team.value)
                #expect(team.value.managedObjectContext === second && team.value.isInserted)
                if let id { #expect(team.value.objectID === id) }
                try second.save()
                let saved = team.value.objectID
                #expect(!saved.isTemporaryID && second.registeredObject(for: saved) === team.value)
                if let id { #expect(second.registeredObject(for: id) === team.value && id.latest == saved) }
                second.reset()
                #expect(team.value.managedObjectContext == nil && team.value.objectID == saved)
            }
        }
    }

    /// An object that another one replaced in its context is still notified of the context's release.
    @Test func aReplacedObjectOutlivesTheContext() throws {
        var context: NSManagedObjectContext? = League.context(try filled(1))
        let objects = try context?.performAndWait { () throws -> UncheckedSendable<[NSManagedObject]> in
            let context = try #require(context)
            let old = try #require(try context.fetch(League.request("Team")).first)
            #expect(old.value(forKey: "wins") as? Int == 0)
            context.reset()
            let fault = context.object(with: old.objectID)
            context.insert(old)
            #expect(fault !== old && context.registeredObject(for: old.objectID) === old)
            #expect(fault.managedObjectContext === context && fault.value(forKey: "wins") as? Int == 0)
            return UncheckedSendable([old, fault])
        }
        context = nil
        for object in try #require(objects).value {
            #expect(object.managedObjectContext == nil && object.entity.name == "Team")
            #expect(!object.objectID.isTemporaryID && object.value(forKey: "wins") as? Int == 0)
        }
    }

    /// Data shared by a context's objects is released with the context and the last object.
    @Test func sharedDataOfObjectsIsReleasedWithThem() throws {
        struct Homes {
            weak var shared: ObjectHome?
            weak var own: ObjectHome?
            weak var new: ObjectHome?
        }
        var context: NSManagedObjectContext? = League.context(try filled(3))
        var homes = Homes()
        var held = try context?.performAndWait { () throws -> UncheckedSendable<[NSManagedObject]> in
            let teams = try context?.fetch(League.request("Team", by: "name")) ?? []
            let fresh = try #require(context?.addTeam("Fresh"))
            _ = teams[1].objectID
            homes.shared = teams[0].home.object
            homes.own = teams[1].home.object
            homes.new = fresh.home.object
            return UncheckedSendable([teams[0], teams[1], fresh])
        }
        #expect(homes.shared != nil && homes.own != nil && homes.new != nil)
        context = nil
        #expect(held?.value.map(\.managedObjectContext) == [nil, nil, nil])
        #expect(held?.value.map(\.entity.name) == ["Team", "Team", "Team"])
        held = nil
        #expect(homes.shared == nil && homes.own == nil && homes.new == nil)
    }

    /// A reset does not post an object that is only referenced weakly, and releases it.
    @Test func aResetPostsHeldAndChangedObjects() throws {
        let context = League.context(try filled(3))
        try context.performAndWait { () throws in
            var teams = try context.fetch(League.request("Team", by: "name"))
            let ids = teams.map(\.objectID)
            teams[0].setValue(9, forKey: "wins")
            weak let unused = teams[2]
            let held = teams[1]
            teams = []
            let notices = Notices(context)
            context.reset()
            let told = notices.take().last?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
            #expect(told.map(Set.init) == Set(ids.prefix(2)))
            #expect(unused == nil && held.managedObjectContext == nil && held.objectID == ids[1])
        }
    }

    @Test func anUnreadTemporaryIDIsNotNeeded() throws {
        let context = League.context(try filled(0))
        try context.performAndWait {
            let quiet = context.addTeam("Quiet")
            let asked = context.addTeam("Asked")
            let temporary = asked.objectID
            #expect(temporary.isTemporaryID && quiet.keptID == nil && quiet.hasTemporaryID)
            #expect(context.registeredObject(for: temporary) === asked)
            try context.save()
            #expect(!quiet.objectID.isTemporaryID && !asked.objectID.isTemporaryID && !quiet.hasTemporaryID)
            #expect(context.registeredObject(for: quiet.objectID) === quiet)
            #expect(context.registeredObject(for: temporary) === asked)
            #expect(context.registeredObjects == [quiet, asked])
        }
    }

    @Test func aDroppedObjectKeepsItsTemporaryID() throws {
        let context = League.context(try filled(0))
        context.performAndWait {
            let team = context.addTeam("Gone")
            context.delete(team)
            context.processPendingChanges()
            #expect(team.managedObjectContext == nil)
            #expect(team.objectID.isTemporaryID && team.objectID === team.objectID)
            context.insert(team)
            #expect(context.registeredObject(for: team.objectID) === team)
        }
    }

    @Test func objectsThatOutliveTheirContextStillHaveIDs() throws {
        let coordinator = try filled(3)
        var context: NSManagedObjectContext? = League.context(coordinator)
        let request = League.request("Team", by: "name")
        let teams = try #require(
            try context?.performAndWait { () throws in UncheckedSendable(try context?.fetch(request) ?? []) })
        context = nil
        #expect(teams.value.allSatisfy { $0.managedObjectContext == nil })
        let other = League.context(coordinator)
        try other.performAndWait { () throws in
            #expect(try other.fetch(request).map(\.objectID) == teams.value.map(\.objectID))
        }
    }

    // MARK: Batches

    private func members(of batch: FaultBatch, with object: NSManagedObject) -> [RowKey] {
        var keys: [RowKey] = []
        _ = batch.waiting(with: object) { member in
            if case .row(let key, _) = member { keys.append(key) }
            return nil
        }
        return keys
    }

    /// A batch lists its members, even if their numbers are far apart or their rows belong to several entities.
    @Test func aBatchNamesItsMembers() throws {
        let context = League.context(try filled(1))
        try context.performAndWait { () throws in
            let team = try #require(try context.fetch(League.request("Team")).first)
            let store = try #require(team.storeReference)
            let lists: [[Int64]] = [
                [5], [7, 7, 7], [1, 255, 256], [90_000, 3, 70_000], [1 << 40, 1], [.min, .max, 0, -1], [-3, -900],
            ]
            for numbers in lists {
                let keys = numbers.map { RowKey(entity: 2, reference: $0) }
                #expect(members(of: .make(keys, of: store), with: team) == keys)
                let mixed = keys.enumerated().map { RowKey(entity: UInt32($0) * 70_000, reference: $1.reference) }
                #expect(members(of: .make(mixed, of: store), with: team) == mixed)
            }
            #expect(members(of: .make([], of: store), with: team).isEmpty)
        }
    }
}
