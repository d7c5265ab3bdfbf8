import Foundation
import Testing

/// Number of bytes that a cursor step sends to the terminal, which matters over slow connections.
@Suite(.serialized, .enabled(if: Terminal.isAvailable, "needs tmux and the built program")) struct CursorStepTests {
    @Test(arguments: [(width: 80, height: 24, limit: 150), (width: 200, height: 50, limit: 220)])
    func aStepSendsFewBytes(_ size: (width: Int, height: Int, limit: Int)) async throws {
        let sample = try SampleFolder()
        let terminal = try Terminal(
            command: "'\(Terminal.program)' '\(sample.store)' --entity Team --section qualifyingZone --sort wins:desc",
            width: size.width, height: size.height, environment: "LC_ALL=C.UTF-8 TERM=xterm-256color")
        try await terminal.wait(for: "the first screen") { $0.contains(" 1/80") }
        let record = sample.path("bytes")
        try terminal.run(["pipe-pane", "cat > '\(record)'"])
        for number in 2...7 {
            try terminal.keys("j")
            try await terminal.wait(for: "step \(number)") { $0.contains(" \(number)/80") }
        }
        try terminal.run(["pipe-pane"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: record)).count / 6
        // The limit is too low to redraw the record's title and the counter.
        #expect((20...size.limit).contains(bytes), "\(bytes) bytes a step")
    }
}
