import Foundation

@testable import RosterCommands

/// Surroundings that record a command's output and can request its end.
final class TestSurroundings: TextOutput, ProgressDisplay, Interruption {
    private(set) var text = ""
    private(set) var progress: [String] = []
    private(set) var notes: [String] = []
    /// Number of progress reports after which the interruption is raised.
    var raisesAfterReports: Int?
    /// Number of checks for the interruption after which it is raised.
    var raisesAfterLooks: Int?
    private var looks = 0

    func write(_ text: String) throws { self.text += text }
    func flush() throws {}

    func report(fraction: Double?, _ text: @autoclosure () -> String) { progress.append(text()) }
    func end() {}

    var isRaised: Bool {
        defer { looks += 1 }
        return raisesAfterLooks.map { looks >= $0 } ?? raisesAfterReports.map { progress.count >= $0 } ?? false
    }
    func wait(for time: Duration) {}
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {}

    var lines: [String] { text.split(whereSeparator: \.isNewline).map(String.init) }

    /// - Parameter columns: the width of the screen; `nil` for no screen.
    func surroundings(columns: Int? = nil) -> CommandSurroundings {
        CommandSurroundings(
            output: self, progress: self, interruption: self,
            textStyle: TextStyle(columns: columns, isEmphasized: false, width: Self.width),
            note: { self.notes.append($0) })
    }

    /// An approximation for tests: CJK characters take two cells.
    static let width: @Sendable (String) -> Int = { text in
        text.unicodeScalars.reduce(0) { $0 + ((0x1100...0xD7FF).contains($1.value) ? 2 : 1) }
    }
}
