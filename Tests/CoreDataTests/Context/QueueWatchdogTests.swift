import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Messages on standard error while queue checks are on: each misuse with the stacks of both threads.
@Suite struct QueueWatchdogTests {
    private static func check() { setenv("CoreDataConcurrencyDebug", "1", 1) }

    /// The standard error of a process.
    private func output(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    private func depth(of place: String, in output: String) -> Int {
        let lines = output.split(separator: "\n")
        guard let start = lines.firstIndex(of: "\(place):") else { return 0 }
        return lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.count
    }

    @Test(.needs(.process)) func useOffAQueueThatNobodyIsOn() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.check()
            _ = try ClubStack().context().make("Player")
        }
        let text = output(result)
        #expect(text.contains("A managed object context is used outside of its queue"))
        #expect(depth(of: "Stack of the use", in: text) > 2, "\(text)")
        #expect(depth(of: "Stack that created its queue, and no thread uses it", in: text) > 2, "\(text)")
        // Functions of the program are named.
        #expect(text.contains("make(_:"), "\(text)")
    }

    @Test(.needs(.process)) func useOffAQueueThatIsAtWork() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.check()
            let context = try ClubStack().context()
            let isAtWork = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                context.performAndWait {
                    isAtWork.signal()
                    Thread.sleep(forTimeInterval: 60)
                }
            }
            isAtWork.wait()
            context.undo()
        }
        let text = output(result)
        #expect(depth(of: "Stack of the use", in: text) > 2, "\(text)")
        #expect(depth(of: "Stack that uses its queue", in: text) > 2, "\(text)")
    }

    /// A debug build checks by default, and the program continues.
    @Test(.needs(.process)) func aDebugBuildReportsTheFirstUseOffAQueue() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            unsetenv("CoreDataConcurrencyDebug")
            try Self.useOffQueue()
            exit(EXIT_SUCCESS)
        }
        let text = output(result)
        #expect(text.components(separatedBy: "is used outside of its queue, by inserting").count == 2, "\(text)")
        #expect(depth(of: "Stack of the use", in: text) > 2, "\(text)")
        #expect(depth(of: "Stack that created its queue", in: text) > 2, "\(text)")
        #expect(text.contains("useOffQueue"), "\(text)")
        #expect(text.contains("Debug builds report this once."), "\(text)")
    }

    @Test(.needs(.process)) func aDebugBuildReportsNothingIfSwitchedOff() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv("CoreDataConcurrencyDebug", "0", 1)
            try Self.useOffQueue()
            exit(EXIT_SUCCESS)
        }
        #expect(!output(result).contains("CoreData: "), "\(output(result))")
    }

    @Test(.needs(.process)) func correctUseIsNotReported() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            unsetenv("CoreDataConcurrencyDebug")
            let stack = try ClubStack()
            let context = stack.context()
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            try await child.perform {
                child.team("City").wins = 3
                try child.save()
            }
            try await context.perform {
                try context.save()
                context.refreshAllObjects()
                let teams = try context.fetch(NSFetchRequest<ClubTeam>(entityName: "Team"))
                precondition(teams.map(\.wins) == [3])
            }
            exit(EXIT_SUCCESS)
        }
        #expect(!output(result).contains("CoreData: "), "\(output(result))")
    }

    private static func useOffQueue() throws {
        let context = try ClubStack().context()
        for name in ["City", "United"] { context.team(name).wins = 2 }
        try context.save()
        let count = try context.count(for: NSFetchRequest<ClubTeam>(entityName: "Team"))
        precondition(count == 2)
    }

    @Test(.needs(.process)) func aCircleOfQueues() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Self.check()
            let stack = try ClubStack()
            let contexts = UncheckedSendable((stack.context(), stack.context()))
            let (isFirstAtWork, isSecondAtWork) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                contexts.value.0.performAndWait {
                    isFirstAtWork.signal()
                    isSecondAtWork.wait()
                    contexts.value.1.performAndWait {}
                }
                isDone.signal()
            }
            Thread.detachNewThread {
                contexts.value.1.performAndWait {
                    isSecondAtWork.signal()
                    isFirstAtWork.wait()
                    contexts.value.0.performAndWait {}
                }
                isDone.signal()
            }
            isDone.wait()
            isDone.wait()
            exit(EXIT_SUCCESS)
        }
        let text = output(result)
        #expect(text.contains("2 threads wait for each other's queues."), "\(text)")
        for thread in 1...2 { #expect(depth(of: "Stack of waiting thread \(thread)", in: text) > 2, "\(text)") }
    }

    @Test(.needs(.process)) func codeThatWaitsUnderALock() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Self.check()
            let stack = try ClubStack()
            let context = stack.context()
            // A lock that the program takes itself is not reported.
            stack.coordinator.performAndWait { context.performAndWait {} }
            FileHandle.standardError.write(Data("now\n".utf8))
            let other = stack.context()
            try context.performAndWait {
                for name in ["City", "United"] { _ = context.team(name) }
                try context.save()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.sortDescriptors = [
                    NSSortDescriptor(key: "name", ascending: true) { _, _ in
                        other.performAndWait { .orderedSame }
                    }
                ]
                _ = try context.fetch(request)
            }
            exit(EXIT_SUCCESS)
        }
        let parts = output(result).components(separatedBy: "now\n")
        #expect(parts.count == 2 && !parts[0].contains("under the lock"), "\(parts)")
        #expect(parts.last?.contains("under the lock of a coordinator waits for a context") == true)
        #expect(depth(of: "Stack that took the lock", in: parts.last ?? "") > 2)
    }

    /// The handler of a migration stage must wait under the coordinator's lock.
    @Test(.needs(.process)) func codeThatHasToWaitUnderALock() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Self.check()
            let stack = try ClubStack()
            let (first, second) = (stack.context(), stack.context())
            stack.coordinator.withLock {
                QueueWatchdog.allowingWaits { first.performAndWait {} }
                FileHandle.standardError.write(Data("now\n".utf8))
                second.performAndWait {}
            }
            exit(EXIT_SUCCESS)
        }
        let parts = output(result).components(separatedBy: "now\n")
        #expect(parts.count == 2 && !parts[0].contains("under the lock"), "\(parts)")
        #expect(parts.last?.contains("under the lock") == true)
    }
}
