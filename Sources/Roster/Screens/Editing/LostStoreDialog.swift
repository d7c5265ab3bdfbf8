import Foundation
import RosterCommands
import TerminalKit
import Translation

// Questions about a store whose file was moved, removed or replaced. Nothing can be saved until they are answered.

extension Browser {
    /// Shows once that the store's file is missing. The next save asks what to do.
    func tellLostFile() {
        guard let session, session.fileProblem != nil else { return }
        isFileLost = true
        let name = StorePlace(url: session.url).shortName
        guard session.url.isFileURL else {
            return say(
                sentence("another program migrated or replaced the tables of \(name): ^S or R asks what to do"),
                role: .error)
        }
        let isReplaced = FileManager.default.fileExists(atPath: session.url.path)
        say(
            isReplaced
                ? sentence("another file replaced \(name); R opens that file, ^S saves this store elsewhere")
                : sentence("\(name) was moved or deleted; ^S saves elsewhere or follows the file"), role: .error)
    }

    /// Note in the first line about a missing or replaced file; `nil` if the file is in place.
    var lostFileNote: String? {
        guard isFileLost, let session else { return nil }
        guard session.fileProblem != nil else {
            isFileLost = false
            return nil
        }
        guard session.url.isFileURL else { return tr(" migrated by another program ") }
        let isReplaced = FileManager.default.fileExists(atPath: session.url.path)
        return isReplaced ? tr(" replaced by another file ") : tr(" moved or deleted ")
    }

    /// Asks what to do if the store's file is not in place. Returns false if it is.
    func asksAboutLostFile() -> Bool {
        guard let problem = session?.fileProblem else {
            isFileLost = false
            return false
        }
        isFileLost = true
        ask(aboutLostFile: problem) {}
        return true
    }

    /// Closes the store and opens the file that replaced it.
    private func openOther() {
        writeState()
        do { try closeStore() } catch { return complain(error) }
        isFileLost = false
        open()
    }

    /// Asks whether to follow the file or to save elsewhere.
    ///
    /// - Parameter next: called when everything is saved.
    func ask(aboutLostFile problem: any Error, next: @escaping () -> Void) {
        guard let session else { return }
        var choices: [Dialog.Choice] = []
        if let place = session.movedURL {
            choices.append(
                Dialog.Choice("f", "follow the moved file") { [unowned self] in
                    goOn(next) { try session.follow(to: place) }
                })
        }
        let isFile = session.url.isFileURL
        if isFile { choices.append(Dialog.Choice("e", "save elsewhere") { [unowned self] in askForPlace(next) }) }
        if !isFile || FileManager.default.fileExists(atPath: session.url.path) {
            let word = session.unsavedCount > 0 ? "open the new one, drop my edits" : "open the new one"
            choices.append(Dialog.Choice("o", word) { [unowned self] in openOther() })
        }
        choices.append(Dialog.Choice("q<Esc>", "back"))
        let store = StorePlace(url: session.url)
        let problem = CommandError.line(for: problem).replacing(store.name, with: store.shortName)
        layers.push(
            Dialog(
                title: isFile ? "The store’s file was moved, deleted or replaced" : "The store’s tables were replaced",
                lines: [TextPane.Line(problem, role: .error)],
                choices: choices))
        needsDisplay = true
    }

    private func askForPlace(_ next: @escaping () -> Void) {
        let prompt = Prompt(label: "save elsewhere: ", hint: "a new file for a copy of the whole store")
        prompt.complete = { text, cursor in
            let typed = String(text.prefix(cursor))
            let found = CommandLineWords.files(beginningWith: typed).filter { $0.hasPrefix(typed) }
            return found.isEmpty ? nil : Prompt.Completion(range: 0..<cursor, candidates: found)
        }
        prompt.onAccept = { [unowned self] text in
            let path = (text.trimmingCharacters(in: .whitespaces) as NSString).expandingTildeInPath
            guard !path.isEmpty else { return Prompt.Problem(tr("type a file name"), at: 0) }
            guard !FileManager.default.fileExists(atPath: path) else {
                return Prompt.Problem(tr("that file exists; type another name"), at: 0)
            }
            goOn(next) { [unowned self] in try session?.goOnAsCopy(at: URL(fileURLWithPath: path)) }
            return nil
        }
        layers.push(prompt)
    }

    /// Changes the store's URL and saves there.
    private func goOn(_ next: @escaping () -> Void, _ change: () throws -> Void) {
        do { try change() } catch { return complain(error) }
        guard let session else { return }
        options.storeURL = session.url
        isFileLost = false
        guard session.context.hasChanges, session.unsavedCount > 0 else {
            say(sentence("the store is at \(session.url.path) now"))
            return next()
        }
        save(then: next)
    }
}
