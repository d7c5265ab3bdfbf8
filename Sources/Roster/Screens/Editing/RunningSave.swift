import CoreData
import TerminalKit
import Translation

/// A save of many records, running on the main thread and checking for keys. Keys that move in the list below work on
/// its old contents. Esc stops the save until the store begins to commit. Other keys are refused.
final class RunningSave: Layer {
    /// Thrown if the user stops the save.
    struct Stopped: Error {}

    /// The phases of a save in order, with their approximate shares of the time.
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
    /// The list, if it is directly below the save.
    private let list: ListScreen?
    private let what: String
    private let began = ContinuousClock.now
    private var share = 0.0
    private var canStop = true
    private var isStopped = false
    private var isRefusing = false
    private var steps = 0
    /// Time of the last redraw.
    private var shown = ContinuousClock.now - Activity.interval
    var isFinished = false
    /// The signal that ends the program after the save.
    private(set) var signal: Int32?

    init(in browser: Browser, _ session: StoreSession) {
        self.browser = browser
        list = browser.layers.top === browser.list ? browser.list : nil
        let count = session.unsavedCount
        what =
            count > 0
            ? sentence("saving \(CountedNoun.text(count, "record"))")
            : sentence("checking \(CountedNoun.text(browser.baseline.count, "record"))")
    }

    // MARK: Progress

    /// Records a step of a phase. Checks for keys after every few steps.
    ///
    /// - Throws: ``Stopped``.
    func step(_ part: Part, _ done: Int, of count: Int) throws {
        steps += 1
        guard steps.isMultiple(of: browser.limits.recordsPerLook) else { return }
        try note(part, Double(done) / Double(max(1, count)), canStop: part != .settling)
    }

    /// Records the completed fraction of a phase and checks for keys.
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
        // Over a slow connection, Esc and the next key arrive as one key with Alt.
        case .key(let key) where key.modifiers.contains(.alt): isStopped = true
        case .key, .mouse: isRefusing = list?.move(event) != true
        default: break
        }
        return true
    }

    var footer: String? {
        let text = Activity.text("\(what) \(min(99, Int(share * 100))) %", since: began)
        if !canStop { return isStopped ? sentence("\(text); it can no longer be stopped") : text }
        if isRefusing { return sentence("\(text); until it ends you can only move, Esc stops") }
        return sentence("\(text), Esc stops")
    }

    func draw(in canvas: Canvas) { shown = .now }
}

extension Browser {
    /// Runs a save. A save of many records checks for keys while it runs.
    func saving(_ body: (SaveAttempt) -> SaveAttempt.Outcome) -> SaveAttempt.Outcome? {
        guard let session else { return nil }
        // A save also examines records whose edits were undone: many edits make it long, even if few records are unsaved.
        guard session.unsavedCount >= limits.longSave || !hasFewEdits else {
            let outcome = body(SaveAttempt(session: session))
            if case .saved = outcome { baseline.wasSaved() }
            return outcome
        }
        // Remove a question that was just answered: the list below it can then move.
        layers.removeFinished()
        let running = RunningSave(in: self, session)
        runningSave = running
        layers.push(running)
        let outcome = body(SaveAttempt(session: session, running: running))
        if case .saved = outcome {
            // Drawing during a step may access `baseline`, so change a copy.
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
    /// Handles an event that only moves in the list. Returns false for any other event.
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
