import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Code of a program that runs within a request (comparators, transformers, blocks, equality of its types) and waits
/// for another working context of the coordinator. Issue 19, sound 4.
@Suite struct CodeInRequestsTests {
    @Test(.needs(.process)) func codeWithinARequestMayWaitForTheCoordinator() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let watchdog = Watchdog()
            for type in [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType] {
                watchdog.scene = "\(type): making the store"
                let world = try Meeting.World(type)
                for scene in Meeting.Scene.allCases where scene.isPossible(in: type) {
                    for onMain in [false, true] {
                        watchdog.scene = "\(type): \(scene)\(onMain ? ", waits for the main queue" : "")"
                        try await world.run(scene, meetsOnMain: onMain)
                        guard Meeting.takeCount() > 0 else { Watchdog.fail("no code in \(watchdog.scene)") }
                    }
                }
            }
            exit(EXIT_SUCCESS)
        }
        Watchdog.expectNothing(of: result)
    }

    /// Values of a program's types are released and compared without a context's lock.
    @Test(.needs(.process)) func settingsAreReleasedOutsideTheirLock() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let watchdog = Watchdog()
            let context = NSManagedObjectContext(.privateQueue)
            watchdog.scene = "a merge policy that reads a setting when it goes away"
            let gone = Atomic<Int>(0)
            func use() {
                context.mergePolicy = Policy {
                    _ = (context.name, context.mergePolicy)
                    gone.add(1, ordering: .relaxed)
                }
            }
            use()
            context.mergePolicy = NSMergePolicy.error
            watchdog.scene = "a value of the user info that reads it when it goes away"
            context.userInfo["value"] = Policy {
                _ = context.userInfo["value"]
                gone.add(1, ordering: .relaxed)
            }
            context.userInfo["value"] = 1
            watchdog.scene = "a key of the user info that reads it when it is compared"
            context.userInfo[Key(context)] = 2
            guard context.userInfo[Key(context)] as? Int == 2, context.userInfo.count == 2 else {
                Watchdog.fail("the key is missing")
            }
            guard gone.load(ordering: .relaxed) == 2 else {
                Watchdog.fail("\(gone.load(ordering: .relaxed)) went away")
            }
            exit(EXIT_SUCCESS)
        }
        Watchdog.expectNothing(of: result)
    }

    private final class Policy: NSMergePolicy, @unchecked Sendable {
        private let whenGone: () -> Void

        init(whenGone: @escaping () -> Void) {
            self.whenGone = whenGone
            super.init(merge: .errorMergePolicyType)
        }

        deinit { whenGone() }
    }

    private struct Key: Hashable, @unchecked Sendable {
        private let context: NSManagedObjectContext

        init(_ context: NSManagedObjectContext) { self.context = context }

        static func == (left: Key, right: Key) -> Bool {
            _ = left.context.userInfo.count
            return true
        }

        func hash(into hasher: inout Hasher) { _ = context.userInfo.count }
    }
}

/// Lets code within a request wait for the queue of another context, whose running block needs the coordinator.
private enum Meeting {
    // SAFETY: guarded by the lock.
    private final class State: @unchecked Sendable {
        var context: NSManagedObjectContext?
        var isMeeting = false
        var count = 0
    }

    private static let state = Mutex(State())

    static func takeCount() -> Int {
        state.withLock { state in
            defer { (state.count, state.context) = (0, nil) }
            return state.count
        }
    }

    static func set(_ context: NSManagedObjectContext) {
        let context = UncheckedSendable(context)
        state.withLock { $0.context = context.value }
    }

    /// Called by code within a request. Only the first calls wait, and none within another wait.
    static func meet() {
        let begun = state.withLock { state -> UncheckedSendable<NSManagedObjectContext>? in
            guard !state.isMeeting, state.count < 2, let context = state.context else { return nil }
            state.isMeeting = true
            return UncheckedSendable(context)
        }
        guard let context = begun?.value else { return }
        if context.concurrencyType == .privateQueueConcurrencyType {
            let isAtWork = DispatchSemaphore(value: 0)
            context.perform {
                isAtWork.signal()
                look(context)
            }
            isAtWork.wait()
        }
        context.performAndWait { look(context) }
        state.withLock { state in
            state.isMeeting = false
            state.count += 1
        }
    }

    private static func look(_ context: NSManagedObjectContext) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        guard let count = try? context.fetch(request).count, count > 0 else {
            Watchdog.fail("the other context reads nothing")
        }
    }

    enum Scene: CaseIterable {
        case sort, sortOfDictionaries, group, count, equality, save, read, batchUpdate, controller

        /// A memory store keeps objects unchanged and does not support batch requests.
        func isPossible(in type: String) -> Bool {
            switch self {
            case .save, .read, .batchUpdate: type == NSSQLiteStoreType
            case .sort, .sortOfDictionaries, .group, .count, .equality, .controller: true
            }
        }
    }

    /// A value that code compares.
    final class Value: NSObject, NSSecureCoding, @unchecked Sendable {
        static let supportsSecureCoding = true
        let number: Int

        init(_ number: Int) { self.number = number }
        init?(coder: NSCoder) { number = coder.decodeInteger(forKey: "number") }
        func encode(with coder: NSCoder) { coder.encode(number, forKey: "number") }

        override func isEqual(_ object: Any?) -> Bool {
            meet()
            return (object as? Value)?.number == number
        }

        override var hash: Int {
            meet()
            return number
        }
    }

    final class Transformer: ValueTransformer, @unchecked Sendable {
        override func transformedValue(_ value: Any?) -> Any? {
            meet()
            return (value as? Value).map { Data("\($0.number)".utf8) }
        }

        override func reverseTransformedValue(_ value: Any?) -> Any? {
            meet()
            return (value as? Data).flatMap { Int(String(decoding: $0, as: UTF8.self)) }.map(Value.init)
        }
    }

    static let model: NSManagedObjectModel = {
        let value = Club.attribute("value", .transformableAttributeType)
        value.valueTransformerName = "MeetingTransformer"
        ValueTransformer.setValueTransformer(
            Transformer(), forName: NSValueTransformerName("MeetingTransformer"))
        let model = NSManagedObjectModel()
        model.entities = [
            Club.entity(
                "Thing",
                [
                    Club.attribute("name", .stringAttributeType), Club.attribute("number", .integer32AttributeType, 0),
                    value,
                ])
        ]
        return model
    }()

    final class World: @unchecked Sendable {
        private let stack: ClubStack
        private let context: NSManagedObjectContext
        private let bystander: NSManagedObjectContext
        private let main: NSManagedObjectContext

        init(_ type: String) throws {
            stack = try ClubStack(model: model, type: type)
            context = stack.context()
            bystander = stack.context()
            main = stack.context(.mainQueueConcurrencyType)
            try context.use { context in
                for number in 0..<4 {
                    _ = context.make("Thing", ["name": "\(number)", "number": number, "value": Value(number)])
                }
                try context.save()
                context.reset()
            }
        }

        func run(_ scene: Scene, meetsOnMain: Bool) async throws {
            Meeting.set(meetsOnMain ? main : bystander)
            let failure = Mutex<String?>(nil)
            await Watchdog.onThread { [self] in
                context.performAndWait {
                    do {
                        try play(scene)
                        context.reset()
                    } catch {
                        failure.withLock { $0 = "\(error)" }
                    }
                }
            }
            if let text = failure.withLock({ $0 }) { Watchdog.fail("\(scene): \(text)") }
        }

        private var byCode: NSSortDescriptor {
            NSSortDescriptor(key: "name", ascending: true) { left, right in
                meet()
                return ("\(left)" as NSString).compare("\(right)")
            }
        }

        private func request<Result>(_ type: Result.Type = NSManagedObject.self) -> NSFetchRequest<Result> {
            NSFetchRequest<Result>(entityName: "Thing")
        }

        private func play(_ scene: Scene) throws {
            switch scene {
            case .sort:
                let request = request()
                request.sortDescriptors = [byCode]
                _ = try context.fetch(request)
            case .sortOfDictionaries, .group:
                let request = request(NSDictionary.self)
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["name"]
                if scene == .group { request.propertiesToGroupBy = ["name"] }
                request.sortDescriptors = [byCode]
                _ = try context.fetch(request)
            case .count:
                let request = request()
                request.predicate = NSPredicate(format: "value == %@", Value(2))
                _ = try context.count(for: request)
            case .equality:
                let request = request()
                request.predicate = NSPredicate(format: "value IN %@", [Value(1), Value(2)])
                _ = try context.fetch(request)
            case .save:
                _ = context.make("Thing", ["name": "saved", "value": Value(9)])
                try context.save()
            case .read:
                for object in try context.fetch(request()) { _ = object.value(forKey: "value") }
            case .batchUpdate:
                let request = NSBatchUpdateRequest(entityName: "Thing")
                let number = NSExpression(
                    block: { _, _, _ in
                        meet()
                        return 7
                    }, arguments: nil)
                request.propertiesToUpdate = ["number": number]
                _ = try context.execute(request)
            case .controller:
                let request = request()
                request.sortDescriptors = [byCode]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                try controller.performFetch()
            }
        }
    }
}
