import Foundation

/// Runs the built program.
enum PortProcess {
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
        var errorLines: [String] { errors.split(whereSeparator: \.isNewline).map(String.init) }
    }

    /// The program in the build folder of the tests.
    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("roster-port")

    static func run(_ arguments: [String]) throws -> Outcome { try shell("exec \"$roster\" \"$@\"", arguments) }

    /// Runs the program as an unprivileged user, because root can write read-only files.
    static func runUnprivileged(_ arguments: [String]) throws -> Outcome {
        try shell("exec \(unprivileged) \"$roster\" \"$@\"", arguments)
    }

    private static let unprivileged = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""

    /// False if other users cannot read the build folder.
    static let canDropPrivileges: Bool = {
        let folder = FileManager.default.temporaryDirectory.path
        let line = "\(unprivileged) test -x \"$roster\" && \(unprivileged) test -x \"$1\""
        return (try? shell(line, [folder]).status) == 0
    }()

    /// Runs a shell command in which `$roster` is the program. Output is collected in files: a pipe could fill up.
    static func shell(_ line: String, _ arguments: [String] = []) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("port-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line, "sh"] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["LC_ALL": "C.UTF-8", "roster": program.path]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        return Outcome(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }
}
