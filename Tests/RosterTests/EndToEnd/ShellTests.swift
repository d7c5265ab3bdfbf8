import ChildProgram
import Foundation
import RosterCommands
import TestSupport
import Testing

@testable import Roster

/// Shell completion, the manual page, and the version.
@Suite(.needs(.process)) struct ShellTests {
    private let sample: SampleFolder

    init() throws { sample = try SampleFolder() }

    @MainActor private func complete(_ words: String...) -> [String] {
        guard case .words(let words) = WordCompleter(words).answer else { return ["@files"] }
        return words
    }

    @MainActor @Test func verbsFlagsAndTheirWordsAreCompleted() {
        #expect(complete("li") == ["list"])
        #expect(complete("model", "co") == ["compile"])
        #expect(complete("sam") == ["@files"])
        #expect(complete("list", "nowhere/") == ["@files"])
        #expect(complete("list", "x.sqlite", "Team", "--sec").sorted() == ["--section", "--sections-only"])
        #expect(complete("list", "x.sqlite", "Team", "--format", "j") == ["json"])
        #expect(complete("list", "x.sqlite", "Team", "--output", "") == [])
        #expect(complete("--re") == ["--read-only"])
    }

    @MainActor @Test func entitiesAndKeysComeFromTheStore() {
        let store = sample.store
        #expect(complete("list", store, "T") == ["Team"])
        #expect(complete(store, "--entity", "Ve") == ["Venue"])
        #expect(complete("list", store, "Team", "--sort", "wins:desc,team") == ["wins:desc,teamName"])
        #expect(complete("list", store, "--limit", "3", "Team", "--section", "homeVenue.na") == ["homeVenue.name"])
        #expect(
            complete("list", store, "Team", "--sort", "teamName,wins:") == ["teamName,wins:asc", "teamName,wins:desc"])
        #expect(complete("list", store, "Team", "--sort=wi") == ["--sort=wins"])
        #expect(complete("list", store, "Team", "--section", "teamName:l") == ["teamName:letter", "teamName:last"])
        #expect(complete("list", store, "Venue", "--section", "opened:b") == ["opened:bucket("])
        let dates = ["year", "month", "week", "day"].map { "firstAppearance:\($0)" }
        #expect(complete("list", store, "Team", "--section", "firstAppearance:").prefix(4) == dates[...])
        // An inner level is completed with its own keys and words.
        let level = "firstAppearance:month/"
        #expect(complete("list", store, "Team", "--section", level + "wi") == [level + "wins"])
        #expect(complete("list", store, "Team", "--section", level + "wins:b") == [level + "wins:bucket("])
        #expect(complete("update", store, "Team", "wi") == ["wins="])
        #expect(complete("list", "nowhere.sqlite", "") == [])
    }

    @MainActor @Test func valuesComeFromTheStore() {
        let store = sample.store
        #expect(complete("update", store, "Team", "teamName=Jap") == ["teamName=Japan"])
        #expect(complete("update", store, "Team", "favorite=") == ["favorite=false", "favorite=true"])
        let venues = ["homeVenue=Wembley Stadium", "homeVenue=Wembley Stadium (1923)"]
        #expect(complete("update", store, "Team", "homeVenue=Wem") == venues)
        #expect(complete("list", store, "Team", "--where", "homeVenue == \"Wem") == [])
        #expect(complete("list", store, "Team", "--where", "teamName == \"Jap") == ["teamName == \"Japan\""])
        #expect(complete("list", store, "Team", "--where", "wins > 3 AND teamN") == ["wins > 3 AND teamName"])
        #expect(complete("show", store, "Te") == ["Team:"])
        #expect(complete("show", store, "Team:Jap") == ["Team:Japan"])
        #expect(complete("list", store, "Team", "--where", "nonsense == \"x") == [])
    }

    @MainActor @Test func storesAreTheFilesThatLookLikeThem() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("deeper"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(atPath: sample.store, toPath: folder.path + "/data.db")
        try Data("text".utf8).write(to: folder.appendingPathComponent("data.txt"))
        #expect(complete("list", folder.path + "/d") == [folder.path + "/data.db", folder.path + "/deeper/"])
        #expect(complete("list", folder.path + "/data.t") == ["@files"])
    }

    /// The script in a real shell.
    @Test func bashCompletesByTheProgramItself() throws {
        let program = RosterProcess.program.deletingLastPathComponent().path
        let script = """
            PATH="\(program):$PATH"; eval "$(roster completion bash)"
            complete_line() {
                COMP_LINE=$1 COMP_POINT=${#1} current=$2; shift 2
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _roster roster "$current"; echo "[${COMPREPLY[*]}]"
            }
            complete_line 'roster list \(sample.store) Te' Te roster list \(sample.store) Te
            complete_line 'roster mod' mod roster mod
            # Bash takes words apart at a colon and an equals sign, and puts candidates behind them.
            complete_line 'roster show \(sample.store) Team:Jap' Jap roster show \(sample.store) Team : Jap
            complete_line 'roster update \(sample.store) Team teamName=Jap' Jap roster update \(sample.store) Team teamName = Jap
            complete_line 'roster update \(sample.store) Team favorite=' '' roster update \(sample.store) Team favorite =
            complete_line 'roster show \(sample.store) Team:South\\ K' 'South\\ K' roster show \(sample.store) Team : 'South\\ K'
            """
        let output = try ChildProgram(URL(fileURLWithPath: "/bin/bash"), ["-c", script]).output
        #expect(output == "[Team]\n[model]\n[Japan]\n[Japan]\n[false true]\n[South\\ Korea]\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func everyShellHasAScript(_ shell: String) throws {
        let outcome = try RosterProcess.run(["completion", shell])
        #expect(outcome.status == 0 && outcome.output.contains("roster complete --"))
    }

    @Test func anUnknownShellIsRefused() throws {
        let outcome = try RosterProcess.run(["completion", "csh"])
        #expect(outcome.status == 2 && outcome.errors.contains("bash, zsh or fish"))
    }

    @MainActor @Test func theManualHasEveryVerbFlagAndKey() throws {
        let outcome = try RosterProcess.run(["manual"])
        #expect(outcome.status == 0 && outcome.output.hasPrefix(".TH ROSTER 1"))
        for verb in VerbTable.verbs { #expect(outcome.output.contains(".SS roster \(verb.name)")) }
        for command in ListCommands.table.commands {
            #expect(outcome.output.contains(command.help.prefix { !"\\'-.".contains($0) }))
        }
        // No line of text may look like a roff request.
        let requests: Set<String> = [".TH", ".SH", ".SS", ".TP", ".br", ".PP", ".nf", ".fi"]
        for line in outcome.lines where line.hasPrefix(".") {
            #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }

    @Test func theVersionIsPrinted() throws {
        for flag in ["--version", "-V"] {
            let outcome = try RosterProcess.run([flag])
            #expect(outcome.status == 0 && outcome.lines == ["roster \(Version.text)"])
        }
    }
}
