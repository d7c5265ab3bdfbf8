import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Copies every store written by Apple's framework to a store of each type and back without changes.
@Suite(.needs(.campaign), .enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusCopiesTests {
    @Test(arguments: CorpusCopy.all) func nothingIsWrongInWhatAppleWrote(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        try copy.open.close()
        let open = try copy.harness.open([NSReadOnlyPersistentStoreOption: true])
        // Rows of that file were removed by hand.
        let known = stored.name == "photos-11.0" ? 1 : 0
        #expect(try open.coordinator.findings(in: open.store).count == known)
    }

    /// Uses one type for each store; all types with `ROSTER_LONG_TESTS`.
    @Test(arguments: CorpusCopy.all) func copiesAreEqual(_ stored: CorpusCopy.Source) throws {
        let copy = try CorpusCopy(stored)
        let model = copy.open.coordinator.managedObjectModel
        let before = try Self.contents(of: copy.open.coordinator)
        try copy.open.close()
        var types = [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType]
        if ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] == nil {
            let number = CorpusCopy.all.firstIndex { $0.name == stored.name } ?? 0
            types = [types[number % types.count]]
        }
        for type in types {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let source = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy.harness.url)
            let there = copy.harness.folder.appendingPathComponent("there-\(type)")
            let back = copy.harness.folder.appendingPathComponent("back-\(type).sqlite")
            let made: NSPersistentStore
            do {
                made = try coordinator.migratePersistentStore(source, to: there, options: nil, withType: type)
            } catch let error as NSError where type == NSXMLStoreType && error.code == 134060 {
                // Names of this model differ only in case.
                continue
            }
            #expect(try Self.contents(of: coordinator) == before, "\(stored.name) as \(type)")
            let returned = try coordinator.migratePersistentStore(
                made, to: back, options: nil, withType: NSSQLiteStoreType)
            try coordinator.remove(returned)
            for (url, type) in [(there, type), (back, NSSQLiteStoreType)] where type != NSInMemoryStoreType {
                let fresh = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try fresh.addPersistentStore(
                    ofType: type, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
                #expect(try Self.contents(of: fresh) == before, "\(stored.name) from \(url.lastPathComponent)")
                try fresh.remove(store)
            }
        }
    }

    /// The values of all objects as sorted lines, and the number of destinations of each relationship.
    private static func contents(of coordinator: NSPersistentStoreCoordinator) throws -> [String: [String]] {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var result: [String: [String]] = [:]
            for entity in coordinator.managedObjectModel.entities {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                result[entity.name ?? ""] = try context.fetch(request).map(line).sorted()
            }
            return result
        }
    }

    private static func line(_ object: NSManagedObject) -> String {
        var parts: [String] = []
        for property in object.entity.properties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
            if let relationship = property as? NSRelationshipDescription {
                let count =
                    relationship.isToMany
                    ? object.objectIDs(forRelationshipNamed: property.name).count
                    : object.value(forKey: property.name) == nil ? 0 : 1
                parts.append("\(property.name):\(count)")
            } else if let value = object.value(forKey: property.name) {
                parts.append("\(property.name)=\(text(value))")
            }
        }
        return parts.joined(separator: " ")
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let data as Data: return data.base64EncodedString()
        case let date as Date: return "\(date.timeIntervalSinceReferenceDate)"
        case let parts as [String: Any]:
            return "{" + parts.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: " ")
                + "}"
        default: return "\(value)"
        }
    }
}
