extension Publisher {
    /// Transforms the values, and fails with the error of the function.
    public func tryMap<Value>(
        _ transform: @escaping (Output) throws -> Value
    ) -> AnyPublisher<Value, any Error> {
        tryCompactMap { .some(try transform($0)) }
    }

    /// Skips values that do not satisfy a condition, and fails with the error of the function.
    public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> AnyPublisher<Output, any Error> {
        tryCompactMap { try isIncluded($0) ? .some($0) : nil }
    }

    /// Transforms the values, skips nil, and fails with the error of the function.
    public func tryCompactMap<Value>(
        _ transform: @escaping (Output) throws -> Value?
    ) -> AnyPublisher<Value, any Error> {
        fed { feed in
            flow(into: feed) { value in
                do {
                    if let value = try transform(value) { feed.send(value) }
                } catch {
                    feed.send(completion: .failure(error))
                }
            } completion: {
                feed.send(completion: $0.mapped { $0 })
            }
        }
    }

    /// Transforms the failure.
    public func mapError<Problem: Error>(
        _ transform: @escaping (Failure) -> Problem
    ) -> AnyPublisher<Output, Problem> {
        AnyPublisher(attaching: { subscriber in
            self.subscribe(
                AnySubscriber<Output, Failure>(
                    receiveSubscription: { subscriber.receive(subscription: $0) },
                    receiveValue: { subscriber.receive($0) },
                    receiveCompletion: { subscriber.receive(completion: $0.mapped(transform)) }))
        })
    }

    /// Continues with the values of another publisher after a failure.
    public func `catch`<P: Publisher>(
        _ handler: @escaping (Failure) -> P
    ) -> AnyPublisher<Output, P.Failure> where P.Output == Output {
        fed { feed in
            flow(into: feed) {
                feed.send($0)
            } completion: { completion in
                switch completion {
                case .finished: feed.send(completion: .finished)
                case .failure(let error):
                    handler(error).flow(into: feed) {
                        feed.send($0)
                    } completion: {
                        feed.send(completion: $0)
                    }
                }
            }
        }
    }

    /// Continues with the values of another publisher after a failure, or fails with the error of the function.
    public func tryCatch<P: Publisher>(
        _ handler: @escaping (Failure) throws -> P
    ) -> AnyPublisher<Output, any Error> where P.Output == Output {
        `catch` { error -> AnyPublisher<Output, any Error> in
            do {
                return try handler(error).mapError { $0 as any Error }.eraseToAnyPublisher()
            } catch {
                return Fail(error: error).eraseToAnyPublisher()
            }
        }
    }

    /// Replaces a failure by a value.
    public func replaceError(with output: Output) -> AnyPublisher<Output, Never> { `catch` { _ in Just(output) } }

    /// Replaces an end without values by a value.
    public func replaceEmpty(with output: Output) -> AnyPublisher<Output, Failure> {
        fed { feed in
            var isEmpty = true
            flow(into: feed) {
                isEmpty = false
                feed.send($0)
            } completion: {
                if isEmpty, case .finished = $0 { feed.send(output) }
                feed.send(completion: $0)
            }
        }
    }

    /// Subscribes again after a failure, a number of times.
    public func retry(_ retries: Int) -> AnyPublisher<Output, Failure> {
        retries <= 0 ? eraseToAnyPublisher() : `catch` { _ in retry(retries - 1) }
    }

    /// Ends the program after a failure.
    public func assertNoFailure(
        _ prefix: String = "", file: StaticString = #file, line: UInt = #line
    ) -> AnyPublisher<Output, Never> {
        `catch` { error -> Empty<Output, Never> in fatalError("\(prefix)\(error)", file: file, line: line) }
    }
}

extension Publisher where Failure == Never {
    /// Gives a publisher that does not fail a type of failure.
    public func setFailureType<Problem: Error>(to failureType: Problem.Type) -> AnyPublisher<Output, Problem> {
        fed { feed in
            flow(into: feed) {
                feed.send($0)
            } completion: { _ in
                feed.send(completion: .finished)
            }
        }
    }
}

extension Subscribers.Completion {
    fileprivate func mapped<Problem: Error>(
        _ transform: (Failure) -> Problem
    ) -> Subscribers.Completion<Problem> {
        switch self {
        case .finished: .finished
        case .failure(let error): .failure(transform(error))
        }
    }
}
