import Foundation

/// A program that tests run to its end.
public struct ChildProgram: Sendable {
    /// What it printed on standard output and standard error.
    public let output: String
    public let status: Int32

    /// Runs a program.
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

    /// Calls `start`, which makes pipes and starts a program with them, while no other thread of the tests does so.
    ///
    /// A program that is started in between inherits the pipes. One that lives on, such as a server of tmux, keeps them open, and a test
    /// that waits for their end waits for ever.
    public static func startAlone<Result>(_ start: () throws -> Result) rethrows -> Result {
        try starting.withLock(start)
    }

    /// Runs a program of this package, which stands beside the tests.
    public init(built name: String, _ arguments: [String]) throws {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        try self.init(folder.appendingPathComponent(name), arguments)
    }

    /// Runs a program of the system's, which the path leads to.
    public init(named name: String, _ arguments: [String]) throws {
        try self.init(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments)
    }
}
