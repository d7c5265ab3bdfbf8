import Foundation
import OSLog
import Testing

@testable import os

/// Loggers as model layers use them.
@Suite struct LogTests {
    private final class Lines: Sendable {
        let all = OSAllocatedUnfairLock(initialState: [String]())
    }

    private func lines(
        level: String? = "debug", showsPrivate: Bool = false, _ write: () -> Void
    ) -> [String] {
        let lines = Lines()
        let output = LogOutput(level: level, showsPrivate: showsPrivate) { line in
            lines.all.withLock { $0.append(line) }
        }
        LogOutput.$current.withValue(output, operation: write)
        return lines.all.withLock { $0 }
    }

    private let logger = Logger(subsystem: "org.example.notes", category: "store")

    @Test func valuesAreHiddenUnlessTheyArePublic() {
        let name = "Ada", count = 3, error: any Error = CocoaError(.fileNoSuchFile)
        let write = {
            logger.info("\(count) notes of \(name), \(name, privacy: .public): \(error, privacy: .private)")
            logger.notice("\(true) \(2.5) \(7, privacy: .private) \(name, privacy: .private(mask: .hash))")
        }
        let hidden = lines(write)
        #expect(hidden[0] == "info: [org.example.notes:store] 3 notes of <private>, Ada: <private>")
        #expect(hidden[1].hasPrefix("default: [org.example.notes:store] true 2.5 <private> <mask.hash: "))
        #expect(lines(showsPrivate: true, write)[1].hasSuffix("true 2.5 7 Ada"))
    }

    @Test func valuesHaveFormats() {
        let write = {
            logger.debug("\(255, format: .hex(includePrefix: true)) \(-7, format: .decimal(minDigits: 3))")
            logger.debug("\(2.345, format: .fixed(precision: 1))|\("a", align: .right(columns: 3), privacy: .public)|")
            logger.debug("\(true, format: .answer)")
        }
        #expect(lines(write).map { $0.split(separator: "] ")[1] } == ["0xff -007", "2.3|  a|", "yes"])
    }

    @Test(arguments: [
        ("debug", ["debug", "info", "default", "error", "fault"]), ("default", ["default", "error", "fault"]),
        ("error", ["error", "fault"]), ("off", []),
    ])
    func aLevelIsTheLeast(_ level: String, _ expected: [String]) {
        let logger = Logger()
        let found = lines(level: level) {
            logger.debug("x")
            logger.info("x")
            logger.log("x")
            logger.warning("x")
            logger.critical("x")
        }
        #expect(found == expected.map { "\($0): x" })
    }

    @Test func aMessageThatIsNotWrittenIsNotMade() {
        var isMade = false
        func value() -> Int {
            isMade = true
            return 1
        }
        #expect(lines(level: "error") { logger.info("\(value())") }.isEmpty && !isMade)
    }

    @Test func functionsTakeFormats() {
        let log = OSLog(subsystem: "org.example.notes", category: "store"), name = "Ada"
        let found = lines {
            os_log("done", log: log, type: .info)
            os_log("%{public}@ has %d of %ld, %.1f %%", log: log, type: .error, name, 3, 4, 2.55)
            os_log(.debug, log: log, "%@ %{private}d %s", name, 5, name)
            os_log("one %d and %d", log: .default, type: .default, 1)
            os_log("never", log: .disabled)
        }
        let source = "[org.example.notes:store]"
        #expect(
            found == [
                "info: \(source) done", "error: \(source) Ada has 3 of 4, 2.5 %",
                "debug: \(source) <private> <private> <private>", "default: one 1 and <missing>",
            ])
    }

    @Test func signpostsDoNothing() {
        let signposter = OSSignposter(logger: logger)
        let log = OSLog(subsystem: "org.example.notes", category: .pointsOfInterest)
        let state = signposter.beginInterval("import", id: signposter.makeSignpostID(), "\(3) notes")
        signposter.emitEvent("half")
        signposter.endInterval("import", state)
        os_signpost(.begin, log: log, name: "save", signpostID: OSSignpostID(log: log), "%d objects", 3)
        os_signpost(.end, log: log, name: "save")
        #expect(signposter.withIntervalSignpost("fetch") { 3 } == 3 && !signposter.isEnabled && !log.signpostsEnabled)
    }

    @Test func aLockProtectsItsValue() async {
        let counter = OSAllocatedUnfairLock(initialState: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } } }
        }
        #expect(counter.withLock { $0 } == 8000)
        let plain = OSAllocatedUnfairLock()
        plain.lock()
        #expect(!plain.lockIfAvailable())
        plain.unlock()
        #expect(plain.withLock { true })
    }
}
