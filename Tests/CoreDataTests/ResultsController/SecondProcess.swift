import ChildProgram
import Foundation

@testable import CoreData

/// Changes a staff's store in another process: the `roster` program in the folder of the tests.
struct SecondProcess {
    let staff: Staff

    /// Runs a verb and merges its commits from the store's history. Called on the context's queue.
    func run(_ verb: String, _ arguments: [String]) throws {
        let before = staff.coordinator.currentPersistentHistoryToken(fromStores: [staff.store])
        let path = staff.folder.appendingPathComponent("Staff.sqlite").path
        let ended = try ChildProgram(built: "roster", [verb, path, "Employee"] + arguments)
        guard ended.status == 0 else {
            throw Failure(description: "\(verb) \(arguments) ended with \(ended.status): \(ended.output)")
        }
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: before)
        let result = try staff.context.execute(request) as? NSPersistentHistoryResult
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            staff.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
