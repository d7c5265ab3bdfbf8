import Foundation
import Testing

/// `roster-port` as a process.
@Suite struct ProgramTests {
    private let folder: URL
    private static let before =
        "import CoreData\nextension Note { @NSManaged var title: String? }\nlet s = #selector(A.b)\n"
    private static let after =
        "import CoreData\nextension Note { @Managed var title: String? }\nlet s = #selector(A.b)\n"

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.before.utf8).write(to: folder.appendingPathComponent("Note.swift"))
    }

    private var text: String {
        get throws { try String(contentsOf: folder.appendingPathComponent("Note.swift"), encoding: .utf8) }
    }

    private func clear() { try? FileManager.default.removeItem(at: folder) }

    @Test func theDiffIsForPatch() throws {
        defer { clear() }
        let outcome = try PortProcess.shell(
            "cd \"$1\" && \"$roster\" . > ../$(basename \"$1\").diff; echo $?; git apply ../$(basename \"$1\").diff; echo $?; rm ../$(basename \"$1\").diff",
            [folder.path])
        #expect(outcome.lines == ["3", "0"])
        #expect(
            outcome.errorLines.count == 2 && outcome.errors.hasPrefix("#selector: ")
                && outcome.errorLines.last == "1 file, 1 edit, 1 place left: 1 selectors", "\(outcome.errors)")
        #expect(try text == Self.after)
    }

    @Test func inPlaceChangesTheFile() throws {
        defer { clear() }
        let outcome = try PortProcess.run(["--in-place", folder.path])
        #expect(outcome.status == 3 && outcome.lines == ["ported \(folder.path)/Note.swift"])
        #expect(try text == Self.after)
        let again = try PortProcess.run(["-i", folder.path])
        #expect(again.status == 3 && again.output.isEmpty)
    }

    /// Killed at any moment, a run leaves files that are old or new as a whole; a second run ports the rest and leaves nothing else.
    @Test func aSecondRunFinishesAKilledOne() throws {
        defer { clear() }
        let names = (0..<20).map { "Note\($0).swift" }
        for delay in stride(from: 0.0, through: 0.1, by: 0.02) {
            clear()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for name in names { try Data(Self.before.utf8).write(to: folder.appendingPathComponent(name)) }
            _ = try PortProcess.shell("\"$roster\" -i \"$1\" & sleep \(delay); kill -9 $!; wait", [folder.path])
            for name in names {
                let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                #expect(text == Self.before || text == Self.after)
            }
            #expect(try PortProcess.run(["-i", folder.path]).status == 3)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names.sorted())
            for name in names {
                #expect(
                    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) == Self.after)
            }
        }
    }

    @Test func exitStatusesAreThoseOfAllVerbs() throws {
        defer { clear() }
        let missing = try PortProcess.run(["/nowhere/at/all"])
        #expect(missing.status == 1 && missing.errorLines.count == 1)
        #expect(try PortProcess.run([]).status == 2)
        #expect(try PortProcess.run([folder.appendingPathComponent("Note.swift").path]).status == 2)
        let help = try PortProcess.run(["--help"])
        #expect(
            help.status == 0 && help.output.hasPrefix("Usage: roster port DIR [OPTIONS]")
                && help.output.contains("--in-place"))
    }

    /// If a file cannot be written, it is unchanged and the other files are ported.
    @Test(.enabled(if: PortProcess.canDropPrivileges))
    func anUnwritableFileIsReported() throws {
        defer { clear() }
        try Data(Self.before.utf8).write(to: folder.appendingPathComponent("Other.swift"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o444], ofItemAtPath: folder.appendingPathComponent("Note.swift").path)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o666], ofItemAtPath: folder.appendingPathComponent("Other.swift").path)
        let outcome = try PortProcess.runUnprivileged(["--in-place", folder.path])
        #expect(
            outcome.status == 1 && outcome.errors.contains("cannot write \(folder.path)/Note.swift: Permission denied"))
        #expect(outcome.lines == ["ported \(folder.path)/Other.swift"])
        #expect(try text == Self.before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["Note.swift", "Other.swift"])
    }

    /// Porting the originals in `Examples/Ported` gives the files there.
    @Test func theExamplesAreMadeByTheProgram() throws {
        defer { clear() }
        let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/Ported")
        let outcome = try PortProcess.shell(
            """
            cp -r "$1/Apple/." "$2" && rm "$2/Note.swift" && "$roster" --in-place "$2" > "$2/out"; wc -l < "$2/out"
            diff -r --exclude=out --exclude='*.xcdatamodeld' "$2/Sources" "$1/Sources" && diff -r "$2/Tests" "$1/Tests" && echo same
            """, [examples.path, folder.path])
        #expect(outcome.lines == ["20", "same"], "\(outcome.output)")
        #expect(outcome.errorLines.last?.hasSuffix(" edits, 1 place left: 1 Objective-C") == true, "\(outcome.errors)")
    }
}
