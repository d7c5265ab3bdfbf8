import Foundation

@testable import CoreData

/// Changes of a staff's store by another process: the terminal program, which stands beside the tests.
struct SecondProcess {
    let staff: Staff

    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("roster")

    /// Runs a verb, and merges what it committed by the history of the store. Called on the context's queue.
    func run(_ verb: String, _ arguments: [String]) throws {
        let before = staff.coordinator.currentPersistentHistoryToken(fromStores: [staff.store])
        let process = Process()
        process.executableURL = Self.program
        let path = staff.folder.appendingPathComponent("Staff.sqlite").path
        process.arguments = [verb, path, "Employee"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(verb) \(arguments) ended with \(process.terminationStatus): \(output)")
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
