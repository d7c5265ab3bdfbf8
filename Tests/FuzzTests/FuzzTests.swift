import Foundation
import Testing

/// What the program `FuzzTrials` finds: damaged input of each kind is read or refused with an error, and none stops the program.
///
/// `ROSTER_LONG_TESTS=n` tries 10·n times as many, from the seed n.
@Suite struct FuzzTests {
    private static let factor = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"].flatMap { Int($0) }

    @Test(arguments: [
        ("formats", 300), ("models", 100), ("compiled", 100), ("kept", 60), ("mappings", 300), ("archives", 300),
        ("caches", 30), ("stores", 12), ("binaries", 30), ("documents", 30),
    ])
    func damagedInputIsReadOrRefused(kind: String, count: Int) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("FuzzTrials")
        let tries = Self.factor.map { count * $0 * 10 } ?? count
        process.arguments = [kind, "\(Self.factor ?? 7)", "\(tries)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(kind):\n\(output)")
        // An attack that nothing notices tries nothing; that whole inputs are read the program itself makes sure of.
        #expect(output.contains(/, [1-9]\d* refused/) || kind == "caches", "\(output)")
        if Self.factor != nil { print(output) }
    }
}
