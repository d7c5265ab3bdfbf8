import Foundation
import Testing

@testable import TerminalKit

/// Escape sequences that set the clipboard.
@Suite struct ClipboardTests {
    @Test func aTerminalGetsThePlainSequence() {
        #expect(
            TerminalModes.copying("日本 a", type: "xterm-256color", isInTmux: false) == "\u{1B}]52;c;5pel5pysIGE=\u{07}")
    }

    @Test func tmuxGetsItForItselfAndForTheTerminalAroundIt() {
        let plain = "\u{1B}]52;c;aGk=\u{07}"
        #expect(
            TerminalModes.copying("hi", type: "tmux-256color", isInTmux: true)
                == plain + "\u{1B}Ptmux;\u{1B}" + plain + "\u{1B}\\")
    }

    @Test func screenGetsItInPieces() {
        let text = String(repeating: "x", count: 1200)
        let sequence = TerminalModes.copying(text, type: "screen", isInTmux: false)
        let pieces = sequence.components(separatedBy: "\u{1B}\\").dropLast()
        #expect(pieces.count == 3 && pieces.allSatisfy { $0.hasPrefix("\u{1B}P") && $0.utf8.count <= 768 })
        let joined = pieces.map { $0.dropFirst(2) }.joined()
        #expect(joined == "\u{1B}]52;c;" + Data(text.utf8).base64EncodedString() + "\u{07}")
    }
}
