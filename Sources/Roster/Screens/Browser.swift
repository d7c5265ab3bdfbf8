import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The terminal program: the open store, the layers on the screen, and the state they share.
final class Browser: TerminalProgram {
    /// Options of the command line. The store's URL changes if the user follows a moved file.
    var options: BrowserOptions
    var limits: WorkLimits { options.limits }
    let layers = LayerStack()
    /// The commands, with the user's keys.
    let tables: CommandTables
    var session: StoreSession?
    var list: ListScreen?
    var isFinished = false
    /// The exit status of the program.
    var status: Int32 = 0
    /// Text to print on standard error after the terminal is restored.
    var lastWords: String?
    /// The store being opened in the background.
    var opening: StoreOpening?
    /// True if the store's file is known to be missing or replaced.
    var isFileLost = false
    /// A save that waits for another program to release its lock on the store.
    var waitingSave: WaitingSave?
    /// A long save that is running; events reach it while it is on the call stack.
    var runningSave: RunningSave?
    /// The file with the state of the screens of this store.
    let stateFile: BrowserStateFile?
    var needsDisplay = true
    /// The message in the bottom line. Plain messages have an end time.
    private(set) var message: (text: String, role: Role, end: ContinuousClock.Instant?)?
    /// Values that the store had when the user began to edit each property.
    var baseline = EditBaseline()
    /// True if there are few enough edits to examine all of them between two keys.
    var hasFewEdits: Bool { baseline.count < limits.longSave }
    /// Edits of records that another program deleted, for which the user has not decided yet.
    var lostEdits: [LostEdit] = []
    /// Action after the save that asks a question; `nil` for nothing.
    var afterSave: (() -> Void)?
    /// The question about lost edits that is on the screen.
    var lostQuestion: LostQuestion?
    /// Number of messages shown about lost edits while a save merges deletions; `nil` at other times.
    var lossesTold: Int?
    /// Number of records with unsaved changes, including undecided lost edits.
    var unsavedCount: Int { (session?.unsavedCount ?? 0) + lostEdits.count }
    /// The number of groups of each edit of many records.
    var editGroups = EditGroupCounts()
    /// Records with an unsaved edit of a field that another program changed too.
    var contested: Set<NSManagedObject> = []
    /// The revision of the session for which `contested` was computed.
    var contestedRevision: Int?
    var filterHistory: [String] = []
    var searchHistory: [String] = []
    var commandHistory: [String] = []
    /// The running background command: an export or an import.
    private(set) var work: (any AnyJob)?
    /// Lines to print for the picked records.
    var picked: [String] = []

    init(options: BrowserOptions) {
        self.options = options
        tables = CommandTables(options.preferences)
        stateFile = options.stateFolder.map { BrowserStateFile(folder: $0, store: options.storeURL) }
    }

    /// Initial settings of an entity's list, with those of the configuration file.
    func settings(for entity: NSEntityDescription) -> ListSettings {
        ListSettings(entity: entity, preferences: options.preferences.entities[entity.name ?? ""])
    }

    // MARK: The event loop

    func handle(_ event: Event) {
        needsDisplay = true
        if case .mouse(let mouse) = event, mouse.action == .press,
            let link = links.last(where: { $0.frame.contains(mouse.position) })
        {
            for key in link.keys { handle(.key(key)) }
            return
        }
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
                // Works in every layer: another program may have written over the screen.
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

    /// Copies text to the terminal's clipboard; returns false if the terminal cannot. Set by the owner of the screen.
    var copyText: ((String) -> Bool)?

    /// Copies text and shows a message with `name`.
    func copy(_ text: String, named name: String) {
        guard text.utf8.count <= limits.clipboard else { return refuseCopy() }
        let isCopied = copyText?(text) ?? false
        say(
            isCopied ? sentence("copied \(name)") : "cannot copy: this terminal has no clipboard access",
            role: isCopied ? .text : .warning)
    }

    func refuseCopy() {
        let limit = limits.clipboard / 1000
        say(sentence("cannot copy more than \(limit) kB; :export writes a file"), role: .warning)
    }

    /// Returns true if the terminal can show pictures; it may report this late. Set by the owner of the screen.
    var canShowPictures: () -> Bool = { false }

    /// Copies of values that were opened with other programs.
    let opened = OpenedValues()

    /// Opens a file with the desktop's program for it; calls back with the status.
    var openFile: (URL, @escaping @MainActor @Sendable (Int32) -> Void) throws -> Void = OpenedValues.start

    /// Releases the terminal while a closure runs. Set by the owner of the screen.
    var lendTerminal: ((() -> Void) -> Void)?

    /// Handles pending keys and redraws if needed, during long work. Set by the owner of the screen.
    var attend: (() -> Void)?

    /// Redraws the whole screen. Set by the owner of the screen.
    var redraw: (() -> Void)?

    /// The parts of the last frame that act as keys when they are clicked.
    private var links: [KeyLink] = []

    func draw(in canvas: Canvas) {
        needsDisplay = false
        defer { links = canvas.links }
        layers.draw(in: canvas)
        if let waitingNote, layers.top is DetailScreen || layers.top is ChangesPane, canvas.height > 1 {
            canvas.fillLine(canvas.height - 1, style: .text)
            canvas.write(waitingNote, x: 0, y: canvas.height - 1, style: .warning)
        }
        guard let message, canvas.height > 1 else { return }
        // A long message, such as an error with a file and a line number, takes up to three lines.
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

    /// True if the top layer shows the progress of running work.
    private var isWorking: Bool { (layers.top as? any WorkingLayer)?.isWorking ?? false }

    /// Time of the next step of the activity sign.
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

    /// Shows a message in the bottom line until the next key. Plain text also disappears after `messageTime`.
    func say(_ text: String, role: Role = .text) {
        message = (tr(text), role, role == .text ? .now + limits.messageTime : nil)
        needsDisplay = true
    }

    /// Shows an error. The store's full path is replaced by its short name to save space.
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

    /// The command that runs in the background for as long as the program; used by `roster demo`.
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

    // MARK: Background commands

    /// Runs a command in the background.
    ///
    /// - Parameters:
    ///   - name: the action, in one word.
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

    /// Asks the background command to stop. Returns false if none is running.
    func stopWork() -> Bool {
        work?.stop()
        return work != nil
    }

    // MARK: Ending

    /// Ends the program. Asks first if a command is running or changes are unsaved.
    func quit() {
        if let work {
            return layers.push(
                Dialog(
                    title: sentence("\(work.progress). Continue?"),
                    lines: [
                        TextPane.Line(
                            work.name == "import"
                                ? "Records imported so far stay in the store." : "The incomplete file is removed.")
                    ],
                    choices: [
                        Dialog.Choice("s", "stop and quit") { [unowned self] in
                            work.stop()
                            self.work = nil
                            _ = work.wait(.seconds(2))
                            quit()
                        },
                        Dialog.Choice("c<Esc>n", "continue") { [unowned self] in picked = [] },
                    ]))
        }
        guard unsavedCount > 0 else {
            isFinished = true
            return
        }
        let count = CountedNoun.text(unsavedCount, "record")
        layers.push(
            Dialog(
                title: "Unsaved changes", lines: [TextPane.Line(sentence("\(count) not saved."))],
                choices: [
                    Dialog.Choice("s", "save and quit") { [unowned self] in
                        save { [unowned self] in isFinished = true }
                    },
                    Dialog.Choice("d", "discard and quit") { [unowned self] in isFinished = true },
                    Dialog.Choice("c<Esc>n", "stay") { [unowned self] in picked = [] },
                ]))
    }

    /// Ends the program without a question and drops unsaved changes.
    func quitWithoutSaving() { isFinished = true }

    /// Closes the store. Call after the event loop has ended.
    func close() throws {
        work?.stop()
        companion?.stop()
        for work in [work, companion] { _ = work?.wait(.seconds(2)) }
        opening = nil
        writeState()
        try closeStore()
    }

    /// Removes all layers of the store from the screen and closes the store.
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
                sentence("stopped by a signal; changes to \(CountedNoun.text(unsavedCount, "record")) were not saved")
        }
    }
}
