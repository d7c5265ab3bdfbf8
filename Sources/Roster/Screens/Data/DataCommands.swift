import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// List commands that export and import records.
enum DataCommands {
    static var all: [Command<ListScreen>] {
        let category = "Data"
        return [
            Command(
                "export", keys: "g>", category: category,
                help: "export the columns of the list; :exportall whole records"
            ) { $0.askForExport() },
            Command(
                "import", keys: "g<lt>", category: category, help: "import records from a file",
                unavailable: { $0.browser.readOnlyReason }
            ) { $0.askForImport() },
        ]
    }
}

extension ListScreen {
    func askForExport() {
        askForFile(label: "export to: ", hint: "a .json, .csv or .tsv file of the columns; Tab completes") {
            [unowned self] in export(to: $0, replacing: false)
        }
    }

    func askForImport() {
        let hint = sentence(
            "JSON, CSV or TSV file; updates \(CountedNoun.plural(entity.name ?? "record")) with an existing unique key")
        askForFile(label: "import from: ", hint: hint) { [unowned self] in importRecords(from: $0) }
    }

    func askForFile(label: String, hint: String, accept: @escaping (String) -> Prompt.Problem?) {
        let prompt = Prompt(label: label, hint: hint)
        prompt.complete = { text, cursor in
            let typed = String(text.prefix(cursor))
            let found = CommandLineWords.files(beginningWith: typed).filter { $0.hasPrefix(typed) }
            return found.isEmpty ? nil : Prompt.Completion(range: 0..<cursor, candidates: found)
        }
        prompt.onAccept = { accept($0.trimmingCharacters(in: .whitespaces)) }
        browser.layers.push(prompt)
    }

    /// Imports records of the entity from a file in the background.
    func importRecords(from path: String) -> Prompt.Problem? {
        if let reason = browser.readOnlyReason { return Prompt.Problem(reason) }
        let file = (path as NSString).expandingTildeInPath
        guard FileManager.default.isReadableFile(atPath: file) else {
            return Prompt.Problem(sentence("cannot read \(path)"), at: 0)
        }
        browser.importRecords(of: entity, from: file)
        return nil
    }
}

extension Browser {
    /// Imports records from a file into the store in the background. The list updates as they arrive.
    func importRecords(of entity: NSEntityDescription, from file: String) {
        let command = ImportCommand(
            store: options.location,
            entity: entity.name ?? "", file: file)
        begin("import", { try command.run(in: $0) }) { [unowned self] result in
            switch result {
            case .success(let counts): say(counts.report(isDryRun: false))
            case .failure(let error):
                let name = URL(fileURLWithPath: file).lastPathComponent
                say(
                    sentence("not imported: \(CommandError.line(for: error).replacing(file, with: name))"), role: .error
                )
            }
        }
    }
}
