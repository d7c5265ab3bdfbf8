import Foundation
import RosterCommands
@preconcurrency import Glibc

/// A progress bar on standard error, shown only on a terminal and drawn at most ten times a second.
nonisolated final class ProgressBar: ProgressDisplay {
    private static let cells = 24
    private let isShown = isatty(STDERR_FILENO) == 1
    private var lastDrawn = Date.distantPast
    private var isDrawn = false

    func report(fraction: Double?, _ text: @autoclosure () -> String) {
        guard isShown, Date().timeIntervalSince(lastDrawn) >= 0.1 else { return }
        lastDrawn = Date()
        isDrawn = true
        let bar =
            fraction.map { fraction in
                let full = Int(Double(Self.cells) * fraction)
                return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: Self.cells - full)
                    + "] \(Int(fraction * 100)) % "
            } ?? ""
        draw("\r" + bar + text() + "\u{1B}[K")
    }

    func end() {
        if isDrawn { draw("\r\u{1B}[K") }
        isDrawn = false
    }

    private func draw(_ text: String) { StandardError.send(text) }
}
