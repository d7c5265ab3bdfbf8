import Foundation
import Testing

/// Ends the process with a line on standard error if a scene exceeds a time limit. For tests that might hang, each in
/// its own process.
final class Watchdog: @unchecked Sendable {
    private let lock = NSLock()
    private var name = ""
    private var number = 0

    /// Name of the current scene.
    var scene: String {
        get { lock.withLock { name } }
        set { lock.withLock { (name, number) = (newValue, number + 1) } }
    }

    /// - Parameter seconds: time limit of a scene, on a busy machine.
    init(seconds: Double = 120) {
        let thread = Thread { [self] in
            var last = -1
            while true {
                let now = lock.withLock { number }
                if now == last { Self.fail("hangs: \(scene)") }
                last = now
                Thread.sleep(forTimeInterval: seconds)
            }
        }
        thread.start()
    }

    /// Ends the process. ``expectNothing(of:)`` reads the message, which a failure status would hide.
    static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data("SCENE \(text)\n".utf8))
        _exit(EXIT_SUCCESS)
    }

    static func expectNothing(of result: ExitTest.Result?) {
        let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("SCENE") } == [])
    }

    /// Runs `body` on a thread that may block.
    static func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread {
                body()
                continuation.resume()
            }.start()
        }
    }
}
