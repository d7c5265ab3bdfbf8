import CNcursesw
import Foundation

/// The modes of the terminal beyond those that curses sets, and the text that undoes everything.
struct TerminalModes {
    private let descriptor: Int32
    private let type: String
    /// Whether the terminal follows xterm closely enough for its private modes to be harmless.
    let isXtermLike: Bool
    /// Whether the terminal said that it can show a frame at once.
    var synchronizesUpdates = false

    init(type: String, descriptor: Int32) {
        self.descriptor = descriptor
        self.type = type
        let families = [
            "xterm", "tmux", "screen", "foot", "alacritty", "wezterm", "ghostty", "rxvt", "st-", "vte", "konsole",
            "contour",
            "kitty", "gnome", "iterm",
        ]
        isXtermLike = families.contains { type.hasPrefix($0) }
    }

    /// What a program that was killed may have left on: mouse reports of every kind, and reports of focus.
    private static let reportsOff = "\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1003l\u{1B}[?1006l\u{1B}[?1004l"

    /// Ends the reports that a program before this one asked for. Called before curses asks for its own.
    func clearForeignReports() { if isXtermLike { send(Self.reportsOff) } }

    /// Bracketed paste.
    func enter() { if isXtermLike { send("\u{1B}[?2004h") } }

    func leave() { if isXtermLike { send("\u{1B}[?2004l" + Self.reportsOff) } }

    /// Asks for synchronized updates, and what the terminal is (DA1); the answers come as input, whenever they come.
    func ask() { if isXtermLike { send("\u{1B}[?2026$p\u{1B}[c") } }

    func copy(_ text: String) -> Bool {
        guard isXtermLike else { return false }
        send(Self.copying(text, type: type, isInTmux: ProcessInfo.processInfo.environment["TMUX"]?.isEmpty == false))
        return true
    }

    /// What puts text on the clipboard (OSC 52). Within tmux it is sent to tmux, and once more to the terminal around it,
    /// as tmux keeps or passes it by two settings of its own; screen only passes.
    static func copying(_ text: String, type: String, isInTmux: Bool) -> String {
        let sequence = "\u{1B}]52;c;" + Data(text.utf8).base64EncodedString() + "\u{07}"
        if isInTmux {
            return sequence + "\u{1B}Ptmux;" + sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}") + "\u{1B}\\"
        }
        guard type.hasPrefix("screen") else { return sequence }
        // Screen takes strings of up to 768 bytes.
        var result = ""
        var rest = sequence[...]
        while !rest.isEmpty {
            result += "\u{1B}P" + rest.prefix(700) + "\u{1B}\\"
            rest = rest.dropFirst(700)
        }
        return result
    }

    func beginFrame() { if synchronizesUpdates { send("\u{1B}[?2026h") } }

    func endFrame() { if synchronizesUpdates { send("\u{1B}[?2026l") } }

    /// Empties the line on which the shell goes on, where there is no screen beneath ours to return to.
    func clearLastLine() {
        guard ncurses_capability("rmcup") == nil, let clear = ncurses_capability("el") else { return }
        send("\r" + Self.withoutPadding(String(cString: clear)))
    }

    /// A capability without the times to wait that terminals once needed: `$<2>`.
    private static func withoutPadding(_ capability: String) -> String {
        var text = capability
        while let start = text.range(of: "$<"), let end = text.range(of: ">", range: start.upperBound..<text.endIndex) {
            text.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return text
    }

    /// Everything that puts the terminal in order, for the moment when nothing else can run any more.
    var reset: String {
        var text = isXtermLike ? "\u{1B}[?2026l\u{1B}[?2004l" + Self.reportsOff : ""
        for name in ["sgr0", "rmkx", "cnorm", "rmcup"] {
            if let capability = ncurses_capability(name) { text += Self.withoutPadding(String(cString: capability)) }
        }
        return text + "\r\n"
    }

    /// Writes to the terminal beside curses.
    // SAFETY: `write` reads the bytes during the call, while the slice holds them.
    func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
