import CoreData
import Foundation
import Synchronization
import Testing

/// Asynchronous fetches, as made by programs written for Apple's framework.
@Suite struct AsynchronousFetchTests {
    typealias Kind = BatchRequestTests.Kind

    private static func stack(_ kind: Kind = .sqlite, dogs: Int) throws -> BatchRequestTests.Stack {
        let stack = try BatchRequestTests.Stack(kind)
        try stack.use { context in
            let rows: [[String: Any]] = (0..<dogs).map { ["name": "Dog \($0)", "age": $0 % 100] }
            try context.execute(NSBatchInsertRequest(entityName: "Dog", objects: rows))
        }
        return stack
    }

    private static func dogs(_ format: String = "TRUEPREDICATE") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true),
        ]
        return request
    }

    /// Executes a request and waits for the completion block.
    private func finish<T>(
        _ request: NSFetchRequest<T>, _ context: NSManagedObjectContext, cancelled: Bool = false
    ) async throws -> (names: [String]?, error: NSError?) {
        nonisolated(unsafe) let request = request
        return try await withCheckedThrowingContinuation { continuation in
            context.perform {
                do {
                    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                        let names = result.finalResult?.map { item in
                            (item as? NSManagedObject)?.value(forKey: "name") as? String ?? "\(item)"
                        }
                        continuation.resume(returning: (names, result.operationError as NSError?))
                    }
                    let result = try context.execute(asynchronous) as? NSAsynchronousFetchResult<T>
                    #expect(result?.finalResult == nil, "nothing is there yet")
                    #expect(result?.fetchRequest === asynchronous && result?.managedObjectContext === context)
                    #expect(result?.progress == nil, "no progress was current")
                    if cancelled { result?.cancel() }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    @Test(arguments: Kind.allCases) func resultsComeLaterOnTheContextsQueue(_ kind: Kind) async throws {
        let stack = try Self.stack(kind, dogs: 250)
        let context = stack.container.newBackgroundContext()
        let all = try await finish(Self.dogs("age >= 98"), context)
        #expect(all.names == ["Dog 199", "Dog 99", "Dog 198", "Dog 98"] && all.error == nil)
        let some = Self.dogs()
        (some.fetchLimit, some.fetchOffset) = (2, 1)
        #expect(try await finish(some, context).names == ["Dog 99", "Dog 198"])
        let count = NSFetchRequest<NSNumber>(entityName: "Dog")
        count.resultType = .countResultType
        #expect(try await finish(count, context).names == ["250"])
        let sum = NSExpressionDescription()
        sum.name = "total"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "age")])
        sum.expressionResultType = .integer64AttributeType
        let sums = NSFetchRequest<NSDictionary>(entityName: "Dog")
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = [sum]
        let text = try #require(try await finish(sums, context).names?.first)
        #expect(text.contains("11125"), "\(text)")
    }

    @Test func unsavedChangesAreInTheResults() async throws {
        let stack = try Self.stack(dogs: 10)
        let context = stack.container.newBackgroundContext()
        try context.performAndWait {
            let new = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
            new.setValue("New", forKey: "name")
            new.setValue(9, forKey: "age")
            let old = try context.fetch(Self.dogs("name == 'Dog 9'"))[0]
            context.delete(old)
            let changed = try context.fetch(Self.dogs("name == 'Dog 1'"))[0]
            changed.setValue(8, forKey: "age")
        }
        let found = try await finish(Self.dogs("age > 6"), context)
        #expect(found.names == ["New", "Dog 1", "Dog 8", "Dog 7"])
        let limited = Self.dogs("age > 6")
        limited.fetchLimit = 3
        #expect(try await finish(limited, context).names == ["New", "Dog 1", "Dog 8"])
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        #expect(try await finish(Self.dogs("age > 6"), child).names == found.names)
    }

    @Test func cancellingEndsItWithAnError() async throws {
        let stack = try Self.stack(dogs: 10)
        let ended = try await finish(Self.dogs(), stack.container.newBackgroundContext(), cancelled: true)
        #expect(ended.names == nil && ended.error?.code == NSUserCancelledError)
        #expect(ended.error?.domain == NSCocoaErrorDomain)
    }

    /// In SQL, the comparisons for a single row would take weeks, so a fetch that ends was interrupted within a row. In
    /// memory, a sort would follow the predicate.
    @Test(
        arguments: [
            (.sqlite, true), (.nowhere, true), (.sqlite, false), (.nowhere, false), (.memory, false),
        ] as [(Kind, Bool)])
    func workThatRunsIsInterrupted(_ kind: Kind, inSQL: Bool) async throws {
        let stack = try Self.stack(kind, dogs: inSQL ? 500 : 4000)
        try stack.use { context in
            let vet = NSEntityDescription.insertNewObject(forEntityName: "Vet", into: context)
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Dog")
            update.propertiesToUpdate = ["vet": vet]
            try context.execute(update)
        }
        let context = stack.container.newBackgroundContext()
        let sort = Sort()
        for canceller in Canceller.allCases {
            // 500 patients of each patient of each patient…: 3 * 10^13 comparisons by SQLite.
            var slow = (1...5).reversed().reduce("$d5.age == 1") { inner, depth in
                "SUBQUERY(\(depth == 1 ? "" : "$d\(depth - 1).")vet.patients, $d\(depth), \(inner)).@count == 7"
            }
            if !inSQL { slow = "SUBQUERY(vet.patients, $d, $d.age ** 2 == 1).@count != 7" }
            let request = Self.dogs(slow)
            if !inSQL {
                request.sortDescriptors = [
                    NSSortDescriptor(key: "name", ascending: true) { _, _ in
                        sort.comparisons.add(1, ordering: .relaxed)
                        return .orderedSame
                    }
                ]
            }
            // Long enough to begin. If not, the fetch is cancelled before it begins.
            try await expectCancellation(of: request, context, canceller) { usleep(100_000) }
        }
        #expect(sort.comparisons.load(ordering: .relaxed) == 0, "the sort, which follows the predicate")
        // The store can be used again.
        #expect(try await finish(Self.dogs("age == 99"), context).names?.count == (inSQL ? 5 : 40))
    }

    @Test func aSortInMemoryIsInterrupted() async throws {
        let stack = try Self.stack(dogs: 2000)
        let sort = Sort()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
        request.sortDescriptors = [
            NSSortDescriptor(key: "name", ascending: true) { left, right in
                if sort.comparisons.add(1, ordering: .relaxed).newValue == 100 {
                    sort.isRunning.signal()
                    sort.goesOn.wait()
                }
                return (left as? String ?? "").compare(right as? String ?? "")
            }
        ]
        let context = stack.container.newBackgroundContext()
        try await expectCancellation(of: request, context) {
            sort.isRunning.wait()
        } afterwards: {
            sort.goesOn.signal()
        }
        // A full sort of 2,000 objects takes 20,000 comparisons.
        let comparisons = sort.comparisons.load(ordering: .relaxed)
        #expect((100..<1000).contains(comparisons), "\(comparisons)")
        #expect(try await finish(Self.dogs("age == 99"), context).names?.count == 20)
    }

    /// A sort that pauses in its hundredth comparison.
    private final class Sort: Sendable {
        let comparisons = Atomic(0)
        let isRunning = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
    }

    /// Ways to cancel a fetch.
    private enum Canceller: CaseIterable { case result, progressAbove, task }

    private typealias Step = @Sendable () -> Void

    /// Expects that a fetch ends with the error of a cancellation. A fetch that never ends stops the program, because
    /// no thread may be left to report it.
    ///
    /// - Parameter begun: returns when the fetch is to be cancelled. It and `afterwards` run on their own threads,
    ///   because those of the queues may all be busy with fetches.
    private func expectCancellation(
        of request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext,
        _ canceller: Canceller = .result,
        when begun: @escaping Step, afterwards: @escaping Step = {}
    ) async throws {
        nonisolated(unsafe) let fetch = request
        let isOver = DispatchSemaphore(value: 0)
        @Sendable func onThread(_ cancel: @escaping Step) {
            Thread.detachNewThread {
                begun()
                cancel()
                afterwards()
                if isOver.wait(timeout: .now() + 120) == .success { return }
                fatalError("not within 120 s: a fetch ends that was cancelled by its \(canceller)")
            }
        }
        let error: (any Error)?
        if canceller == .task {
            let task = Task { () -> (any Error)? in
                defer { isOver.signal() }
                do { _ = try await context.fetchAsynchronously(fetch) } catch { return error }
                return nil
            }
            onThread { task.cancel() }
            error = await task.value
        } else {
            error = try await withCheckedThrowingContinuation { continuation in
                context.perform {
                    do {
                        let above = Progress(totalUnitCount: 1)
                        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
                            isOver.signal()
                            continuation.resume(returning: result.operationError)
                        }
                        if canceller == .progressAbove { above.becomeCurrent(withPendingUnitCount: 1) }
                        let result = try context.execute(asynchronous) as? NSPersistentStoreAsynchronousResult
                        if canceller == .progressAbove { above.resignCurrent() }
                        nonisolated(unsafe) let running = result
                        // In this block, because the test's own task may have to wait for others.
                        onThread { if canceller == .result { running?.cancel() } else { above.cancel() } }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
        #expect((error as? CocoaError)?.code == .userCancelled, "\(canceller)")
    }

    @Test func aSearchInMemoryFindsTheSameInAllParts() async throws {
        let stack = try Self.stack(dogs: 20_000)
        let context = stack.container.newBackgroundContext()
        // No store supports this cast.
        let request = Self.dogs("CAST(age, 'NSString') CONTAINS '9'")
        let expected = (0..<20_000).filter { "\($0 % 100)".contains("9") }.map { "Dog \($0)" }
        let found = try await finish(request, context)
        #expect(found.names?.sorted() == expected.sorted() && !expected.isEmpty)
    }

    @Test func progressIsAChildOfTheCurrentOne() async throws {
        let stack = try Self.stack(dogs: 7)
        let context = stack.container.newBackgroundContext()
        let parent = Progress(totalUnitCount: 10)
        let names: Int? = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                do {
                    parent.becomeCurrent(withPendingUnitCount: 10)
                    let request = NSAsynchronousFetchRequest(fetchRequest: Self.dogs()) { result in
                        continuation.resume(returning: result.finalResult?.count)
                    }
                    request.estimatedResultCount = 5
                    let result = try context.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>
                    parent.resignCurrent()
                    #expect(result?.progress?.totalUnitCount == 5 && result?.progress?.isCancellable == true)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(names == 7)
        #expect(parent.fractionCompleted == 1)
    }

    @Test func progressOfCancelledWorkIsComplete() async throws {
        let stack = try Self.stack(dogs: 7)
        let context = stack.container.newBackgroundContext()
        let parent = Progress(totalUnitCount: 10)
        let error: (any Error)? = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                do {
                    parent.becomeCurrent(withPendingUnitCount: 10)
                    let request = NSAsynchronousFetchRequest(fetchRequest: Self.dogs()) { result in
                        continuation.resume(returning: result.operationError)
                    }
                    let result = try context.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>
                    parent.resignCurrent()
                    result?.cancel()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect((error as? CocoaError)?.code == .userCancelled)
        #expect(parent.fractionCompleted == 1)
    }

    @Test func tasksFetchAndAreCancelled() async throws {
        let stack = try Self.stack(dogs: 20)
        let context = stack.container.newBackgroundContext()
        let count = await context.perform { 1 }
        #expect(count == 1)
        let task = Task { @MainActor in
            let view = stack.container.viewContext
            return try await view.fetchAsynchronously(Self.dogs("age < 3")).map { $0.value(forKey: "name") as? String }
        }
        #expect(try await task.value == ["Dog 2", "Dog 1", "Dog 0"])
        let cancelled = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await stack.container.viewContext.fetchAsynchronously(Self.dogs())
        }
        let error = await #expect(throws: CocoaError.self) { try await cancelled.value }
        #expect(error?.code == .userCancelled)
    }

    private final class Places: Sendable {
        let onMainQueue = Mutex<[Bool]>([])
    }

    /// The fetch processes the context's changes on the caller's queue, not on the global executor.
    @Test @MainActor func aTaskOfTheMainActorFetchesOnTheMainQueue() async throws {
        let stack = try Self.stack(dogs: 3)
        let view = stack.container.viewContext
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let places = Places()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
        ) { _ in places.onMainQueue.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
        defer { NotificationCenter.default.removeObserver(observer) }
        NSEntityDescription.insertNewObject(forEntityName: "Dog", into: view).setValue("New", forKey: "name")
        #expect(try await view.fetchAsynchronously(Self.dogs()).count == 4)
        #expect(places.onMainQueue.withLock { $0 } == [true])
    }

    @Test func aRequestThatCannotBeResolvedThrowsAtOnce() throws {
        let stack = try Self.stack(dogs: 0)
        try stack.use { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Cat")
            #expect(throws: CocoaError.self) {
                try context.execute(NSAsynchronousFetchRequest(fetchRequest: request) { _ in })
            }
        }
    }

    @Test func anExpressionMayFetch() throws {
        let stack = try Self.stack(dogs: 30)
        try stack.use { context in
            let request = NSExpression(forConstantValue: Self.dogs("age > 26"))
            let place = NSExpression(forConstantValue: context)
            let all = NSFetchRequestExpression.expression(forFetch: request, context: place, countOnly: false)
            let found = all.expressionValue(with: nil, context: nil) as? [NSManagedObject]
            #expect(found?.map { $0.value(forKey: "name") as? String } == ["Dog 29", "Dog 28", "Dog 27"])
            let count = NSFetchRequestExpression.expression(forFetch: request, context: place, countOnly: true)
            #expect((count.expressionValue(with: nil, context: nil) as? NSNumber)?.intValue == 3)
            let typed = try #require(count as? NSFetchRequestExpression)
            #expect(typed.isCountOnlyRequest && typed.expressionType == NSFetchRequestExpressionType)
            #expect(
                typed.expressionType.rawValue == 50 && typed.contextExpression.constantValue as AnyObject === context)
            let parsed = NSExpression(format: "FETCH(%@, $MANAGER, YES) + 1", Self.dogs("age > 26"))
            let value = parsed.expressionValue(with: nil, context: ["MANAGER": context])
            #expect((value as? NSNumber)?.intValue == 4)
        }
    }
}
