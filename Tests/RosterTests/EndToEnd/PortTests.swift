import Foundation
import TestSupport
import Testing

/// `roster port` runs `roster-port` with its arguments.
@Suite(.needs(.process)) struct PortTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func clear() { try? FileManager.default.removeItem(at: folder) }

    private func port(_ arguments: [String]) throws -> RosterProcess.Outcome {
        try RosterProcess.shell("PATH=\"$1:$PATH\"; shift; exec \"$roster\" port \"$@\"", [folder.path] + arguments)
    }

    @Test func argumentsAndExitStatusAreHandedOn() throws {
        defer { clear() }
        let companion = folder.appendingPathComponent("roster-port")
        try Data("#!/bin/sh\nprintf '<%s>\\n' \"$@\"; echo left >&2; exit 3\n".utf8).write(to: companion)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: companion.path)
        let outcome = try port(["-i", "a b"])
        #expect(outcome.status == 3 && outcome.lines == ["<--in-place>", "<-->", "<a b>"], "\(outcome.errors)")
        #expect(outcome.errorLines == ["left"])
        #expect(try port(["--json", "--", "-x"]).lines == ["<--json>", "<-->", "<-x>"])
        #expect(
            try port(["--package", "-i", "x", "--roster", "y z"]).lines
                == ["<--in-place>", "<--package>", "<--roster>", "<y z>", "<-->", "<x>"])
    }

    @Test func aMissingPortProgramIsReportedInOneLine() throws {
        defer { clear() }
        // A folder named `roster-port`, or a file that is not executable, is not run.
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("roster-port"), withIntermediateDirectories: true)
        let outcome = try RosterProcess.shell("PATH=\"$1\"; exec \"$roster\" port .", [folder.path])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("roster port: cannot run roster-port: "))
        #expect(outcome.errors.contains("Scripts/port"))
    }

    @Test func helpAndMisuseNeedNoOtherProgram() throws {
        defer { clear() }
        #expect(try RosterProcess.run(["port"]).status == 2)
        let help = try RosterProcess.run(["port", "--help"])
        #expect(
            help.status == 0 && help.output.hasPrefix("Usage: roster port DIR [OPTIONS]")
                && help.output.contains("--in-place"))
    }
}
