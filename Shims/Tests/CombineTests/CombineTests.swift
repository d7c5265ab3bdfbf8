import Combine
import Testing

private enum Problem: Error, Equatable { case bad }

/// Publishers as model layers use them.
@Suite struct CombineTests {
    /// The values and the end that a publisher sends at once.
    private func sent<P: Publisher>(_ publisher: P) -> (values: [P.Output], end: String) {
        var values: [P.Output] = [], end = ""
        let sink = publisher.sink(receiveCompletion: { end = "\($0)" }, receiveValue: { values.append($0) })
        sink.cancel()
        return (values, end)
    }

    @Test func operatorsTransformValues() {
        let numbers = [1, 2, 2, 3, 4].publisher
        #expect(sent(numbers.map { $0 * 2 }).values == [2, 4, 4, 6, 8])
        #expect(sent(numbers.filter { $0 > 2 }).values == [3, 4])
        #expect(sent(numbers.compactMap { $0 == 3 ? nil : "\($0)" }).values == ["1", "2", "2", "4"])
        #expect(sent(numbers.removeDuplicates()).values == [1, 2, 3, 4])
        #expect(sent(numbers.scan(0, +)).values == [1, 3, 5, 8, 12])
        #expect(sent(numbers.dropFirst(3)).values == [3, 4] && sent(numbers.prefix(2)).values == [1, 2])
        #expect(sent(numbers.collect()).values == [[1, 2, 2, 3, 4]] && sent(numbers.count()).values == [5])
        #expect(sent(numbers.first { $0 > 1 }).values == [2] && sent(numbers.last()).values == [4])
        #expect(sent(numbers.prepend(0).append(9)).values == [0, 1, 2, 2, 3, 4, 9])
        #expect(sent([nil, 1].publisher.replaceNil(with: 7)).values == [7, 1])
        #expect(sent(numbers.map { $0 }).end == "finished")
    }

    @Test func failuresEndOrAreReplaced() {
        let failing = [1, 2, 3].publisher.tryMap { number -> Int in
            if number == 2 { throw Problem.bad }
            return number
        }
        #expect(sent(failing).values == [1] && sent(failing).end.contains("bad"))
        #expect(sent(failing.replaceError(with: 9)).values == [1, 9])
        #expect(sent(failing.catch { _ in Just(5) }).values == [1, 5])
        #expect(sent(failing.mapError { $0 as? Problem ?? .bad }).end.contains("bad"))
        #expect(sent(failing.retry(1)).values == [1, 1])
        #expect(sent(Fail<Int, Problem>(error: .bad)).end.contains("bad"))
        #expect(
            sent(Empty<Int, Never>()).end == "finished" && sent(Empty<Int, Never>(completeImmediately: false)).end == ""
        )
        #expect(sent(Just(1).setFailureType(to: Problem.self)).values == [1])
    }

    @Test func subjectsSendToAllSubscribers() {
        let subject = PassthroughSubject<Int, Problem>()
        var first: [Int] = [], second: [Int] = [], end: Subscribers.Completion<Problem>?
        let one = subject.sink(receiveCompletion: { end = $0 }, receiveValue: { first.append($0) })
        subject.send(1)
        let two = subject.sink(receiveCompletion: { _ in }, receiveValue: { second.append($0) })
        subject.send(2)
        two.cancel()
        subject.send(3)
        subject.send(completion: .failure(.bad))
        subject.send(4)
        #expect(first == [1, 2, 3] && second == [2] && end == .failure(.bad))
        #expect(sent(subject).end.contains("bad"))
        withExtendedLifetime(one) {}
    }

    @Test func aCurrentValueIsSentFirst() {
        let subject = CurrentValueSubject<Int?, Never>(nil)
        var values: [Int?] = []
        let sink = subject.sink { values.append($0) }
        subject.value = 1
        subject.send(2)
        #expect(values == [nil, 1, 2] && subject.value == 2)
        sink.cancel()
        subject.send(3)
        #expect(values.count == 3 && sent(subject.prefix(1)).values == [3])
    }

    @Test func aReleasedSubscriptionEnds() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        var tokens: Set<AnyCancellable> = []
        subject.sink { values.append($0) }.store(in: &tokens)
        subject.send(1)
        tokens.removeAll()
        subject.send(2)
        #expect(values == [1])
    }

    /// A subscriber that asks for one value after another.
    @Test func demandIsObeyed() {
        final class Slow: Subscriber {
            typealias Input = Int
            typealias Failure = Never
            var values: [Int] = []
            var subscription: (any Subscription)?
            var isOver = false
            func receive(subscription: any Subscription) { self.subscription = subscription }
            func receive(_ input: Int) -> Subscribers.Demand {
                values.append(input)
                return .none
            }
            func receive(completion: Subscribers.Completion<Never>) { isOver = true }
        }
        let slow = Slow()
        (1...3).publisher.filter { $0 != 1 }.subscribe(slow)
        #expect(slow.values.isEmpty)
        slow.subscription?.request(.max(1))
        #expect(slow.values == [2] && !slow.isOver)
        slow.subscription?.request(.unlimited)
        #expect(slow.values == [2, 3] && slow.isOver)
    }

    @Test func publishersAreCombined() {
        let a = CurrentValueSubject<Int, Never>(1), b = CurrentValueSubject<String, Never>("a")
        var pairs: [String] = [], merged: [Int] = []
        var tokens: Set<AnyCancellable> = []
        Publishers.CombineLatest(a, b).sink { pairs.append("\($0)\($1)") }.store(in: &tokens)
        a.merge(with: b.map(\.count)).sink { merged.append($0) }.store(in: &tokens)
        a.send(2)
        b.send("bc")
        #expect(pairs == ["1a", "2a", "2bc"] && merged == [1, 1, 2, 2])
        let zipped = sent([1, 2].publisher.zip(["a", "b", "c"].publisher))
        #expect(zipped.values.map { "\($0)\($1)" } == ["1a", "2b"] && zipped.end == "finished")
        #expect(sent([1, 2].publisher.flatMap { [$0, $0 * 10].publisher }).values == [1, 10, 2, 20])
        #expect(sent([1, 2].publisher.flatMap { Just($0) }).end == "finished")
    }

    @Test func theLatestPublisherCounts() {
        let outer = PassthroughSubject<CurrentValueSubject<Int, Never>, Never>()
        let first = CurrentValueSubject<Int, Never>(1), second = CurrentValueSubject<Int, Never>(2)
        var values: [Int] = [], isOver = false
        let sink = outer.switchToLatest().sink(
            receiveCompletion: { _ in isOver = true }, receiveValue: { values.append($0) })
        outer.send(first)
        outer.send(second)
        first.send(9)
        second.send(3)
        outer.send(completion: .finished)
        #expect(values == [1, 2, 3] && !isOver)
        second.send(completion: .finished)
        #expect(isOver)
        withExtendedLifetime(sink) {}
    }

    @Test func aFutureIsComputedOnce() {
        var calls = 0, promise: Future<Int, Problem>.Promise?
        let future = Future<Int, Problem> {
            calls += 1
            promise = $0
        }
        var values: [Int] = []
        let sink = future.sink(receiveCompletion: { _ in }, receiveValue: { values.append($0) })
        promise?(.success(1))
        promise?(.success(2))
        #expect(values == [1] && sent(future).values == [1] && calls == 1)
        #expect(sent(Deferred { Future<Int, Problem> { $0(.failure(.bad)) } }).end.contains("bad"))
        withExtendedLifetime(sink) {}
    }

    @Test func sharedPublishersSubscribeOnce() {
        let subject = PassthroughSubject<Int, Never>()
        var work = 0, values: [Int] = []
        let shared = subject.map { number -> Int in
            work += 1
            return number
        }.share()
        let one = shared.sink { values.append($0) }, two = shared.sink { values.append($0) }
        subject.send(1)
        #expect(work == 1 && values == [1, 1])
        one.cancel()
        two.cancel()
        subject.send(2)
        #expect(work == 1)
    }

    @Test func notificationsAreValues() {
        let center = NotificationCenter(), name = Notification.Name("saved"), object = NSObject()
        var found: [Int] = []
        let sink = center.publisher(for: name, object: object).compactMap { $0.userInfo?["count"] as? Int }
            .sink { found.append($0) }
        center.post(name: name, object: object, userInfo: ["count": 1])
        center.post(name: name, object: NSObject(), userInfo: ["count": 2])
        sink.cancel()
        center.post(name: name, object: object, userInfo: ["count": 3])
        #expect(found == [1])
    }

    @Test func schedulersDeliver() async {
        let queue = DispatchQueue(label: "values"), key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        var onQueue: [Bool] = []
        for await isThere in [1, 2, 3].publisher.receive(on: queue).map({ _ in
            DispatchQueue.getSpecific(key: key) == true
        })
        .values { onQueue.append(isThere) }
        #expect(onQueue == [true, true, true])
        var operations: [Int] = []
        for await value in Just(1).receive(on: OperationQueue()).values { operations.append(value) }
        for await value in Just(2).delay(for: .milliseconds(1), scheduler: queue).values { operations.append(value) }
        #expect(operations == [1, 2])
    }

    @Test func onlyTheLastOfManyValuesIsDelivered() async {
        var values: [Int] = []
        for await value in [1, 2, 3].publisher.debounce(for: .seconds(60), scheduler: DispatchQueue.global()).values {
            values.append(value)
        }
        #expect(values == [3])
    }
}
