import Foundation

@testable import RosterPort

/// Collects the text that a command writes.
final class Collected {
    private(set) var text = ""
    private var count = 0
    /// Number of writes after which the command is asked to stop.
    var stopsAfter = Int.max

    func surroundings(isOnScreen: Bool = false) -> Surroundings {
        Surroundings(
            write: {
                self.text += $0
                self.count += 1
            }, isOnScreen: isOnScreen, isStopped: { self.count >= self.stopsAfter })
    }
}

/// A folder that is removed with the object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("port-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
    func contents(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    func file(_ name: String, _ text: String) throws -> URL {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return url.appendingPathComponent(name)
    }
}
