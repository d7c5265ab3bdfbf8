import ChildProgram
import Foundation
import Synchronization

/// Runs the built program.
enum RosterProcess {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
        var errorLines: [String] { errors.split(whereSeparator: \.isNewline).map(String.init) }
    }

    /// The program in the build folder of the tests.
    static let program: URL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("roster")

    /// Runs `roster` to its end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Outcome {
        try run(program, arguments, input: input, environment: environment)
    }

    /// Runs `roster` as a user without write permission for read-only files. Root can write to any file.
    static func runUnprivileged(_ arguments: [String]) throws -> Outcome {
        try shell("exec \(unprivileged) \"$roster\" \"$@\"", arguments)
    }

    /// Prefix of a command that makes permissions effective; empty if not needed.
    static let unprivileged = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""

    /// True if a program can be run with the prefix. A build folder in root's home is not accessible to other users.
    static let canDropPrivileges: Bool = {
        (try? shell(
            "\(unprivileged) test -x \"$roster\" && \(unprivileged) test -x \"$1\"",
            [
                FileManager.default.temporaryDirectory.path
            ]
        ).status) == 0
    }()

    /// Runs a shell command in which `$roster` is the program.
    static func shell(_ line: String, _ arguments: [String] = []) throws -> Outcome {
        try run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", line, "sh"] + arguments, input: "",
            environment: ["roster": program.path])
    }

    private static func run(
        _ program: URL, _ arguments: [String], input: String, environment: [String: String]
    ) throws -> Outcome {
        let live = try LiveProcess(program, arguments, environment: environment)
        live.send(input)
        let status = live.waitForEnd()
        return Outcome(
            status: status, output: live.lines.joined(separator: "\n"), errors: live.errorLines.joined(separator: "\n"))
    }
}

/// A running program whose output lines are read as they arrive.
final class LiveProcess: @unchecked Sendable {
    private struct Text {
        var lines: [String] = []
        var errorLines: [String] = []
    }

    private let process = Process()
    private let input: Pipe
    private let text = Mutex(Text())
    private let ended = DispatchSemaphore(value: 0)

    /// A program that ends before it has read all its input must not end the tests.
    private static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        Self.ignoresBrokenPipes
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["LC_ALL": "C.UTF-8", "NO_COLOR": "1"]) { $1 }.merging(environment) { $1 }
        let process = process
        let (input, output, errors) = try ChildProgram.startAlone {
            let pipes = (Pipe(), Pipe(), Pipe())
            (process.standardInput, process.standardOutput, process.standardError) = pipes
            try process.run()
            return pipes
        }
        self.input = input
        read(output.fileHandleForReading, \.lines)
        read(errors.fileHandleForReading, \.errorLines)
    }

    convenience init(roster arguments: [String]) throws { try self.init(RosterProcess.program, arguments) }

    var lines: [String] { text.withLock { $0.lines } }
    var errorLines: [String] { text.withLock { $0.errorLines } }
    var isRunning: Bool { process.isRunning }
    var identifier: Int32 { process.processIdentifier }

    /// Writes to standard input and closes it.
    func send(_ text: String) {
        let handle = input.fileHandleForWriting
        // The program may have ended without reading its input; its output is what counts.
        try? handle.write(contentsOf: Data(text.utf8))
        try? handle.close()
    }

    /// Writes to standard input and keeps it open.
    func type(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

    /// The paths of its open files, pipes and devices, one for each descriptor.
    var openPlaces: [String] {
        let folder = "/proc/\(identifier)/fd/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0) }
    }

    func interrupt() { kill(process.processIdentifier, SIGINT) }
    func killAtOnce() { kill(process.processIdentifier, SIGKILL) }

    /// Waits until the program has ended and all its lines were read.
    /// - Returns: its exit status.
    @discardableResult
    func waitForEnd() -> Int32 {
        process.waitUntilExit()
        ended.wait()
        ended.wait()
        ended.signal()
        ended.signal()
        return process.terminationStatus
    }

    /// Waits until `condition` is true for the lines.
    /// - Returns: false after the time is over.
    func wait(_ seconds: Double, until condition: ([String]) -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end {
            if condition(lines) { return true }
            usleep(2000)
        }
        return condition(lines)
    }

    private func read(_ handle: FileHandle, _ place: WritableKeyPath<Text, [String]> & Sendable) {
        Thread.detachNewThread { [self] in
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest.append(data)
                while let end = rest.firstIndex(of: 0x0A) {
                    add(rest[..<end], place)
                    rest = rest[(end + 1)...]
                }
            }
            if !rest.isEmpty { add(rest, place) }
            ended.signal()
        }
    }

    private func add(_ line: Data, _ place: WritableKeyPath<Text, [String]> & Sendable) {
        let line = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        text.withLock { $0[keyPath: place].append(line) }
    }
}
