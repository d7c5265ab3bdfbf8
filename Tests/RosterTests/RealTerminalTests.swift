import ChildProgram
import Foundation
import Glibc
import PostgreSQLCluster
import SQLiteAccess
import TestSupport
import Testing

/// The built program in a tmux terminal.
final class Terminal {
    private static let tmux = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/bin/tmux"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static var isAvailable: Bool {
        tmux != nil && FileManager.default.isExecutableFile(atPath: program) && canOpenTerminals
    }

    /// In a bare container without `/dev/pts`, tmux cannot create terminals.
    private static var canOpenTerminals: Bool {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// The program in the folder of the tests.
    static var program: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("roster").path
    }

    /// The folder for tmux's socket and the program's files.
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("roster-tmux-\(UInt32.random(in: 0 ... .max))").path

    init(command: String, width: Int, height: Int, environment: String = "") throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try run([
            "-f", "/dev/null", "new-session", "-d", "-x", "\(width)", "-y", "\(height)",
            "env XDG_CACHE_HOME=\(folder) XDG_STATE_HOME=\(folder) \(environment) \(command); echo \"[status $?]\"; exec sleep 100",
        ])
        // A test run that is killed leaves no terminal.
        let end = "'\(Self.tmux ?? "tmux")' -S '\(folder)/socket' kill-server"
        try run(["run-shell", "-b", "while kill -0 \(getpid()) 2>/dev/null; do sleep 2; done; \(end)"])
    }

    deinit {
        _ = try? run(["kill-server"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs a tmux command and returns its output.
    ///
    /// Foundation's `Process` cannot be used: it waits for a descriptor that the tmux server inherits and keeps open.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let words = [Self.tmux ?? "tmux", "-S", folder + "/socket"] + arguments
        let line = words.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }.joined(separator: " ")
        guard let stream = popen(line + " 2>/dev/null", "r") else { throw CocoaError(.fileReadUnknown) }
        defer { pclose(stream) }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { return String(decoding: output, as: UTF8.self) }
            output += buffer[..<count]
        }
    }

    func keys(_ keys: String...) throws { try run(["send-keys"] + keys) }

    func type(_ text: String) throws { try run(["send-keys", "-l", text]) }

    var screen: String { (try? run(["capture-pane", "-p"])) ?? "" }

    /// Waits until the screen satisfies a condition.
    func wait(
        for what: String, seconds: Double = 60, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @Sendable (String) -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            let screen = screen
            if condition(screen) { return }
            guard ContinuousClock.now < end else {
                Issue.record("\(what) did not happen:\n\(screen)", sourceLocation: sourceLocation)
                return
            }
            try await Task.sleep(for: .milliseconds(30))
        }
    }
}

/// The program in a real terminal, from the first screen to a clean end.
@Suite(.serialized, .needs(.terminal), .enabled(if: Terminal.isAvailable, "needs tmux and the built program"))
struct RealTerminalTests {
    @Test func aSessionFromStartToEnd() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team --section qualifyingZone "
                + "--sort wins:desc,teamName",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("▾ AFC (3)") && $0.contains("日本") }
        try terminal.type("/Spain")
        try await terminal.wait(for: "the match") { $0.contains("1 found") }
        try terminal.keys("Enter")
        try terminal.type("E")
        try await terminal.wait(for: "the form") { $0.contains("Edit Team “Spain”") }
        try terminal.keys("Escape")
        try await terminal.wait(for: "the list") { !$0.contains("Edit Team") }
        try terminal.run(["resize-window", "-x", "60", "-y", "12"])
        try await terminal.wait(for: "the smaller list") {
            $0.contains("Spain") && $0.split(separator: "\n").count <= 12
        }
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        #expect(!terminal.screen.contains("Spain"))
    }

    /// No key is pressed and nothing changes: the program has to wake up to show the box.
    @Test func theKeysThatMayFollowComeUpByThemselves() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 80, height: 24,
            environment: "LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nowhere")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        try terminal.type("g")
        try await terminal.wait(for: "the box") { $0.contains("┌─ g ") && $0.contains("s  sections by") }
        try terminal.keys("Escape")
        try await terminal.wait(for: "the list") { !$0.contains("┌─ g ") && $0.contains("Brazil") }
        // Keys that are missing in the terminal's description are recognised too.
        try terminal.type("\u{1B}[4~")
        try await terminal.wait(for: "the last record") { $0.contains("16/16") }
    }

    @Test(arguments: ["C.UTF-8", "C"]) func theListIsShownAsItWas(_ locale: String) async throws {
        let fixture = try await Fixture.filled()
        for arguments in [
            ["update", fixture.storeURL.path, "Team", "--where", "teamName == 'Spain'", "wins=3"],
            ["delete", fixture.storeURL.path, "Team", "--where", "teamName == 'Japan'"],
        ] { try #require(try RosterProcess.run(arguments).status == 0) }
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team --section qualifyingZone",
            width: 80, height: 24, environment: "LC_ALL=\(locale)")
        let (removed, updated) = locale == "C" ? ("x ", "~ ") : ("− ", "~ ")
        try await terminal.wait(for: "the first screen") { $0.contains("AFC (2)") }
        try terminal.type("HG")
        try await terminal.wait(for: "the history") {
            $0.contains("1 Team deleted") && $0.contains("3 Locations inserted")
        }
        try terminal.type("a")
        try await terminal.wait(for: "the list as it was") {
            $0.contains("as of transaction 1, ") && $0.contains("values are today's") && $0.contains("AFC (3)")
                && $0.contains(removed + "Japan") && $0.contains("deleted in #3")
        }
        try terminal.run(["resize-window", "-x", "200", "-y", "50"])
        try await terminal.wait(for: "the larger screen") {
            $0.contains(updated + "Spain") && $0.contains("Since then") && $0.contains("Qualifying zone")
        }
        try terminal.keys("Escape")
        try await terminal.wait(for: "the history") { $0.contains("History of") }
        try terminal.keys("Escape")
        try await terminal.wait(for: "the list") { $0.contains("15 Teams") }
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
    }

    @Test func aLongSearchContinuesBetweenKeys() async throws {
        let fixture = try await Fixture()
        try await fixture.fillWithManyTeams(10_000)
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 80, height: 24,
            environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("Team 000001") }
        try terminal.type("/qq")
        try await terminal.wait(for: "the end of the search") { $0.contains("nothing found") }
        try terminal.keys("Escape")
        try terminal.type("/09999")
        try await terminal.wait(for: "the match") { $0.contains("Team 009999") && $0.contains("1 found") }
    }

    /// Keys are handled during the save.
    @Test func aLongSaveIsSeenAndStopped() async throws {
        let fixture = try await Fixture()
        try await fixture.fillWithManyTeams(12_000)
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 100, height: 24,
            environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the list") { $0.contains("12,000 Teams") }
        try terminal.keys("~")
        try await terminal.wait(for: "the marks") { $0.contains("12,000 records marked") }
        try terminal.keys("l", "l", "e")
        try await terminal.wait(for: "the prompt") { $0.contains("Wins of 12,000 Teams:") }
        try terminal.keys("7", "1", "Enter")
        try await terminal.wait(for: "the question") { $0.contains("y change") }
        try terminal.keys("y")
        try await terminal.wait(for: "the edit", seconds: 120) { $0.contains("changed 12,000 records") }
        // If this test has to wait for other programs, the key may be too late.
        var isStopped = false
        for _ in 0..<3 where !isStopped {
            try terminal.keys("C-s")
            try await terminal.wait(for: "the save") { $0.contains("saving 12,000 records") }
            try terminal.keys("Escape")
            try await terminal.wait(for: "the stop", seconds: 120) {
                $0.contains("stopped; nothing was saved") || $0.contains("saved 12,000 records")
            }
            isStopped = terminal.screen.contains("stopped; nothing was saved")
            guard !isStopped else { break }
            try terminal.keys("u")
            try await terminal.wait(for: "the edit once more", seconds: 120) { $0.contains("undone: edit Wins") }
        }
        #expect(isStopped)
        try terminal.keys("C-s")
        try await terminal.wait(for: "the end", seconds: 120) { $0.contains("saved 12,000 records") }
    }

    /// Another program commits as fast as it can. Keys are handled before it ends.
    @Test func keysGoFirstWhileAnotherProgramCommitsWithoutPause() async throws {
        let sample = try SampleFolder()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(sample.store)' --entity Team --section qualifyingZone --sort wins:desc",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("80 Teams") }
        try terminal.run([
            "split-window", "-d", "-l", "1", "exec '\(Terminal.program)' simulate '\(sample.store)' --count 1000000",
        ])
        try await terminal.wait(for: "changes of the other program") { $0.contains("~ ") || $0.contains("↕ ") }
        for _ in 0..<3 {
            for (key, isHelp) in [("?", true), ("q", false)] {
                try terminal.type(key)
                try await terminal.wait(for: key) { $0.contains("Keys of the list") == isHelp }
            }
        }
        // The other program is still running.
        #expect(try terminal.run(["list-panes"]).split(separator: "\n").count == 2)
    }

    /// With twenty thousand records and another program that commits five hundred times a second, keys are handled and
    /// the list follows. Latencies of release builds are in `Benchmarks/RESULTS.md`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil))
    func aListOfVeryManyIsUsableBesideFiveHundredCommitsASecond() async throws {
        let sample = try SampleFolder()
        let writer = try FastWriter(store: sample.store, records: 20_000)
        let terminal = try Terminal(
            command:
                "'\(Terminal.program)' '\(sample.store)' --entity Team --sort goalsFor:desc,teamName",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen", seconds: 120) {
            $0.contains("20,080 Teams") && FastWriter.mark(on: $0) != nil
        }
        try writer.start(rate: 500)
        defer { writer.stop() }
        eventually("five hundred commits", within: 120) { writer.commits >= 500 }
        for _ in 0..<8 {
            for (key, isHelp) in [("?", true), ("q", false)] {
                try terminal.type(key)
                try await terminal.wait(for: key) { $0.contains("Keys of the list") == isHelp }
            }
            let mark = try #require(writer.lastMark)
            try await terminal.wait(for: "goals that were written before", seconds: 120) {
                FastWriter.mark(on: $0).map { $0 >= mark } ?? false
            }
        }
        writer.stop()
        let last = try #require(writer.lastMark)
        try await terminal.wait(for: "the last goals") { FastWriter.mark(on: $0) == last }
    }

    #if PostgreSQL
        /// A store on a server: changes of other programs appear, and edits are saved on the server.
        @Test(.needs(.server), .enabled(if: PostgreSQLCluster.shared != nil, "PostgreSQL is not installed"))
        func aStoreOnAServerIsBrowsedAndFollowed() async throws {
            let cluster = try #require(PostgreSQLCluster.shared)
            let sample = try SampleFolder()
            let schema = "terminal_\(UInt32.random(in: 0 ... .max))"
            defer { _ = try? cluster.psql("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
            let store = cluster.url(schema: schema).absoluteString
            #expect(try RosterProcess.run(["copy", sample.store, store]).status == 0)
            let terminal = try Terminal(
                command:
                    "'\(Terminal.program)' '\(store)' --entity Team --section qualifyingZone --sort wins:desc,teamName",
                width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
            try await terminal.wait(for: "the first screen") { $0.contains("80 Teams") }
            let change = ["update", store, "Team", "--where", "teamName == 'Japan'", "wins=999"]
            #expect(try RosterProcess.run(change).status == 0)
            try await terminal.wait(for: "the change of the other program") { $0.contains("999") }
            try terminal.type("/Japan")
            try await terminal.wait(for: "the match") { $0.contains("1 found") }
            try terminal.keys("Enter")
            try terminal.type("D")
            try await terminal.wait(for: "the question") { $0.contains("delete") }
            try terminal.type("y")
            try await terminal.wait(for: "the deletion") { $0.contains("1 unsaved") }
            try terminal.keys("C-s")
            try await terminal.wait(for: "the save") { $0.contains("saved 1 record") }
            #expect(try RosterProcess.run(["count", store, "Team"]).lines == ["79"])
            try terminal.type("q")
            try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        }
    #endif

    @Test func statementsAreWrittenToAFileDuringTheScreen() async throws {
        let fixture = try await Fixture.filled()
        let log = fixture.storeURL.deletingLastPathComponent().appendingPathComponent("statements.log")
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team '--sql=\(log.path)'",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        #expect(!terminal.screen.contains("CoreData: sql"))
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("CoreData: sql: SELECT") && $0.contains("ZTEAM") })
    }

    @Test func aStoreReopensInItsLastStateAndTextsOpenInTheEditor() async throws {
        let fixture = try await Fixture.filled()
        let editor = fixture.folder.appendingPathComponent("editor.sh")
        try Data("#!/bin/sh\nprintf 'What is your text? '\nread text\necho \"$text\" > \"$1\"\n".utf8).write(to: editor)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: editor.path)
        let program = "'\(Terminal.program)' '\(fixture.storeURL.path)'"
        let terminal = try Terminal(
            command: "sh -c \"\(program); read again; \(program)\"", width: 80, height: 24,
            environment: "LC_ALL=C.UTF-8 VISUAL='\(editor.path)'")
        // Without arguments, the list of the main entity is shown, in sections.
        try await terminal.wait(for: "the first screen") { $0.contains("16 Teams  by Qualifying zone") }
        try terminal.type("/Spain")
        try await terminal.wait(for: "the match") { $0.contains("1 found") }
        try terminal.keys("Enter")
        try terminal.type("le")
        try await terminal.wait(for: "the cell") { $0.contains("^O editor") }
        try terminal.keys("C-o")
        try await terminal.wait(for: "the editor") { $0.contains("What is your text?") }
        try terminal.type("Hispania")
        try terminal.keys("Enter")
        try await terminal.wait(for: "the text") { $0.contains("Hispania") && $0.contains("^O editor") }
        try terminal.keys("Enter")
        try await terminal.wait(for: "the change") { $0.contains("1 unsaved") }
        try terminal.keys("C-s")
        try await terminal.wait(for: "the save") { $0.contains("saved 1 record") }
        try terminal.type("pq")
        try await terminal.wait(for: "the end") { !$0.contains("Teams") }
        try terminal.keys("Enter")
        try await terminal.wait(for: "the list as it was left") {
            $0.contains("┌─ Spain") && $0.contains("Hispania") && $0.contains("16 Teams  by Qualifying zone")
        }
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
    }

    @Test func aSignalLeavesACleanTerminal() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 80, height: 24,
            environment: "LC_ALL=C TERM=vt100 NO_COLOR=1")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        #expect(terminal.screen.utf8.allSatisfy { $0 < 0x80 })
        try kill(terminal, SIGTERM)
        // This terminal has no alternate screen: the shell continues in the last line, which is empty.
        try await terminal.wait(for: "the end") { $0.contains("\n[status 143]\n") }
    }

    @Test func aCrashLeavesACleanTerminal() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command:
                "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team; stty -a | grep -owE 'icanon|echo'",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        // A signal from outside is not raised again by returning: the program must end nevertheless.
        try kill(terminal, SIGSEGV)
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        #expect(!terminal.screen.contains("Brazil"))
        #expect(terminal.screen.contains("icanon"))
        #expect(try terminal.run(["display-message", "-p", "#{alternate_on} #{mouse_any_flag}"]) == "0 0\n")
    }

    /// After any signal, screen, mouse reports, cursor and line discipline are restored.
    @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGFPE])
    func everySignalLeavesACleanTerminal(_ signal: Int32) async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team; echo \"[ended $?]\"; "
                + "stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo|ixon'",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        #expect(try terminal.run(["display-message", "-p", Self.modes]) == "1 1 0\n")
        try kill(terminal, signal)
        let ended = "[ended \(128 + signal)]"
        try await terminal.wait(for: "the end") { $0.contains(ended) && $0.contains("[status 0]") }
        let screen = terminal.screen
        #expect(!screen.contains("Brazil") && ["icanon", "echo", "ixon"].allSatisfy(screen.contains), "\(screen)")
        #expect(try terminal.run(["display-message", "-p", Self.modes]) == "0 0 1\n")
    }

    private static let modes = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"

    /// Descriptions such as tmux's have only mouse reports that end at column 223.
    @Test(arguments: ["tmux-256color", "xterm-256color", "screen-256color"])
    func theMouseWorksInEveryColumn(_ type: String) async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 260, height: 24,
            environment: "LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nowhere TERM=\(type)")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        #expect(try terminal.run(["display-message", "-p", "#{mouse_any_flag} #{mouse_sgr_flag}"]) == "1 1\n")
        try terminal.keys("p")
        try await terminal.wait(for: "the pane") { $0.contains("┌─ Argentina") }
        // A click into the pane at the right moves the focus there, whose hints differ.
        try terminal.run(["send-keys", "-l", "\u{1B}[<0;255;5M"])
        try await terminal.wait(for: "the focus in the pane") { $0.contains("Esc back") }
    }

    /// A killed program leaves terminal modes on. The next start resets them, even if it does not use the mouse.
    @Test func theNextStartRemovesLeftoversOfAKilledProgram() async throws {
        let fixture = try await Fixture.filled()
        let folder = fixture.folder.appendingPathComponent("roster")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("mouse = off\n".utf8).write(to: folder.appendingPathComponent("config"))
        let program = "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team"
        let terminal = try Terminal(
            // The shell first prints a message about the kill, of any width, and the killed program's line discipline
            // does not translate newlines: an explicit return prevents wrapping.
            command: "\(program); status=$?; printf '\\r\\n[ended %s]\\r\\n' $status; read again; "
                + "XDG_CONFIG_HOME='\(fixture.folder.path)' \(program)",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nowhere")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        try kill(terminal, SIGKILL)
        try await terminal.wait(for: "the end") { $0.contains("[ended 137]") }
        #expect(try terminal.run(["display-message", "-p", "#{mouse_any_flag}"]) == "1\n")
        // Return is not translated to a newline either.
        try terminal.keys("C-j")
        try await terminal.wait(for: "the second start") { $0.contains("Brazil") && !$0.contains("[ended 137]") }
        #expect(try terminal.run(["display-message", "-p", "#{mouse_any_flag}"]) == "0\n")
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
        #expect(try terminal.run(["display-message", "-p", Self.modes]) == "0 0 1\n")
    }

    /// No key or change wakes the program here.
    @Test func theStatusOfRunningWorkCountsSeconds() async throws {
        let fixture = try await Fixture.filled()
        let other = try Connection(path: fixture.storeURL.path, access: .readWrite)
        try other.execute("PRAGMA locking_mode = EXCLUSIVE")
        try other.execute("BEGIN EXCLUSIVE")
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 80, height: 24,
            environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first seconds") { $0.contains("opening Cup.sqlite") }
        try await terminal.wait(for: "later ones") { $0.contains(/opening Cup.sqlite 1\.\d s/) }
        try other.execute("ROLLBACK")
        other.close()
        try await terminal.wait(for: "the list") { $0.contains("Brazil") }
    }

    @Test func aStoppedProgramContinuesWhereItStopped() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "bash --norc --noprofile -i", width: 80, height: 24,
            environment: "LC_ALL=C.UTF-8 PS1='ready> '")
        try await terminal.wait(for: "the shell") { $0.contains("ready>") }
        try terminal.type("'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team --sort wins:desc")
        try terminal.keys("Enter")
        try await terminal.wait(for: "the first screen") { $0.contains("1/16") && $0.contains("Brazil") }
        try terminal.type("jjj")
        try await terminal.wait(for: "the cursor") { $0.contains("4/16") }
        let before = terminal.screen
        try terminal.keys("C-z")
        try await terminal.wait(for: "the shell") { $0.contains("Stopped") && !$0.contains("4/16") }
        #expect(try terminal.run(["display-message", "-p", Self.modes]) == "0 0 1\n")
        try terminal.type("echo over $((20 + 3)); fg")
        try terminal.keys("Enter")
        try await terminal.wait(for: "the list") { $0 == before }
        #expect(try terminal.run(["display-message", "-p", Self.modes]) == "1 1 0\n")
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("over 23") }
    }

    @Test func aStormOfSizesLeavesTheScreenWhole() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team --section qualifyingZone",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") && $0.contains("1/16") }
        let before = terminal.screen
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix(seed)
        for _ in 0..<30 {
            let width = Int.random(in: 2...220, using: &generator)
            let height = Int.random(in: 2...60, using: &generator)
            try terminal.run(["resize-window", "-x", "\(width)", "-y", "\(height)"])
            if Bool.random(using: &generator) { try await Task.sleep(for: .milliseconds(20)) }
        }
        try terminal.run(["resize-window", "-x", "200", "-y", "50"])
        try await terminal.wait(for: "the large screen, seed \(seed)") {
            $0.contains("1/16") && $0.contains("Qualifying zone") && $0.contains("q quit")
        }
        try terminal.run(["resize-window", "-x", "80", "-y", "24"])
        try await terminal.wait(for: "the first screen again, seed \(seed)") { $0 == before }
        // The screen drawn for the first key is complete when the second key has its effect.
        try terminal.keys("C-l", "j")
        try await terminal.wait(for: "the next record, seed \(seed)") { $0.contains("2/16") }
        try terminal.keys("k")
        try await terminal.wait(for: "the first record, seed \(seed)") { $0 == before }
    }

    private struct SplitMix: RandomNumberGenerator {
        private var state: UInt64
        init(_ seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    /// A short run of `Scripts/terminal-check`: the terminal shows exactly the program's cells.
    @Test(.enabled(if: Self.hasEmulator, "needs python3 with pyte"))
    func anIndependentEmulatorShowsTheProgramsCells() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Scripts/terminal_check.py")
        let outcome = try ChildProgram(named: "python3", [script.path, Terminal.program, "--short", "--keys", "40"])
        #expect(outcome.status == 0 && outcome.output.contains("walked 80x24"), "\(outcome.output)")
    }

    private static let hasEmulator = (try? ChildProgram(named: "python3", ["-c", "import pyte"]).status) == 0

    @Test func errorsInAFilterAreInTheUsersLanguage() async throws {
        let places = ["/usr/bin/msgfmt", "/usr/local/bin/msgfmt"]
        guard let msgfmt = places.first(where: FileManager.default.isExecutableFile) else { return }
        let fixture = try await Fixture.filled()
        let place = fixture.folder.appendingPathComponent("zh_CN/LC_MESSAGES")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let texts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Translations/zh_CN.po")
        let made = place.appendingPathComponent("roster.mo").path
        #expect(try ChildProgram(URL(fileURLWithPath: msgfmt), ["-o", made, texts.path]).status == 0)
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team", width: 80, height: 24,
            environment: "LC_ALL=zh_CN.UTF-8 LANGUAGE= ROSTER_LOCALE_DIR='\(fixture.folder.path)'")
        try await terminal.wait(for: "the first screen") { $0.contains("Brazil") }
        try terminal.type("\\wins > ")
        try terminal.keys("Enter")
        try await terminal.wait(for: "the mistake") { $0.contains("应为键、值或谓词，却是结尾") }
    }

    @Test(.enabled(if: RosterProcess.canDropPrivileges, "the program cannot be run as somebody else"))
    func aStoreThatMayNotBeWrittenIsOfferedReadOnly() async throws {
        let fixture = try await Fixture.filled()
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: fixture.storeURL.path)
        let terminal = try Terminal(
            command: "\(RosterProcess.unprivileged) '\(Terminal.program)' '\(fixture.storeURL.path)' --entity Team",
            width: 80, height: 24, environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the question") {
            $0.contains("Cup.sqlite is not writable") && $0.contains("r open read-only")
        }
        try terminal.type("r")
        try await terminal.wait(for: "the list") { $0.contains("Brazil") && $0.contains("read-only") }
        try terminal.type("D")
        try await terminal.wait(for: "the refusal") { $0.contains("the store is open read-only") }
        try terminal.type("q")
        try await terminal.wait(for: "the end") { $0.contains("[status 0]") }
    }

    @Test func aCommandLineErrorIsPrintedInTheShell() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(fixture.storeURL.path)' --entity Club", width: 200, height: 24,
            environment: "LC_ALL=C.UTF-8")
        try await terminal.wait(for: "the end") { $0.contains("[status 2]") && $0.contains("no entity “Club”") }
    }

    /// Sends a signal to the program in the terminal.
    private func kill(_ terminal: Terminal, _ signal: Int32) throws {
        let pid = try terminal.run(["display-message", "-p", "#{pane_pid}"]).trimmingCharacters(
            in: .whitespacesAndNewlines)
        let children = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        let child = try #require(children.split(separator: " ").first.flatMap { Int32($0) })
        #expect(Glibc.kill(child, signal) == 0)
    }
}
