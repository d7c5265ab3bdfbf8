import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A store that is being opened, and its options.
struct StoreOpening {
    let job: Job<OpenedStore>
    let isReadOnly: Bool
    /// The screen shown until the store is open.
    let screen: WaitingScreen
}

// Opening the store in the background, and the questions after a failure.

extension Browser {
    /// Opens the store, or asks what to do if that fails. May return before a slow store is open.
    func open() { open(readOnly: options.isReadOnly, modelURL: options.modelURL) }

    private func open(readOnly: Bool, modelURL: URL?) {
        if !readOnly, let problem = OpenProblem(unwritable: options.storeURL) {
            return ask(about: problem, readOnly: false)
        }
        if let modelURL {
            // If the model cannot be read, a question would not help.
            do { _ = try NSManagedObjectModel(validContentsOf: modelURL) } catch { return fail(error) }
        }
        let url = options.storeURL
        let named = [options.entityName, stateFile?.read().entity].compactMap { $0 }
        let job = Job(
            onThread: { stop in
                do {
                    return try OpenedStore(url: url, modelURL: modelURL, isReadOnly: readOnly, named: named, stop: stop)
                } catch  where !readOnly && OpenProblem.mayBeReadable(error, store: url) {
                    // Check this before offering to open the store read-only.
                    let isReadable =
                        (try? OpenedStore(url: url, modelURL: modelURL, isReadOnly: true, named: named, stop: stop))
                        != nil
                    throw isReadable ? error : UnreadableStore(reason: error)
                }
            }, then: { [weak self] in self?.finishOpening($0) })
        let screen = WaitingScreen(
            sentence("opening \(StorePlace(url: url).shortName)"),
            note: "Another program may have locked it. Trying again until it opens.",
            after: limits.openingNote, began: job.began
        ) { [unowned self] in giveUpOpening() }
        opening = StoreOpening(job: job, isReadOnly: readOnly, screen: screen)
        if job.wait(limits.quickOpening) { return }
        layers.push(screen)
        needsDisplay = true
    }

    /// Shows the list of the opened store.
    private func finishOpening(_ result: Result<OpenedStore, any Error>) {
        guard let opening else { return }
        needsDisplay = true
        self.opening = nil
        opening.screen.isFinished = true
        layers.removeFinished()
        do {
            try show(StoreSession(result.get(), limits: limits))
        } catch let error as CommandError where error.kind == .misuse {
            session = nil
            fail(error)
        } catch {
            session = nil
            ask(about: OpenProblem(error, store: options.storeURL), readOnly: opening.isReadOnly)
        }
    }

    private func giveUpOpening() {
        opening = nil
        status = 1
        lastWords = sentence("stopped opening \(options.storeURL.path)")
        isFinished = true
    }

    private func show(_ session: StoreSession) throws {
        self.session = session
        session.observeUnreadRecords { [weak self] in self?.complain($0) }
        session.observeLoss { [weak self] in self?.tellLostFile() }
        session.observeMerges { [weak self] changed, haveDeleted in
            self?.session?.counts.storeChanged()
            self?.tellContested(changed: changed)
            // Checking many edits after each commit would delay the keys.
            if haveDeleted || self?.hasFewEdits == true { self?.askAboutLostEdits() }
        }
        let state = stateFile?.read() ?? BrowserState()
        (filterHistory, searchHistory, commandHistory) = (state.filters, state.searches, state.commands)
        let list = try ListScreen(browser: self, session: session, options: options, state: state)
        self.list = list
        layers.push(list)
        list.showsCallbacks = options.showsCallbacks
        startCompanion()
        if let welcome = options.welcome { say(welcome) }
        if session.container.managedObjectModel.showsPlainTables {
            say(StoreModel.plainTablesNote(options.storeURL.lastPathComponent))
        }
        let notes =
            session.container.persistentStoreCoordinator.readingNotes
            + [ConfigurationProblem.summary(of: options.preferences.problems)].compactMap { $0 }
        if !notes.isEmpty { say(notes.joined(separator: "; "), role: .warning) }
    }

    /// Writes the state of the screens to the state file.
    func writeState() {
        guard let stateFile, let list else { return }
        var state = BrowserState()
        state.entity = list.entity.name
        state.lists = list.state
        state.showsDetail = list.showsDetail
        (state.filters, state.searches, state.commands) = (filterHistory, searchHistory, commandHistory)
        stateFile.write(state)
    }

    /// Ends the program after an error in the command line, which the user corrects in the shell.
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
                Dialog.Choice("o", "open with the model in the store") { [unowned self] in
                    reopen { $0.open(readOnly: readOnly, modelURL: nil) }
                })
        }
        choices.append(Dialog.Choice("q", "quit") { [unowned self] in isFinished = true })
        layers.push(
            Dialog(
                title: "Cannot open the store", lines: [TextPane.Line(problem.shortText, role: .error)],
                choices: choices)
        )
        needsDisplay = true
    }

    private func reopen(_ open: (Browser) -> Void) {
        status = 0
        lastWords = nil
        open(self)
    }
}
