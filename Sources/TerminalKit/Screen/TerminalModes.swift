import CNcursesw
import Foundation

/// The terminal modes that curses does not set, and the text that undoes them.
struct TerminalModes {
    private let descriptor: Int32
    private let type: String
    /// True if the terminal is similar enough to xterm for its private modes to be harmless.
    let isXtermLike: Bool
    /// True if the terminal has reported that it supports synchronized updates.
    var synchronizesUpdates = false
    private let usesMouse: Bool

    init(type: String, descriptor: Int32, usesMouse: Bool) {
        self.descriptor = descriptor
        self.type = type
        self.usesMouse = usesMouse
        let families = [
            "xterm", "tmux", "screen", "foot", "alacritty", "wezterm", "ghostty", "rxvt", "st-", "vte", "konsole",
            "contour",
            "kitty", "gnome", "iterm",
        ]
        isXtermLike = families.contains { type.hasPrefix($0) }
    }

    /// Turns off all mouse reports and focus reports, which a killed program may have left on.
    private static let reportsOff = "\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1003l\u{1B}[?1006l\u{1B}[?1004l"

    /// Turns off the reports requested by a previous program. Called before curses requests its own.
    func clearForeignReports() { if isXtermLike { send(Self.reportsOff) } }

    /// Turns on bracketed paste, and mouse reports without a limit of columns. Curses asks for these only if the
    /// terminal's description has them.
    func enter() { if isXtermLike { send("\u{1B}[?2004h" + (usesMouse ? "\u{1B}[?1006h" : "")) } }

    func leave() { if isXtermLike { send("\u{1B}[?2004l" + Self.reportsOff) } }

    /// Queries synchronized updates and the terminal's identity (DA1). The replies arrive as input, at any time.
    func ask() { if isXtermLike { send("\u{1B}[?2026$p\u{1B}[c") } }

    func copy(_ text: String) -> Bool {
        guard isXtermLike else { return false }
        send(Self.copying(text, type: type, isInTmux: ProcessInfo.processInfo.environment["TMUX"]?.isEmpty == false))
        return true
    }

    /// The sequence that copies text to the clipboard (OSC 52). tmux gets it once for itself and once for the outer
    /// terminal, because two of its settings control storing and passing; screen only passes it.
    static func copying(_ text: String, type: String, isInTmux: Bool) -> String {
        let sequence = "\u{1B}]52;c;" + Data(text.utf8).base64EncodedString() + "\u{07}"
        if isInTmux {
            return sequence + "\u{1B}Ptmux;" + sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}") + "\u{1B}\\"
        }
        guard type.hasPrefix("screen") else { return sequence }
        // Screen accepts strings of up to 768 bytes.
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

    /// Clears the line in which the shell continues, if the terminal has no alternate screen.
    func clearLastLine() {
        guard ncurses_capability("rmcup") == nil, let clear = ncurses_capability("el") else { return }
        send("\r" + Self.withoutPadding(String(cString: clear)))
    }

    /// Removes the delays from a capability, which old terminals needed: `$<2>`.
    private static func withoutPadding(_ capability: String) -> String {
        var text = capability
        while let start = text.range(of: "$<"), let end = text.range(of: ">", range: start.upperBound..<text.endIndex) {
            text.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return text
    }

    /// The text that restores the terminal, for use when no other code can run.
    var reset: String {
        var text = isXtermLike ? "\u{1B}[?2026l\u{1B}[?2004l" + Self.reportsOff : ""
        for name in ["sgr0", "rmkx", "cnorm", "rmcup"] {
            if let capability = ncurses_capability(name) { text += Self.withoutPadding(String(cString: capability)) }
        }
        return text + "\r\n"
    }

    /// Writes to the terminal directly, bypassing curses.
    // SAFETY: `write` reads the bytes during the call, while the slice retains them.
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
