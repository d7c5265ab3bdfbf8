import CoreData
import Foundation
import RosterCommands
import TerminalKit

/// The terminal program as a whole: the store, the layers on the screen, and what concerns them all.
final class Browser: TerminalProgram {
    let options: BrowserOptions
    let layers = LayerStack()
    /// The commands under the user's keys.
    let tables: CommandTables
    private(set) var session: StoreSession?
    private(set) var list: ListScreen?
    private(set) var isFinished = false
    /// The exit status when the program ends.
    private(set) var status: Int32 = 0
    /// What to print on standard error after the terminal was given back.
    private(set) var lastWords: String?
    var needsDisplay = true
    /// What is said in the bottom line; good news goes by itself after a while.
    private(set) var message: (text: String, role: Role, end: ContinuousClock.Instant?)?
    private static let messageTime = Duration.seconds(4)
    var baseline = EditBaseline()
    /// Set while the user decides something that must not be asked twice.
    private(set) var filterHistory: [String] = []
    private(set) var searchHistory: [String] = []
    private(set) var commandHistory: [String] = []
    /// The export that goes on beside the keys.
    private(set) var export: BackgroundExport?

    init(options: BrowserOptions) {
        self.options = options
        tables = CommandTables(options.preferences)
    }

    /// An entity's list as it is first shown, with what the configuration says of it.
    func settings(for entity: NSEntityDescription) -> ListSettings {
        ListSettings(entity: entity, preferences: options.preferences.entities[entity.name ?? ""])
    }

    // MARK: Opening

    /// Opens the store; where that fails, asks what to do.
    func open() { open(readOnly: options.isReadOnly, modelURL: options.modelURL) }

    private func open(readOnly: Bool, modelURL: URL?) {
        if !readOnly, let problem = OpenProblem(unwritable: options.storeURL) {
            return ask(about: problem, readOnly: false)
        }
        if let modelURL {
            // Where the model cannot be read, no answer to a question would help.
            do { _ = try NSManagedObjectModel(validContentsOf: modelURL) } catch { return fail(error) }
        }
        do {
            let session = try StoreSession(url: options.storeURL, modelURL: modelURL, isReadOnly: readOnly)
            self.session = session
            session.observeUnreadRecords { [weak self] in self?.complain($0) }
            session.observeMerges { [weak self] in self?.askAboutLostEdits() }
            let list = try ListScreen(browser: self, session: session, options: options)
            self.list = list
            layers.push(list)
        } catch let error as CommandError where error.kind == .misuse {
            session = nil
            fail(error)
        } catch {
            session = nil
            ask(about: OpenProblem(error, store: options.storeURL), readOnly: readOnly)
        }
        needsDisplay = true
    }

    /// Ends the program because of what the command line says: the shell is the place to change it.
    private func fail(_ error: any Error) {
        status = ExitStatus(for: error).code
        lastWords = CommandError.line(for: error)
        isFinished = true
    }

    private func ask(about problem: OpenProblem, readOnly: Bool) {
        status = 1
        lastWords = problem.text
        var choices: [Dialog.Choice] = []
        if problem.kind == .readable, !readOnly {
            choices.append(
                Dialog.Choice("r", "open read-only") { [unowned self] in
                    reopen { $0.open(readOnly: true, modelURL: $0.options.modelURL) }
                })
        }
        if problem.kind == .otherModel, options.modelURL != nil {
            choices.append(
                Dialog.Choice("o", "open with the store’s own model") { [unowned self] in
                    reopen { $0.open(readOnly: readOnly, modelURL: nil) }
                })
        }
        choices.append(Dialog.Choice("q", "quit") { [unowned self] in isFinished = true })
        layers.push(
            Dialog(
                title: "Cannot open the store", lines: [TextPane.Line(problem.shortText, role: .error)],
                choices: choices)
        )
    }

    private func reopen(_ open: (Browser) -> Void) {
        status = 0
        lastWords = nil
        open(self)
    }

    // MARK: The event loop

    func handle(_ event: Event) {
        needsDisplay = true
        switch event {
        case .terminate(let signal): end(bySignal: signal)
        case .resize, .resumed: break
        default:
            message = nil
            if !layers.handle(event), case .key(let key) = event { explain(key) }
        }
        session?.context.processPendingChanges()
        list?.rememberCursor()
    }

    /// What a key does that no command has.
    private func explain(_ key: Key) {
        if key == Key(.character("l"), .control) {
            redraw?()
        } else {
            say("\(key.label) means nothing here; ? lists the keys")
        }
    }

    /// Hands text to the terminal's clipboard; answers whether it can. Set by who owns the screen.
    var copyText: ((String) -> Bool)?

    /// Copies text, and says what was copied.
    func copy(_ text: String, named name: String) {
        guard text.utf8.count <= Self.greatestCopy else {
            return say("too much to copy: \(text.utf8.count / 1000) kB; :export writes a file", role: .warning)
        }
        let isCopied = copyText?(text) ?? false
        say(isCopied ? "copied \(name)" : "this terminal takes no text to copy", role: isCopied ? .text : .warning)
    }

    /// Terminals drop longer texts without a word.
    private static let greatestCopy = 74_000

    /// Draws the screen anew; set by who owns it.
    var redraw: (() -> Void)?

    func draw(in canvas: Canvas) {
        needsDisplay = false
        layers.draw(in: canvas)
        guard let message, canvas.height > 1 else { return }
        canvas.fillLine(canvas.height - 1, style: Style(.text))
        canvas.write(message.text, x: 0, y: canvas.height - 1, style: Style(message.role))
    }

    var nextWake: ContinuousClock.Instant? { [list?.nextWake, message?.end].compactMap { $0 }.min() }

    func wake() {
        list?.wake()
        if let end = message?.end, end <= .now {
            message = nil
            needsDisplay = true
        }
    }

    // MARK: Messages and histories

    /// Shows a line at the bottom until the next key; plain text only for a few seconds.
    func say(_ text: String, role: Role = .text) {
        message = (text, role, role == .text ? .now + Self.messageTime : nil)
        needsDisplay = true
    }

    /// Tells an error; the store goes by its name, so that the reason has room in the line.
    func complain(_ error: any Error) {
        let store = options.storeURL
        say(CommandError.line(for: error).replacing(store.path, with: store.lastPathComponent), role: .error)
    }

    func rememberFilter(_ text: String) { Self.remember(text, in: &filterHistory) }

    func rememberSearch(_ text: String) { Self.remember(text, in: &searchHistory) }

    func rememberCommand(_ text: String) { Self.remember(text, in: &commandHistory) }

    private static func remember(_ text: String, in history: inout [String]) {
        guard !text.isEmpty else { return }
        history.removeAll { $0 == text }
        history.append(text)
    }

    // MARK: Exporting

    /// Writes the saved records of a list to a file, beside the keys.
    func export(_ settings: ListSettings, of entity: NSEntityDescription, to file: String) {
        if export != nil { return say("another export goes on: ^C ends it", role: .warning) }
        let work = BackgroundExport(file: file)
        export = work
        let isUnsaved = session?.context.hasChanges == true
        work.run(settings, of: entity, store: options.storeURL, modelURL: options.modelURL) { [weak self] problem in
            guard let self else { return }
            export = nil
            if let problem {
                say("not exported: \(problem)", role: .error)
            } else {
                say("exported to \(file)" + (isUnsaved ? ", without what is not saved" : ""))
            }
        }
    }

    /// Ends the export that goes on. Answers whether there was one.
    func stopExport() -> Bool {
        export?.stop()
        return export != nil
    }

    // MARK: Ending

    /// Ends the program, after a question where something is not saved.
    func quit() {
        guard let session, session.context.hasChanges, session.unsavedCount > 0 else {
            isFinished = true
            return
        }
        let count = DeletePlan.counted(session.unsavedCount, "record")
        layers.push(
            Dialog(
                title: "Unsaved changes", lines: [TextPane.Line("\(count) changed and not saved.")],
                choices: [
                    Dialog.Choice("s", "save and quit") { [unowned self] in
                        save { [unowned self] in isFinished = true }
                    },
                    Dialog.Choice("d", "discard and quit") { [unowned self] in isFinished = true },
                    Dialog.Choice("c<Esc>n", "stay"),
                ]))
    }

    /// Ends the program without a question: what is not saved is dropped.
    func quitWithoutSaving() { isFinished = true }

    /// Lets go of the store. Call when the event loop has ended.
    func close() throws {
        export?.stop()
        list?.close()
        list = nil
        layers.removeAll()
        try session?.close()
        session = nil
    }

    private func end(bySignal signal: Int32) {
        isFinished = true
        status = 128 + signal
        if let session, session.unsavedCount > 0 {
            lastWords =
                "ended by a signal; changes to \(DeletePlan.counted(session.unsavedCount, "record")) were not saved"
        }
    }
}
