import Foundation
import Testing

@testable import CoreData

/// Messages of failed fetches.
@Suite struct FetchErrorTests {
    private func message(_ body: () throws -> Void) throws -> String {
        let error = try #require(throws: NSError.self, performing: body)
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(!error.localizedDescription.contains("\n"))
        return error.localizedDescription
    }

    @Test func anUnknownEntityIsNamedWithTheNearest() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let text = try message { _ = try context.fetch(League.request("Teem")) }
            #expect(text.contains("Teem") && text.contains("did you mean Team"))
        }
    }

    @Test func aRequestNeedsAnEntityAStoreAndACoordinator() throws {
        let bare = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        try bare.performAndWait { () throws in
            #expect(try message { _ = try bare.fetch(League.request("Team")) }.contains("coordinator"))
        }
        let empty = League.context(NSPersistentStoreCoordinator(managedObjectModel: League.model()))
        try empty.performAndWait { () throws in
            #expect(try message { _ = try empty.fetch(League.request("Team")) }.contains("no store"))
            #expect(try message { _ = try empty.fetch(NSFetchRequest<NSManagedObject>()) }.contains("entity"))
        }
    }

    @Test func groupingIsRefusedForAnyResultType() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            let types: [NSFetchRequestResultType] = [
                .managedObjectResultType, .managedObjectIDResultType, .countResultType, .dictionaryResultType,
            ]
            for type in types {
                for groups in [nil, ["zone"]] as [[String]?] {
                    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Team")
                    request.resultType = type
                    request.propertiesToGroupBy = groups
                    request.havingPredicate = NSPredicate(format: "wins > 1")
                    let having = #expect(throws: NSError.self) { try context.fetch(request) }
                    #expect(having?.code == 134060, "result type \(type.rawValue)")
                    guard groups != nil else { continue }
                    request.havingPredicate = nil
                    let grouped = #expect(throws: NSError.self) { try context.fetch(request) }
                    #expect(grouped?.code == 134060, "result type \(type.rawValue)")
                }
            }
            let counted = League.request("Team")
            counted.havingPredicate = NSPredicate(format: "wins > 1")
            let error = #expect(throws: NSError.self) { try context.count(for: counted) }
            #expect(error?.code == 134060)
        }
    }

    @Test func prefetchingAnAttributeIsRefused() throws {
        let (coordinator, _) = try League.memoryStack()
        let context = League.context(coordinator)
        try context.performAndWait { () throws in
            context.addTeam("Ghana")
            let request = League.request("Team")
            request.relationshipKeyPathsForPrefetching = ["zone"]
            #expect(try message { _ = try context.fetch(request) }.contains("no relationship named zone"))
        }
    }
}
