import Foundation
import Testing

@testable import TerminalKit

/// The order in which keys are handled.
@MainActor
@Suite struct EventLoopTests {
    /// A screen whose keys arrive in one read.
    private final class OneRead: Screen {
        private let pipe = Pipe()
        private var events: [Event]
        let size = Size(width: 20, height: 5)
        let text = TextWidth()
        var inputDescriptor: Int32? { pipe.fileHandleForReading.fileDescriptor }

        init(_ keys: String) {
            events = KeySequence(keys).keys.map { .key($0) }
            pipe.fileHandleForWriting.write(Data([1]))
        }

        func present(_ frame: CellGrid) {}
        func readEvents() -> [Event] {
            if !events.isEmpty { _ = pipe.fileHandleForReading.readData(ofLength: 1) }
            defer { events = [] }
            return events
        }
        func invalidate() {}
        func updateSize() {}
        func suspend() {}
    }

    /// A program that does long work on `s` and checks the keys during it.
    private final class Worker: TerminalProgram {
        var log: [String] = []
        var attend: () -> Void = {}
        var needsDisplay: Bool { false }
        var nextWake: ContinuousClock.Instant? { nil }
        private(set) var isFinished = false

        func handle(_ event: Event) {
            guard case .key(let key) = event else { return }
            log.append(key.label)
            if key == Key(.character("q")) { isFinished = true }
            guard key == Key(.character("s")) else { return }
            for _ in 0..<3 { attend() }
            log.append("done")
        }
        func draw(in canvas: Canvas) {}
        func wake() {}
    }

    private func log(of keys: String) -> [String] {
        let (worker, loop) = (Worker(), EventLoop(screen: OneRead(keys)))
        worker.attend = { [unowned worker] in loop.attend(worker) }
        loop.attend(worker)
        return worker.log
    }

    @Test func keysDuringLongWorkAreHandledDuringTheWork() {
        #expect(log(of: "jskk") == ["j", "s", "k", "k", "done"])
        #expect(log(of: "js") == ["j", "s", "done"])
    }

    @Test func nothingIsHandledOnceTheProgramIsFinished() {
        #expect(log(of: "jqk") == ["j", "q"])
        #expect(log(of: "sqk") == ["s", "q", "done"])
    }
}
