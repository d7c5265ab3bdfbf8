import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The terminal program as a whole: the store, the layers on the screen, and what concerns them all.
final class Browser: TerminalProgram {
    /// The place of the store changes where its file was moved.
    var options: BrowserOptions
    var limits: WorkLimits { options.limits }
    let layers = LayerStack()
    /// The commands under the user's keys.
    let tables: CommandTables
    var session: StoreSession?
    var list: ListScreen?
    var isFinished = false
    /// The exit status when the program ends.
    var status: Int32 = 0
    /// What to print on standard error after the terminal was given back.
    var lastWords: String?
    /// The store that is being opened beside the keys.
    var opening: StoreOpening?
    /// Whether the store's file is known to be gone from its place.
    var isFileLost = false
    /// A save that waits for another program to let go of the store.
    var waitingSave: WaitingSave?
    /// A save of very many records that goes on now, beneath what is called here.
    var runningSave: RunningSave?
    /// Where it is kept how the store was left.
    let stateFile: BrowserStateFile?
    var needsDisplay = true
    /// What is said in the bottom line; good news goes by itself after a while.
    private(set) var message: (text: String, role: Role, end: ContinuousClock.Instant?)?
    /// What the store had of each edited property when the user began to edit it.
    var baseline = EditBaseline()
    /// True if all edits can be examined between two keys.
    var hasFewEdits: Bool { baseline.count < limits.longSave }
    /// Edits of records that others deleted, of which the user did not decide yet.
    var lostEdits: [LostEdit] = []
    /// What follows the save that asks a question; `nil` if nothing does.
    var afterSave: (() -> Void)?
    /// The question about them that is on the screen.
    var lostQuestion: LostQuestion?
    /// How often something was told of lost edits while deletions are taken over that a save met; `nil` at other times.
    var lossesTold: Int?
    /// How many records have something to save, with those that others deleted and of which the user did not decide yet.
    var unsavedCount: Int { (session?.unsavedCount ?? 0) + lostEdits.count }
    /// The changes of very many records that undo and redo know.
    var editGroups = EditGroupCounts()
    /// The records of which another program changed a field that has an unsaved edit.
    var contested: Set<NSManagedObject> = []
    /// The revision of the session for which that was worked out.
    var contestedRevision: Int?
    var filterHistory: [String] = []
    var searchHistory: [String] = []
    var commandHistory: [String] = []
    /// What goes on beside the keys: an export, an import.
    private(set) var work: (any AnyJob)?
    /// What is printed of the records that were picked.
    var picked: [String] = []

    init(options: BrowserOptions) {
        self.options = options
        tables = CommandTables(options.preferences)
        stateFile = options.stateFolder.map { BrowserStateFile(folder: $0, store: options.storeURL) }
    }

    /// An entity's list as it is first shown, with what the configuration says of it.
    func settings(for entity: NSEntityDescription) -> ListSettings {
        ListSettings(entity: entity, preferences: options.preferences.entities[entity.name ?? ""])
    }

    // MARK: The event loop

    func handle(_ event: Event) {
        needsDisplay = true
        if let runningSave {
            _ = runningSave.handle(event)
            return
        }
        switch event {
        case .terminate(let signal): end(bySignal: signal)
        case .resize, .resumed: break
        default:
            message = nil
            if event == .key(Key(.character("l"), .control)) {
                // Whatever lies on top: what another program wrote over the screen goes.
                redraw?()
                break
            }
            if stopsWaitingSave(event) { break }
            if !layers.handle(event), case .key(let key) = event { explain(key) }
        }
        session?.context.processPendingChanges()
        settleContested()
        list?.rememberCursor()
        list?.updateAggregates()
    }

    /// Hands text to the terminal's clipboard; answers whether it can. Set by the owner of the screen.
    var copyText: ((String) -> Bool)?

    /// Copies text, and says what was copied.
    func copy(_ text: String, named name: String) {
        guard text.utf8.count <= limits.clipboard else { return refuseCopy() }
        let isCopied = copyText?(text) ?? false
        say(
            isCopied ? sentence("copied \(name)") : "this terminal takes no text to copy",
            role: isCopied ? .text : .warning)
    }

    func refuseCopy() {
        let limit = limits.clipboard / 1000
        say(sentence("too much to copy: more than \(limit) kB; :export writes a file"), role: .warning)
    }

    /// Whether the terminal can show pictures, which it may say late; set by the owner of the screen.
    var canShowPictures: () -> Bool = { false }

    /// Lets something else have the terminal for a while; set by the owner of the screen.
    var lendTerminal: ((() -> Void) -> Void)?

    /// Looks at the keys, and shows what is to be shown, within work that goes on; set by the owner of the screen.
    var attend: (() -> Void)?

    /// Draws the screen anew; set by its owner.
    var redraw: (() -> Void)?

    func draw(in canvas: Canvas) {
        needsDisplay = false
        layers.draw(in: canvas)
        if let waitingNote, layers.top is DetailScreen || layers.top is ChangesPane, canvas.height > 1 {
            canvas.fillLine(canvas.height - 1, style: .text)
            canvas.write(waitingNote, x: 0, y: canvas.height - 1, style: .warning)
        }
        guard let message, canvas.height > 1 else { return }
        // What has no room in one line, as an error that names a file and a line, takes up to three.
        let room = canvas.height > 8 ? 3 : 1
        let wrapped = canvas.text.wrapped(message.text, to: canvas.width)
        let lines =
            wrapped.count > room ? wrapped.prefix(room - 1) + [wrapped[(room - 1)...].joined(separator: " ")] : wrapped
        for (row, line) in lines.enumerated() {
            let y = canvas.height - lines.count + row
            canvas.fillLine(y, style: Style(.text))
            canvas.write(canvas.text.truncated(line, to: canvas.width), x: 0, y: y, style: Style(message.role))
        }
    }

    var nextWake: ContinuousClock.Instant? {
        [list?.nextWake, message?.end, nextTick].compactMap { $0 }.min()
    }

    /// Whether the screen on top says how long some work goes on.
    private var isWorking: Bool { (layers.top as? any WorkingLayer)?.isWorking ?? false }

    /// When the sign of work that goes on turns.
    private var nextTick: ContinuousClock.Instant? {
        if let waitingSave { return waitingSave.nextAttempt }
        if layers.top is PiecewiseWork { return .now }
        return opening != nil || isWorking ? .now + Activity.interval : nil
    }

    func wake() {
        if let opening {
            needsDisplay = true
            opening.job.wait()
        }
        retrySave()
        list?.wake()
        if let layer = layers.top as? any WorkingLayer, layer.isWorking {
            layer.takeUp()
            if (layer as? PiecewiseWork)?.needsNoDisplay != true { needsDisplay = true }
        }
        if let end = message?.end, end <= .now {
            message = nil
            needsDisplay = true
        }
    }

    // MARK: Messages and histories

    /// Shows a line at the bottom until the next key; plain text only for a few seconds.
    func say(_ text: String, role: Role = .text) {
        message = (tr(text), role, role == .text ? .now + limits.messageTime : nil)
        needsDisplay = true
    }

    /// Tells an error; the store goes by its name, so that the reason has room in the line.
    func complain(_ error: any Error) {
        let store = options.storeURL
        say(
            CommandError.line(for: error).replacing(
                StorePlace(url: store).name, with: StorePlace(url: store).shortName), role: .error)
    }

    func rememberFilter(_ text: String) { Self.remember(text, in: &filterHistory) }

    func rememberSearch(_ text: String) { Self.remember(text, in: &searchHistory) }

    func rememberCommand(_ text: String) { Self.remember(text, in: &commandHistory) }

    private static func remember(_ text: String, in history: inout [String]) {
        guard !text.isEmpty else { return }
        history.removeAll { $0 == text }
        history.append(text)
        history.removeFirst(max(0, history.count - BrowserState.historyLimit))
    }

    /// What runs beside the program from its start to its end.
    private(set) var companion: Job<Void>?

    func startCompanion() {
        guard let command = options.companion, companion == nil else { return }
        companion = Job(onThread: { try command($0.surroundings) }) { [weak self] result in
            guard let self, let job = companion else { return }
            companion = nil
            guard !job.control.isRaised, case .failure(let error) = result else { return }
            say(CommandError.line(for: error), role: .error)
        }
    }

    // MARK: Work beside the keys

    /// Runs a command beside the keys.
    ///
    /// - Parameters:
    ///   - name: what is done, in one word.
    ///   - finish: called on the main queue.
    func begin<Value>(
        _ name: String, _ command: @escaping @Sendable (CommandSurroundings) throws -> Value,
        finish: @escaping (Result<Value, any Error>) -> Void
    ) {
        if let work { return say(sentence("another \(tr(work.name)) is running; ^C cancels it"), role: .warning) }
        work = Job(name, onThread: { try command($0.surroundings) }) { [weak self] result in
            self?.work = nil
            finish(result)
        }
    }

    /// Asks what goes on beside the keys to end. Answers whether there was something.
    func stopWork() -> Bool {
        work?.stop()
        return work != nil
    }

    // MARK: Ending

    /// Ends the program, after a question where something goes on or is not saved.
    func quit() {
        if let work {
            return layers.push(
                Dialog(
                    title: sentence("\(work.progress): go on?"),
                    lines: [
                        TextPane.Line(work.name == "import" ? "What was imported so far stays." : "No file is left.")
                    ],
                    choices: [
                        Dialog.Choice("s", "stop it and quit") { [unowned self] in
                            work.stop()
                            self.work = nil
                            _ = work.wait(.seconds(2))
                            quit()
                        },
                        Dialog.Choice("c<Esc>n", "go on") { [unowned self] in picked = [] },
                    ]))
        }
        guard unsavedCount > 0 else {
            isFinished = true
            return
        }
        let count = CountedNoun.text(unsavedCount, "record")
        layers.push(
            Dialog(
                title: "Unsaved changes", lines: [TextPane.Line(sentence("\(count) changed and not saved."))],
                choices: [
                    Dialog.Choice("s", "save and quit") { [unowned self] in
                        save { [unowned self] in isFinished = true }
                    },
                    Dialog.Choice("d", "discard and quit") { [unowned self] in isFinished = true },
                    Dialog.Choice("c<Esc>n", "stay") { [unowned self] in picked = [] },
                ]))
    }

    /// Ends the program without a question: what is not saved is dropped.
    func quitWithoutSaving() { isFinished = true }

    /// Lets go of the store. Call when the event loop has ended.
    func close() throws {
        work?.stop()
        companion?.stop()
        for work in [work, companion] { _ = work?.wait(.seconds(2)) }
        opening = nil
        writeState()
        try closeStore()
    }

    /// Takes everything of the store off the screen, and lets go of it.
    func closeStore() throws {
        list?.close()
        list = nil
        layers.removeAll()
        waitingSave = nil
        afterSave = nil
        baseline = EditBaseline()
        (lostEdits, lostQuestion, contested, contestedRevision) = ([], nil, [], nil)
        try session?.close()
        session = nil
    }

    func end(bySignal signal: Int32) {
        isFinished = true
        status = 128 + signal
        if unsavedCount > 0 {
            lastWords =
                sentence("ended by a signal; changes to \(CountedNoun.text(unsavedCount, "record")) were not saved")
        }
    }
}
