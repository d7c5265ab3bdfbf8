import ChildProgram
import Foundation

@testable import CoreData

/// Changes of a staff's store by another process: the terminal program, which stands beside the tests.
struct SecondProcess {
    let staff: Staff

    /// Runs a verb, and merges what it committed by the history of the store. Called on the context's queue.
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
