import Dispatch
import Foundation
import Synchronization

/// The queue of a context: the main queue, or one of its own.
///
/// A block that waits runs in place when its thread is already on the queue, however many other contexts' blocks it went
/// through, so that waiting is re-entrant. For that the thread that runs a block of a private queue is noted.
final class ContextQueue: Sendable {
    let isMain: Bool
    private let queue: DispatchQueue
    /// The thread that is on the private queue at the moment; 0 while none is.
    private let owner = Atomic<UInt>(0)

    init(_ type: NSManagedObjectContextConcurrencyType) {
        isMain = type == .mainQueueConcurrencyType
        queue = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
    }

    private static var thisThread: UInt { UInt(pthread_self()) }

    /// Whether the caller is on the queue.
    var isCurrent: Bool {
        isMain ? Self.isOnMainQueue : owner.load(ordering: .relaxed) == Self.thisThread
    }

    /// On Linux a program that ends in `dispatchMain()` leaves the main thread for good: the main queue then runs on any
    /// thread, and is known by a mark.
    private static var isOnMainQueue: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) != nil
    }

    private static let mainQueueMark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Runs `block` on the queue, some time later.
    func async(_ block: @escaping () -> Void) {
        let work = UncheckedSendable(block)
        queue.async { self.enter(work.value) }
    }

    /// Runs `block` on the queue and waits for it; in place if the caller is on the queue.
    func sync<Result, Failure: Error>(_ block: () throws(Failure) -> Result) throws(Failure) -> Result {
        if isCurrent { return try block() }
        var result: Swift.Result<Result, Failure>?
        withoutActuallyEscaping(block) { block in
            let work = UncheckedSendable(block)
            queue.sync { enter { result = Self.catching(work.value) } }
        }
        guard let result else { preconditionFailure("A queue did not run a block that was waited for.") }
        return try result.get()
    }

    /// What a block returns or throws, as a value.
    static func catching<Result, Failure: Error>(
        _ block: () throws(Failure) -> Result
    ) -> Swift.Result<Result, Failure> {
        do {
            return .success(try block())
        } catch {
            return .failure(error)
        }
    }

    private func enter(_ block: () -> Void) {
        if isMain { return block() }
        let previous = owner.exchange(Self.thisThread, ordering: .relaxed)
        block()
        owner.store(previous, ordering: .relaxed)
    }
}

/// Whether the use of contexts and objects from wrong threads stops the program.
///
/// Switched on by the environment variable `CoreDataConcurrencyDebug` or by Apple's launch argument
/// `-com.apple.CoreData.ConcurrencyDebug 1`.
enum ConcurrencyChecking {
    static let isOn: Bool = {
        if ProcessInfo.processInfo.environment["CoreDataConcurrencyDebug"].map({ $0 != "0" }) == true { return true }
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug") else { return false }
        return index + 1 < arguments.count && arguments[index + 1] != "0"
    }()
}
