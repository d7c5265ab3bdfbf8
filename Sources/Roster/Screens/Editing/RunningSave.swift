import CoreData
import TerminalKit
import Translation

/// A save of very many records while it goes on, on the main thread: it looks at the keys now and then. Those that move go through
/// the list beneath as it was, Esc stops the save as long as the store has not begun to commit, and all others are refused.
final class RunningSave: Layer {
    /// Thrown where the user stops the save.
    struct Stopped: Error {}

    /// The parts of the work, about, as they follow on each other.
    enum Part {
        case looking, saving, settling

        fileprivate var range: ClosedRange<Double> {
            switch self {
            case .looking: 0...0.1
            case .saving: 0.1...0.95
            case .settling: 0.95...1
            }
        }
    }

    private unowned let browser: Browser
    /// The list, where nothing lies on it but the save.
    private let list: ListScreen?
    private let what: String
    private let began = ContinuousClock.now
    private var share = 0.0
    private var canStop = true
    private var isStopped = false
    private var isRefusing = false
    private var steps = 0
    /// When the screen last showed it.
    private var shown = ContinuousClock.now - Activity.interval
    var isFinished = false
    /// The signal that ends the program when the save is over.
    private(set) var signal: Int32?

    init(in browser: Browser, _ session: StoreSession) {
        self.browser = browser
        list = browser.layers.top === browser.list ? browser.list : nil
        let count = session.unsavedCount
        what =
            count > 0
            ? sentence("saving \(CountedNoun.text(count, "record"))")
            : sentence("looking at \(CountedNoun.text(browser.baseline.count, "record"))")
    }

    // MARK: Progress

    /// Notes a step of a part, and looks at the keys after some.
    ///
    /// - Throws: ``Stopped``.
    func step(_ part: Part, _ done: Int, of count: Int) throws {
        steps += 1
        guard steps.isMultiple(of: browser.limits.recordsPerLook) else { return }
        try note(part, Double(done) / Double(max(1, count)), canStop: part != .settling)
    }

    /// Notes how much of a part is done, and looks at the keys.
    ///
    /// - Throws: ``Stopped``.
    func note(_ part: Part, _ done: Double, canStop: Bool) throws {
        share = part.range.lowerBound + done * (part.range.upperBound - part.range.lowerBound)
        if self.canStop != canStop || shown + Activity.interval <= .now { browser.needsDisplay = true }
        self.canStop = canStop
        browser.attend?()
        if isStopped, canStop { throw Stopped() }
    }

    // MARK: Layer

    func handle(_ event: Event) -> Bool {
        isRefusing = false
        switch event {
        case .terminate(let signal):
            self.signal = signal
            isStopped = true
        case .key(Key(.escape)), .key(Key(.character("c"), .control)): isStopped = true
        // Over a slow line Esc and the key after it arrive as one.
        case .key(let key) where key.modifiers.contains(.alt): isStopped = true
        case .key, .mouse: isRefusing = list?.move(event) != true
        default: break
        }
        return true
    }

    var footer: String? {
        let text = Activity.text("\(what) \(min(99, Int(share * 100))) %", since: began)
        if !canStop { return isStopped ? sentence("\(text), too late to stop it") : text }
        if isRefusing { return sentence("\(text): only moving goes meanwhile, Esc stops") }
        return sentence("\(text), Esc stops")
    }

    func draw(in canvas: Canvas) { shown = .now }
}

extension Browser {
    /// Runs a save; one of very many records looks at the keys meanwhile.
    func saving(_ body: (SaveAttempt) -> SaveAttempt.Outcome) -> SaveAttempt.Outcome? {
        guard let session else { return nil }
        // The context looks at what was changed and taken back, too.
        guard session.unsavedCount >= limits.longSave || !hasFewEdits else {
            let outcome = body(SaveAttempt(session: session))
            if case .saved = outcome { baseline.wasSaved() }
            return outcome
        }
        // A question that was just answered is no layer any more: the list beneath it can move.
        layers.removeFinished()
        let running = RunningSave(in: self, session)
        runningSave = running
        layers.push(running)
        let outcome = body(SaveAttempt(session: session, running: running))
        if case .saved = outcome {
            // What is painted meanwhile may ask for it.
            var edits = baseline
            baseline = EditBaseline()
            edits.wasSaved { done, count in try? running.step(.settling, done, of: count) }
            baseline = edits
        }
        runningSave = nil
        running.isFinished = true
        layers.removeFinished()
        needsDisplay = true
        if let signal = running.signal { end(bySignal: signal) }
        return outcome
    }
}

extension ListScreen {
    /// Acts on an event that moves in the list and does nothing else. Answers whether it is one.
    func move(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            let match = keys.read(key, in: commands)
            pendingKeys.note(keys)
            if case .prefix = match { return true }
            guard case .command(let command) = match, command.category == ListCommands.movingCategory,
                command.name != ListCommands.letterCommand
            else { return false }
            command.action(self)
        case .mouse(let mouse) where mouse.action == .wheelUp: view.scroll(by: -3)
        case .mouse(let mouse) where mouse.action == .wheelDown: view.scroll(by: 3)
        default: return false
        }
        rememberCursor()
        return true
    }
}
