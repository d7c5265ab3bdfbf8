import Combine
import Testing

private class Model: ObservableObject {
    @Published var title = "a"
    @Published private(set) var count: Int
    init(count: Int = 0) { self.count = count }
    func follow(_ counts: some Publisher<Int, Never>) { counts.assign(to: &$count) }
}

private final class Detailed: Model {
    @Published var detail = ""
}

@MainActor private final class ViewModel: ObservableObject {
    @Published var names: [String] = []
    private var tokens: Set<AnyCancellable> = []
    init(_ source: AnyPublisher<[String], Never>) { source.assign(to: \.names, on: self).store(in: &tokens) }
}

private final class Custom: ObservableObject {
    let objectWillChange = PassthroughSubject<Int, Never>()
    @Published var title = ""
}

/// Observable objects with published properties.
@Suite struct ObservableObjectTests {
    @Test func aChangeIsAnnouncedBeforeItIsMade() {
        let model = Detailed()
        var seen: [String] = []
        let sink = model.objectWillChange.sink { seen.append(model.title + model.detail) }
        model.title = "b"
        model.detail = "c"
        #expect(seen == ["a", "b"] && model.title + model.detail == "bc")
        #expect(model.objectWillChange === model.objectWillChange)
        sink.cancel()
        model.title = "d"
        #expect(seen.count == 2)
    }

    @Test func aPropertySendsItsValues() {
        let model = Model(count: 3)
        var titles: [String] = [], old: [String] = []
        let sink = model.$title.sink {
            titles.append($0)
            old.append(model.title)
        }
        model.title = "b"
        #expect(titles == ["a", "b"] && old == ["a", "a"] && model.count == 3)
        withExtendedLifetime(sink) {}
    }

    @Test func aPropertyFollowsAPublisher() {
        let counts = PassthroughSubject<Int, Never>()
        var model: Model? = Model()
        weak let gone = model
        var announced = 0
        let sink = model?.objectWillChange.sink { announced += 1 }
        model?.follow(counts)
        counts.send(5)
        #expect(model?.count == 5 && announced == 1)
        model = nil
        counts.send(6)
        #expect(gone == nil)
        withExtendedLifetime(sink) {}
    }

    @MainActor @Test func anObjectOfTheMainActorFollows() {
        let names = CurrentValueSubject<[String], Never>(["a"])
        let model = ViewModel(names.eraseToAnyPublisher())
        names.send(["a", "b"])
        #expect(model.names == ["a", "b"])
    }

    @Test func anOwnPublisherIsTheProgramsMatter() {
        let object = Custom()
        var announced = 0
        let sink = object.objectWillChange.sink { _ in announced += 1 }
        object.title = "b"
        #expect(announced == 0)
        object.objectWillChange.send(1)
        #expect(announced == 1)
        withExtendedLifetime(sink) {}
    }

    @Test func objectsAreNotConfused() {
        for number in 0..<300 {
            let model = Model(count: number)
            var announced = 0
            let sink = model.objectWillChange.sink { announced += 1 }
            model.title = "b"
            #expect(announced == 1)
            sink.cancel()
        }
    }
}
