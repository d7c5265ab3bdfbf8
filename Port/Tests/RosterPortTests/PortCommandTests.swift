import Foundation
import Testing

@testable import RosterPort

/// `port` on folders: its output, the changed files, and the unchanged ones.
@Suite struct PortCommandTests {
    private let folder: TemporaryFolder
    private static let before = "import CoreData\n\nextension Note {\n    @NSManaged var title: String?\n}\n"
    private static let after = "import CoreData\n\nextension Note {\n    @Managed var title: String?\n}\n"

    init() throws { folder = try TemporaryFolder() }

    private func write(_ path: String, _ text: String) throws {
        let url = folder.url.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// - Returns: The printed text, the remarks, and the number of remaining places.
    private func port(
        _ path: String = "", inPlace: Bool = false
    ) throws -> (text: String, remarks: [String], left: Int) {
        let surroundings = Collected()
        var remarks: [String] = []
        let left = try PortCommand(path: folder.url.appendingPathComponent(path).path, isInPlace: inPlace).run(
            in: surroundings.surroundings()
        ) { remarks.append($0) }
        return (surroundings.text, remarks, left)
    }

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test func theDiffOfAllFilesIsForPatch() throws {
        try write("Sources/Note.swift", Self.before)
        try write("Sources/Deep/er/Tag.swift", "@objc class Tag {}\n")
        try write("Sources/Plain.swift", "let a = 1\n")
        try write("Sources/Readme.txt", Self.before)
        let printed = try port()
        #expect(
            printed.text == """
                --- a/Sources/Deep/er/Tag.swift
                +++ b/Sources/Deep/er/Tag.swift
                @@ -1 +1 @@
                -@objc class Tag {}
                +class Tag {}
                --- a/Sources/Note.swift
                +++ b/Sources/Note.swift
                @@ -1,5 +1,5 @@
                 import CoreData
                 \n extension Note {
                -    @NSManaged var title: String?
                +    @Managed var title: String?
                 }

                """)
        #expect(try folder.contents("Sources/Note.swift") == Self.before && printed.left == 0)
        #expect(printed.remarks == ["2 files, 2 edits, 0 places left"])
    }

    @Test func inPlaceChangesTheFilesAndKeepsTheirPermissions() throws {
        try write("Note.swift", Self.before)
        try write("Plain.swift", "let a = 1\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("Note.swift"))
        let plain = try FileManager.default.attributesOfItem(atPath: folder.path("Plain.swift"))
        let printed = try port(inPlace: true)
        #expect(
            printed.text == "ported \(folder.url.path)/Note.swift\n"
                || printed.text == "ported \(folder.url.path)//Note.swift\n")
        #expect(try folder.contents("Note.swift") == Self.after)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("Note.swift"))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        let plainNow = try FileManager.default.attributesOfItem(atPath: folder.path("Plain.swift"))
        #expect(plainNow[.modificationDate] as? Date == plain[.modificationDate] as? Date)
        #expect(plainNow[.systemFileNumber] as? Int == plain[.systemFileNumber] as? Int)
        #expect(try files() == ["Note.swift", "Plain.swift"])
        #expect(try port(inPlace: true).text.isEmpty)
    }

    /// A killed run leaves at most one file, which the next run replaces.
    @Test func theFileOfAKilledRunIsReplaced() throws {
        try write("Note.swift", Self.before)
        try write("Note.swift.roster-port.part", "half")
        _ = try port(inPlace: true)
        #expect(try files() == ["Note.swift"] && folder.contents("Note.swift") == Self.after)
    }

    @Test func linksAndFoldersOfToolsAreNotChanged() throws {
        let elsewhere = try TemporaryFolder()
        _ = try elsewhere.file("Away.swift", Self.before)
        for path in [
            ".build/A.swift", ".hidden/A.swift", "Pods/A.swift", "App/DerivedData/A.swift", "Carthage/A.swift",
            ".A.swift",
            "A.swift.txt",
        ] { try write(path, Self.before) }
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: folder.path("Link.swift"), withDestinationPath: elsewhere.path("Away.swift"))
        try manager.createSymbolicLink(atPath: folder.path("Folder"), withDestinationPath: elsewhere.url.path)
        try manager.createSymbolicLink(atPath: folder.path("Loop"), withDestinationPath: ".")
        #expect(mkfifo(folder.path("Pipe.swift"), 0o600) == 0)
        let printed = try port(inPlace: true)
        #expect(printed.text.isEmpty && printed.remarks.isEmpty)
        #expect(try elsewhere.contents("Away.swift") == Self.before)
        #expect(
            try manager.destinationOfSymbolicLink(atPath: folder.path("Link.swift")) == elsewhere.path("Away.swift"))
        // The path of the folder itself may be a link.
        try write("Real/Note.swift", Self.before)
        try manager.createSymbolicLink(atPath: folder.path("Named"), withDestinationPath: "Real")
        _ = try port("Named", inPlace: true)
        #expect(try folder.contents("Real/Note.swift") == Self.after)
    }

    @Test func remainingPlacesNameFileAndLine() throws {
        try write("Bad.swift", "let a = \"\n")
        try write("Watch.swift", "import CoreData\n\nlet s = #selector(A.b)\n")
        let printed = try port()
        #expect(printed.text.isEmpty && printed.remarks.count == 3 && printed.left == 2)
        #expect(
            printed.remarks[0].contains("Correct it and port again: ") && printed.remarks[0].hasSuffix("Bad.swift:1")
        )
        #expect(printed.remarks[1].hasPrefix("#selector: ") && printed.remarks[1].hasSuffix("Watch.swift:3"))
        #expect(printed.remarks[2] == "0 files, 0 edits, 2 places left: 1 unread files, 1 selectors")
    }

    /// Each sentence is printed once, as text and as JSON.
    @Test func placesOfOneSentenceAreOnOneLine() throws {
        for name in ["A", "B"] { try write("\(name).swift", "import CoreData\n\nlet s = #selector(A.b)\n") }
        let printed = try port()
        #expect(printed.remarks.count == 2 && printed.left == 2)
        #expect(printed.remarks[0].contains("A.swift:3, ") && printed.remarks[0].hasSuffix("B.swift:3"))
        let surroundings = Collected()
        let command = PortCommand(path: folder.url.path, printsReport: true)
        #expect(
            try command.run(in: surroundings.surroundings()) { _ in Issue.record("the report is in the output") } == 2)
        let report = try JSONSerialization.jsonObject(with: Data(surroundings.text.utf8)) as? [String: Any]
        #expect(report?["placesLeft"] as? Int == 2 && (report?["groups"] as? [[String: Any]])?.count == 1)
    }

    @Test func aNameCannotSpeakToTheScreen() throws {
        try write("a\u{1B}[2J.swift", "let s = #selector(A.b)\n@objc class A {}\n")
        let printed = try port()
        #expect(!printed.text.contains("\u{1B}") && !printed.remarks[0].contains("\u{1B}"))
    }

    @Test func aScreenShowsLinesAndTabs() throws {
        try write("a.swift", "\t@objc\tclass A {} // \u{1B}[2J\n")
        let surroundings = Collected()
        _ = try PortCommand(path: folder.url.path).run(in: surroundings.surroundings(isOnScreen: true)) { _ in }
        #expect(surroundings.text.hasSuffix("-\t@objc\tclass A {} // ␛[2J\n+\tclass A {} // ␛[2J\n"))
    }

    @Test func mistakesAreErrors() throws {
        try write("Note.swift", Self.before)
        #expect(throws: CommandError.self) { try port("nowhere") }
        do {
            _ = try port("Note.swift")
            Issue.record("a file is not a folder")
        } catch let error as CommandError {
            #expect(error.kind == .misuse && error.message.hasSuffix("Note.swift is not a folder"))
        }
    }

    @Test func aStopIsClean() throws {
        for number in 0..<5 { try write("Note\(number).swift", Self.before) }
        let surroundings = Collected()
        surroundings.stopsAfter = 2
        #expect(throws: CommandError.self) {
            _ = try PortCommand(path: folder.url.path, isInPlace: true).run(in: surroundings.surroundings()) { _ in }
        }
        let texts = try files().map { try folder.contents($0) }
        #expect(texts == [Self.after, Self.after, Self.before, Self.before, Self.before])
    }
}
