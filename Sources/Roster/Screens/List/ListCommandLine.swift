import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

extension ListScreen {
    /// Prompts for a command and runs it.
    func askForCommand() {
        let prompt = Prompt(
            label: ":", history: browser.commandHistory,
            hint: "a command, or a record number; Tab completes, ^P lists all commands")
        prompt.complete = { [unowned self, unowned prompt] text, cursor in
            CommandLineWords(self, in: prompt).completion(text, cursor: cursor)
        }
        prompt.onAccept = { [unowned self] text in
            let problem = run(commandLine: text)
            if problem == nil { browser.rememberCommand(text) }
            return problem
        }
        browser.layers.push(prompt)
    }

    /// Runs the typed text. Returns the problem if it is invalid.
    private func run(commandLine text: String) -> Prompt.Problem? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        if let number = Int(text) {
            guard number >= 0 else { return Prompt.Problem(tr("record numbers start at 1"), at: 0) }
            goToRecord(number)
            return nil
        }
        let name = text.prefix { $0 != " " }
        let rest = text.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
        // An attribute may have the name of a command.
        if entity.propertiesByName[String(name)] != nil, rest.first.map({ "<>=!".contains($0) }) == true {
            return filter.set(text)
        }
        if let command = CommandLineWords.commands.first(where: { $0.names.contains(String(name)) }) {
            if command.example == nil, !rest.isEmpty {
                return Prompt.Problem(sentence("“\(name)” takes no other arguments"), at: name.count + 1)
            }
            if rest.isEmpty, let example = command.example?(self) {
                return Prompt.Problem(
                    sentence("“\(name)” needs an argument, such as \(name) \(example)"), at: name.count)
            }
            return command.run(self, rest).map { Prompt.Problem($0.text, at: $0.position.map { $0 + name.count + 1 }) }
        }
        return runNamed(text)
    }

    /// Runs a command of the table by its name or an unambiguous prefix. Other texts that begin with a property or have
    /// a comparison sign are filters.
    private func runNamed(_ text: String) -> Prompt.Problem? {
        let table = commands
        let beginning = table.commands.filter { $0.name.hasPrefix(text) }
        guard let command = table.command(named: text) ?? (beginning.count == 1 ? beginning[0] : nil) else {
            let key = String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            if entity.propertiesByName[key] != nil || text.contains(where: { "<>=".contains($0) }) {
                return filter.set(text)
            }
            let names = beginning.map(\.name).joined(separator: ", ")
            return Prompt.Problem(
                names.isEmpty
                    ? sentence("unknown command “\(text)”; ^P lists all commands")
                    : sentence("ambiguous command “\(text)”: \(names)"),
                at: 0)
        }
        if let reason = command.unavailable(self) { return Prompt.Problem(reason) }
        command.action(self)
        return nil
    }

    // MARK: Commands with arguments

    /// A key to sort by, for examples.
    fileprivate var firstKey: String {
        records.settings.sortKeys.first?.keyPath ?? entity.sortableKeyPaths.first ?? "key"
    }

    fileprivate func sort(by text: String) -> Prompt.Problem? {
        do {
            let keys = try SortKey.parse(text)
            for key in keys { try EntityKeys.attribute(at: key.keyPath, of: entity, for: "sort by") }
            try tryToChange {
                $0.setSortKeys(keys.map { ListSettings.SortKey(keyPath: $0.keyPath, isAscending: $0.ascending) })
            }
            return nil
        } catch {
            return FilterText.problem(error, in: text)
        }
    }

    fileprivate func makeSections(by text: String) -> Prompt.Problem? {
        let choice = SectionChoice(text)
        guard !choice.keyPath.isEmpty, text != "none" else {
            change { $0.setSectionKey(nil) }
            return nil
        }
        do {
            try choice.sectionBy(for: entity)
            try tryToChange { $0.setSections(choice) }
            return nil
        } catch {
            return FilterText.problem(error, in: text)
        }
    }

    /// Adds a computed column, or shows it again.
    fileprivate func addColumn(_ text: String) -> Prompt.Problem? {
        do {
            guard entity.propertiesByName[text] == nil else {
                setShown(true, column: text)
                return nil
            }
            _ = try ComputedValue(text, of: entity)
            arrangeColumns { layout in
                layout.hidden.remove(text)
                if layout.computed?.contains(text) != true { layout.computed = (layout.computed ?? []) + [text] }
            }
            return nil
        } catch {
            return FilterText.problem(error, in: text)
        }
    }

    fileprivate func show(entityNamed name: String) -> Prompt.Problem? {
        let exact = entities.first { $0.name == name }
        let matching = entities.filter { $0.name?.lowercased().hasPrefix(name.lowercased()) == true }
        guard let found = exact ?? (matching.count == 1 ? matching[0] : nil) else {
            let names = (matching.isEmpty ? entities : matching).compactMap(\.name).joined(separator: ", ")
            return Prompt.Problem(
                matching.isEmpty ? sentence("valid names: \(names)") : sentence("ambiguous name “\(name)”: \(names)"),
                at: 0)
        }
        show(found)
        return nil
    }

    /// Exports the records of the list to a file in the background.
    ///
    /// - Parameter whole: true to write all properties, for a later import; false to write the columns of the list in
    ///   their order, including those that do not fit on the screen.
    func export(to path: String, replacing: Bool, whole: Bool = false) -> Prompt.Problem? {
        let file = (path as NSString).expandingTildeInPath
        let ending = (file as NSString).pathExtension
        guard ending.isEmpty || OutputFormat(pathExtension: ending) != nil else {
            return Prompt.Problem(
                sentence("cannot export to .\(ending): name a .json, .csv or .tsv file"),
                at: max(0, path.count - ending.count))
        }
        if !replacing, FileManager.default.fileExists(atPath: file) {
            let command = whole ? "exportall!" : "export!"
            return Prompt.Problem(sentence("\(path) exists; \(command) replaces it"), at: 0)
        }
        let settings = records.settings
        let sort = settings.allSortKeys.map { SortKey(keyPath: $0.keyPath, ascending: $0.isAscending) }
        let shown = records.display.columns.map(\.key).filter { !$0.isEmpty }
        let command = ExportCommand(
            store: browser.options.location,
            entity: entity.name ?? "", file: file,
            query: RecordQuery(predicate: settings.filter.isEmpty ? nil : settings.filter, sort: sort),
            columns: whole || shown.isEmpty ? nil : shown)
        let isUnsaved = session.context.hasChanges
        let name = entity.name ?? "record"
        browser.begin("export", { try command.run(in: $0) }) { [unowned browser] result in
            switch result {
            case .success(let outcome):
                let counted = CountedNoun.text(outcome.count, name)
                if let missing = outcome.missing {
                    return browser.say(sentence("exported \(counted) to \(file), but \(missing)"), role: .warning)
                }
                browser.say(
                    isUnsaved
                        ? sentence("exported \(counted) to \(file), without unsaved changes")
                        : sentence("exported \(counted) to \(file)"))
            case .failure(let error):
                browser.say(sentence("not exported: \(CommandError.line(for: error))"), role: .error)
            }
        }
        return nil
    }
}

/// Commands of the command line in addition to the command table, and completion.
struct CommandLineWords {
    struct Command {
        /// Names of the command. Completion offers the first one.
        let names: [String]
        /// Returns an example of the argument, or `nil` if none is needed now; `nil` if the command takes none.
        var example: ((ListScreen) -> String?)?
        /// Runs the command with the text after its name. Returns the problem, with positions in that text.
        let run: (ListScreen, String) -> Prompt.Problem?
    }

    static let commands = [
        Command(names: ["q", "quit", "qa"]) { list, _ in done { list.browser.quit() } },
        Command(names: ["q!", "quit!", "qa!"]) { list, _ in done { list.browser.quitWithoutSaving() } },
        Command(names: ["w", "write", "save"]) { list, _ in writing(list) { list.browser.save() } },
        Command(names: ["wq", "x"]) { list, _ in
            guard list.session.context.hasChanges || !list.browser.lostEdits.isEmpty else {
                return done { list.browser.quit() }
            }
            return writing(list) { list.browser.save { [unowned list] in list.browser.quit() } }
        },
        Command(names: ["sort"], example: { "\($0.firstKey):desc" }) { $0.sort(by: $1) },
        Command(
            names: ["section", "sections"], example: { $0.chosenSettings.sectionKey == nil ? $0.firstKey : nil }
        ) { $0.makeSections(by: $1) },
        Command(
            names: ["filter"],
            example: { $0.chosenSettings.filter.isEmpty ? FilterText.example(for: $0.entity) : nil }
        ) { $0.filter.set($1) },
        Command(names: ["column"], example: { "\($0.firstKey) + 1 AS title" }) { $0.addColumn($1) },
        Command(names: ["entity"], example: { $0.entities.last?.name ?? "" }) { $0.show(entityNamed: $1) },
        Command(names: ["export"], example: file) { $0.export(to: $1, replacing: false) },
        Command(names: ["export!"], example: file) { $0.export(to: $1, replacing: true) },
        Command(names: ["exportall"], example: file) { $0.export(to: $1, replacing: false, whole: true) },
        Command(names: ["exportall!"], example: file) { $0.export(to: $1, replacing: true, whole: true) },
        Command(names: ["import"], example: file) { $0.importRecords(from: $1) },
        Command(names: ["sql"], example: { _ in nil }) { $0.ask(inSQL: $1) },
        Command(names: ["noh"]) { list, _ in done { list.find.forget() } },
    ]

    private static let file: (ListScreen) -> String? = {
        "\(CountedNoun.plural($0.entity.name ?? "record").lowercased()).csv"
    }

    private static func done(_ body: () -> Void) -> Prompt.Problem? {
        body()
        return nil
    }

    private static func writing(_ list: ListScreen, _ body: () -> Void) -> Prompt.Problem? {
        if let reason = list.browser.readOnlyReason { return Prompt.Problem(reason) }
        return done(body)
    }

    private let list: ListScreen

    private let prompt: Prompt?

    init(_ list: ListScreen, in prompt: Prompt?) { (self.list, self.prompt) = (list, prompt) }

    /// Completions for the word before the cursor.
    func completion(_ text: String, cursor: Int) -> Prompt.Completion? {
        let before = String(text.prefix(cursor))
        guard let space = before.firstIndex(of: " ") else {
            let own = Self.commands.map { $0.names[0] }
            let others = list.commands.commands.map(\.name).filter { !own.contains($0) }
            let names = (own + others).filter { $0.hasPrefix(before) }
            return names.isEmpty ? nil : Prompt.Completion(range: 0..<cursor, candidates: names)
        }
        let name = String(before[..<space])
        let start = name.count + 1
        let argument = String(before.dropFirst(start))
        switch name {
        case "filter": return list.filter.complete(text, cursor: cursor, in: prompt, from: start)
        case "section", "sections":
            let level = argument.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            guard let colon = level.lastIndex(of: ":") else {
                return matching(level, among: list.entity.sortableKeyPaths, endingAt: cursor)
            }
            let attribute = list.entity.attribute(atKeyPath: String(level.prefix { $0 != ":" }))
            let kinds = SectionChoice.kinds(of: attribute) + ["desc", "last"]
            return matching(String(level[level.index(after: colon)...]), among: kinds, endingAt: cursor)
        case "sort":
            let start = argument.lastIndex { ", :".contains($0) }
            let word = String(argument[(start.map { argument.index(after: $0) } ?? argument.startIndex)...])
            let directions = ["asc", "desc"]
            switch start.map({ argument[$0] }) {
            case ":": return matching(word, among: directions, endingAt: cursor)
            case " ":
                return matching(word, among: directions + list.entity.sortableKeyPaths, endingAt: cursor)
            default:
                let key = word.drop { "+-".contains($0) }
                return matching(String(key), among: list.entity.sortableKeyPaths, endingAt: cursor)
            }
        case "entity": return matching(argument, among: list.entities.compactMap(\.name), endingAt: cursor)
        case "export", "export!", "exportall", "exportall!", "import":
            return matching(argument, among: Self.files(beginningWith: argument), endingAt: cursor)
        default: return nil
        }
    }

    private func matching(_ word: String, among candidates: [String], endingAt end: Int) -> Prompt.Completion? {
        let found = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
        return found.isEmpty ? nil : Prompt.Completion(range: end - word.count..<end, candidates: found)
    }

    /// Files and folders that begin with `path`. Folders end with a slash.
    static func files(beginningWith path: String) -> [String] {
        let folder = path.contains("/") ? String(path[...(path.lastIndex(of: "/") ?? path.startIndex)]) : ""
        let place = folder.isEmpty ? "." : (folder as NSString).expandingTildeInPath
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted().map { name in
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: "\(place)/\(name)", isDirectory: &isFolder)
            return folder + name + (isThere && isFolder.boolValue ? "/" : "")
        }
    }
}
