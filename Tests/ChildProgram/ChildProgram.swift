import Foundation

/// A program that tests run to its end.
public struct ChildProgram: Sendable {
    /// Output on standard output and standard error.
    public let output: String
    public let status: Int32

    /// Runs a program and waits until it exits.
    public init(_ program: URL, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let pipe = try Self.startAlone {
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            return pipe
        }
        output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }

    private static let starting = NSLock()

    /// Runs `start`, which makes pipes and starts a program, while no other thread of the tests does the same.
    ///
    /// A program started in between would inherit the pipes. If it keeps running, such as a tmux server, the pipes stay
    /// open and a test that waits for end of file waits for ever.
    public static func startAlone<Result>(_ start: () throws -> Result) rethrows -> Result {
        try starting.withLock(start)
    }

    /// Runs a program of this package, which is in the folder of the test program.
    public init(built name: String, _ arguments: [String]) throws {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        try self.init(folder.appendingPathComponent(name), arguments)
    }

    /// Runs a program found in `PATH`.
    public init(named name: String, _ arguments: [String]) throws {
        try self.init(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments)
    }
}
