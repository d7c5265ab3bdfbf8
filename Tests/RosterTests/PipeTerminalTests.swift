import Foundation
import TestSupport
import Testing

/// The program in pipes, on a real terminal.
@Suite(.serialized, .needs(.terminal), .enabled(if: Terminal.isAvailable, "needs tmux and the built program"))
struct PipeTerminalTests {
    private func shell(_ script: String, width: Int = 80) throws -> Terminal {
        let quoted = script.replacingOccurrences(of: "'", with: "'\\''")
        return try Terminal(
            command: "sh -c '\(quoted)'", width: width, height: 24,
            environment: "LC_ALL=C.UTF-8 roster=\(Terminal.program)")
    }

    @Test func aScriptAsksWhichRecords() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try shell(
            "picked=$($roster \(fixture.storeURL.path) --entity Team --pick=teamName); echo \"[$picked $?]\"")
        try await terminal.wait(for: "the list") { $0.contains("Argentina") && $0.contains("Enter pick") }
        try terminal.keys("j", "Enter")
        try await terminal.wait(for: "the answer") { $0.contains("[Atlantis 0]") }
        let other = try shell("picked=$($roster \(fixture.storeURL.path) --entity Team --pick); echo \"[$picked $?]\"")
        try await other.wait(for: "the list") { $0.contains("Argentina") }
        try other.keys("Escape")
        try await other.wait(for: "the cancelled answer") { $0.contains("[ 1]") }
    }

    @Test func valuesWithLineBreaksArePickedForXargs() async throws {
        let terminal = try shell(
            "printf '{\"name\":\"a\\\\nb\"}{\"name\":\"c\"}' | $roster --pick=name --null | xargs -0 printf '<%s>' | od -c"
        )
        try await terminal.wait(for: "the records") { $0.contains("a␊b") }
        try terminal.keys("Enter")
        try await terminal.wait(for: "the answer") { $0.contains("<   a  \\n   b   >") }
    }

    @Test func recordsOfAPipeAreShownAndPicked() async throws {
        let terminal = try shell(
            "printf 'Full Name,Age,Since\\nAda,36,1815-12-10\\n东京,7,1999-01-01\\n' | $roster --pick=fullName > out$$; "
                + "echo \"[$? $(cat out$$)]\"; rm out$$")
        try await terminal.wait(for: "the records") {
            $0.contains("2 records read") && $0.contains("东京") && $0.contains("Age")
                && $0.contains("1815-12-10")
        }
        try terminal.keys("j", "Enter")
        try await terminal.wait(for: "the answer") { $0.contains("[0 东京]") }
    }

    @Test func recordsOfANamedFileAreShown() async throws {
        let terminal = try shell(
            "f=$(mktemp --suffix=.csv); printf 'name;age\\nAda;36\\n' > $f; $roster $f --delimiter ';'; "
                + "rm $f; echo \"[$?]\"", width: 120)
        try await terminal.wait(for: "the records") {
            $0.contains("1 Record") && $0.contains("Ada") && $0.contains("36")
        }
        try terminal.keys("q")
        try await terminal.wait(for: "the end") { $0.contains("[0]") }
    }

    /// If there is nothing to pick from, the sample is not shown instead.
    @Test func pickReportsAnEmptyPipe() async throws {
        let terminal = try shell("printf '' | $roster --pick=name; echo \"[$?]\"")
        try await terminal.wait(for: "the refusal") {
            $0.contains("standard input has no records") && $0.contains("[1]")
        }
    }

    @Test func anEmptyPipeIsReported() async throws {
        let terminal = try shell(": | $roster; echo \"[$?]\"")
        try await terminal.wait(for: "the refusal") {
            $0.contains("standard input has no records") && $0.contains("[1]")
        }
    }

    @Test func aHeaderLineIsReported() async throws {
        let lines = try shell("printf 'n\\n1\\n2\\n3\\n4\\n' | $roster", width: 120)
        try await lines.wait(for: "the records") {
            $0.contains("4 records read from standard input, columns named by")
        }
        // A line of numbers does not contain column names.
        let numbers = try shell("seq 5 | $roster", width: 120)
        try await numbers.wait(for: "the numbers") { $0.contains("5 records read from standard input; :export") }
        let objects = try shell("echo '{\"a\": 1}' | $roster", width: 120)
        try await objects.wait(for: "the record") { $0.contains("1 record read from standard input; :export") }
    }

    @Test func invalidRecordsAreReportedWithTheirLine() async throws {
        let terminal = try shell("printf '{\"a\": 1}\\n{\"a\": \\n' | $roster -; echo \"[$?]\"")
        try await terminal.wait(for: "the refusal") { $0.contains("standard input:") && $0.contains("[1]") }
    }

    /// tmux accepts clipboard text from a program if configured to.
    @Test func copiedTextIsOnTheClipboard() async throws {
        let fixture = try await Fixture.filled()
        let terminal = try shell("$roster \(fixture.storeURL.path) --entity Team")
        try terminal.run(["set", "-s", "set-clipboard", "on"])
        try await terminal.wait(for: "the list") { $0.contains("Argentina") }
        try terminal.type("yc")
        try await terminal.wait(for: "the copy") { $0.contains("copied Team name: Argentina") }
        #expect(try terminal.run(["show-buffer"]) == "Argentina")
    }
}
