import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Memory use, measured in separate processes.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil))
struct ObjectMemoryTests {
    /// Number of objects in a test: a million with `ROSTER_LONG_TESTS=50`.
    private static func count(short: Int) -> Int {
        ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }.map { $0 * 20_000 } ?? short
    }

    /// Fires many faults in batches of a thousand, with `refreshAllObjects` after each.
    @Test(.needs(.process)) func touchingManyFaultsInBatchesStaysFlat() async {
        await #expect(processExitsWith: .success) {
            let count = Self.count(short: 6_000)
            let stack = try MemoryProbe.stack(fans: count)
            try stack.context().use { context in
                let fans = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Fan"))
                let fetched = MemoryProbe.bytes
                context.refreshAllObjects()
                context.processPendingChanges()
                let faults = MemoryProbe.bytes
                var highest = 0
                for start in stride(from: 0, to: count, by: 1000) {
                    for fan in fans[start..<start + 1000] {
                        precondition(fan.value(forKey: "name") as? String != nil)
                    }
                    context.refreshAllObjects()
                    context.processPendingChanges()
                    highest = max(highest, MemoryProbe.bytes)
                }
                precondition(fans.count == count && fans.allSatisfy(\.isFault))
                let report = "fetched \(fetched), faults \(faults), highest \(highest)"
                if count >= 1_000_000 { print("\(report), resident \(MemoryProbe.resident)") }
                precondition(fetched - faults > count * 100, "the rows were here: \(report)")
                precondition(highest - faults < max(count * 16, 2_000_000), "and come a thousand at a time: \(report)")
            }
        }
    }

    /// The same page by page, releasing the references.
    @Test(.needs(.process)) func droppingTheReferencesGivesTheObjectsBack() async {
        await #expect(processExitsWith: .success) {
            let count = Self.count(short: 12_000)
            let stack = try MemoryProbe.stack(fans: count)
            try stack.context().use { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Fan")
                request.fetchLimit = 1000
                var lengths = 0
                var afterFirst = 0
                var highest = 0
                for start in stride(from: 0, to: count, by: 1000) {
                    request.fetchOffset = start
                    for fan in try context.fetch(request) {
                        lengths += (fan.value(forKey: "name") as? String)?.count ?? 0
                    }
                    context.processPendingChanges()
                    if start == 8000 { afterFirst = MemoryProbe.bytes }
                    if start > 8000 { highest = max(highest, MemoryProbe.bytes) }
                }
                if count >= 1_000_000 {
                    print("after the first pages \(afterFirst), highest \(highest), resident \(MemoryProbe.resident)")
                }
                precondition(lengths > 0)
                // Some thousand objects may be kept until the next check for unused ones.
                precondition(
                    highest - afterFirst < 6_000_000, "after the first pages \(afterFirst), highest \(highest)")
            }
        }
    }

    @Test func resetBreaksCyclesOfRelatedObjects() throws {
        let stack = try ClubStack()
        try stack.context().use { context in
            weak var lost: NSManagedObject?
            weak var other: NSManagedObject?
            let kept = context.team("Kept")
            func build() throws {
                let team = context.team()
                let player = context.make("Player", ["name": "Ada", "team": team])
                team.captain = player
                player.setValue(Set([context.make("Skill", ["name": "pace"])]), forKey: "skills")
                kept.setValue(context.make("Venue"), forKey: "venue")
                team.setValue(kept.object("venue"), forKey: "venue")
                try context.save()
                (lost, other) = (team, player)
            }
            try build()
            context.retainsRegisteredObjects = true
            #expect(lost != nil && other != nil)
            context.reset()
            #expect(lost == nil && other == nil, "though a neighbour's neighbour is still held")
            #expect(kept.isFault && kept.managedObjectContext == nil)
        }
    }

    @Test func objectsGoAwayWithTheirLastHolder() throws {
        final class Counted: NSManagedObject {
            nonisolated(unsafe) static var living = 0
            required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                super.init(entity: entity, insertInto: context)
                Counted.living += 1
            }
            deinit { Counted.living -= 1 }
        }
        let entity = Club.entity("Counted", [Club.attribute("name", .stringAttributeType)])
        let next = NSRelationshipDescription()
        (next.name, next.maxCount, next.destinationEntity) = ("next", 1, entity)
        let previous = NSRelationshipDescription()
        (previous.name, previous.maxCount, previous.destinationEntity) = ("previous", 1, entity)
        (next.inverseRelationship, previous.inverseRelationship) = (previous, next)
        entity.properties += [next, previous]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        ManagedObjectClasses.register(Counted.self, for: entity)
        entity.managedObjectClassName = "Counted"
        let stack = try ClubStack(model: model)
        ManagedObjectClasses.register(Counted.self, for: try #require(model.entitiesByName["Counted"]))
        try stack.context().use { context in
            func build() throws {
                let ring = (0..<10).map { context.make("Counted", ["name": "\($0)"]) }
                for (index, object) in ring.enumerated() { object.setValue(ring[(index + 1) % 10], forKey: "next") }
                #expect(Counted.living == 10)
                try context.save()
            }
            try build()
            context.refreshAllObjects()
            context.processPendingChanges()
            #expect(context.registeredObjects.isEmpty && Counted.living == 0)
            for _ in 0..<3 { _ = context.make("Counted") }
            context.rollback()
            #expect(Counted.living == 0)
            let held = context.make("Counted")
            context.delete(held)
            context.processPendingChanges()
            #expect(Counted.living == 1 && held.managedObjectContext == nil)
        }
        #expect(Counted.living == 0)
    }

    /// An object of an entity that is edited afterwards keeps the properties with which it was created, and the entity
    /// itself after everything else is gone.
    @Test func objectsOutliveTheEditsAndTheModel() {
        weak var gone: NSEntityDescription?
        do {
            var objects: [NSManagedObject] = []
            do {
                let entity = NSEntityDescription()
                entity.name = "Thing"
                for number in 0..<20 {
                    let attribute = NSAttributeDescription()
                    attribute.name = "a\(number)"
                    attribute.attributeType = .integer64AttributeType
                    attribute.defaultValue = number
                    entity.properties.append(attribute)
                    objects.append(NSManagedObject(entity: entity, insertInto: nil))
                }
                gone = entity
            }
            for (count, object) in objects.enumerated() {
                #expect(object.entity.name == "Thing")
                #expect((0...count).allSatisfy { object.value(forKey: "a\($0)") as? Int == $0 })
            }
            objects.removeSubrange(1...)
            #expect(gone != nil)
        }
        #expect(gone == nil)
    }
}

private enum MemoryProbe {
    /// Bytes allocated by the process, as reported by the C library.
    static var bytes: Int {
        // Swift's module map of the C library does not include the header with this function.
        typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        guard let symbol = dlsym(nil, "malloc_info"), let file = tmpfile() else { return 0 }
        defer { fclose(file) }
        _ = unsafeBitCast(symbol, to: MallocInfo.self)(0, file)
        rewind(file)
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        let text = String(decoding: bytes, as: UTF8.self)
        /// The size in the last tag of that kind, which is the sum of all arenas.
        func last(_ tag: String) -> Int {
            guard let range = text.range(of: "<\(tag)", options: .backwards),
                let size = text[range.upperBound...].range(of: "size=\"")
            else { return 0 }
            return Int(text[size.upperBound...].prefix { $0.isNumber }) ?? 0
        }
        return last("system type=\"current\"") + last("total type=\"mmap\"") - last("total type=\"fast\"")
            - last("total type=\"rest\"")
    }

    /// Bytes of the process that are in memory.
    static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return Int(text.split(separator: " ").dropFirst().first ?? "").map { $0 * sysconf(Int32(_SC_PAGESIZE)) } ?? 0
    }

    /// A store with `count` fans.
    static func stack(fans count: Int) throws -> ClubStack {
        let stack = try ClubStack()
        for start in stride(from: 0, to: count, by: 10_000) {
            try stack.context().use { context in
                for number in start..<min(start + 10_000, count) {
                    _ = context.make("Fan", ["name": "A fan with a name that needs memory of its own, \(number)"])
                }
                try context.save()
            }
        }
        return stack
    }
}
