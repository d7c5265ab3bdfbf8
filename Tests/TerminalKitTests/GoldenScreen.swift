import Foundation
import TerminalKit
import Testing

/// Compares a frame with the stored one in `Golden/`. `ROSTER_UPDATE_GOLDEN=1` overwrites the stored one.
func expectGolden(_ screen: ScriptedScreen, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden/\(name).txt")
    let dump = screen.dump()
    if ProcessInfo.processInfo.environment["ROSTER_UPDATE_GOLDEN"] == "1" {
        try dump.write(to: file, atomically: true, encoding: .utf8)
        return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(dump == expected, "\(name):\n\(dump)", sourceLocation: sourceLocation)
}

/// Paints one frame with a closure.
func paint(_ screen: ScriptedScreen, _ draw: (Canvas) -> Void) {
    let grid = CellGrid(size: screen.size)
    draw(Canvas(grid: grid, text: screen.text))
    screen.present(grid)
}
