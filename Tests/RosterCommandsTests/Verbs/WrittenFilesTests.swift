import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Output files of verbs: stores and the verbs' own input are never overwritten.
@Suite struct WrittenFilesTests {
    private let sample: SampleStore
    private var folder: TemporaryFolder { sample.folder }
    private var store: String { sample.location.store }

    init() throws { sample = try SampleStore() }

    private func export(to file: String) throws {
        try ExportCommand(store: sample.location, entity: "Team", file: file, format: .json)
            .run(in: TestSurroundings().surroundings())
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Every verb that writes a file, with a path.
    private func writers(_ path: String) -> [(verb: String, run: () throws -> Void)] {
        let surroundings = TestSurroundings().surroundings()
        return [
            ("export", { try export(to: path) }),
            ("model", { try ModelCommand(path: store, format: .json, output: path).run(in: surroundings) }),
            ("model compile", { try ModelCompileCommand(path: store, output: path).run(in: surroundings) }),
            (
                "model generate",
                {
                    try ModelGenerateCommand(path: SampleFiles.model, output: path).run(in: surroundings)
                }
            ),
            ("copy", { try CopyCommand(source: sample.location, destination: path).run(in: surroundings) }),
            ("create", { try CreateCommand(store: path, model: SampleFiles.model).run(in: surroundings) }),
        ]
    }

    /// A process that closes a descriptor of a file loses all its locks on it: other programs would take the store for closed.
    @Test func anOpenStoreKeepsItsLocks() throws {
        let url = URL(fileURLWithPath: store)
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let file = try #require(try FileManager.default.attributesOfItem(atPath: store)[.systemFileNumber])
        func isLocked() throws -> Bool {
            try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").contains {
                $0.contains(" POSIX ") && $0.contains(" \(getpid()) ") && $0.contains(":\(file) ")
            }
        }
        #expect(try isLocked())
        #expect(try sample.list().count > 1 && isLocked())
        for writer in writers(store) {
            #expect(throws: (any Error).self, "\(writer.verb)") { try writer.run() }
            #expect(try isLocked(), "\(writer.verb)")
        }
        #expect(try StoreWords.looksLikeStore(store) && isLocked())
        withExtendedLifetime(coordinator) {}
    }

    @Test func noVerbWritesOverAStoreOrAFileThatBelongsToOne() throws {
        for name in ["other.sqlite", "other.mom", "other.swift", "x.xml", "x.binary"] {
            let made = folder.path("made." + (name as NSString).pathExtension)
            let original =
                ["xml", "binary"].contains((name as NSString).pathExtension) ? made : folder.path("made.sqlite")
            if !FileManager.default.fileExists(atPath: original) {
                try CreateCommand(store: original, model: SampleFiles.model).run(in: TestSurroundings().surroundings())
            }
            try FileManager.default.copyItem(atPath: original, toPath: folder.path(name))
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.json"), withDestinationPath: store)
        let values = ".WorldCup_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: folder.path(values), withIntermediateDirectories: true)
        let names = [
            "WorldCup.sqlite", "WorldCup.sqlite-wal", "WorldCup.sqlite-shm", "WorldCup.sqlite-journal", "link.json",
            "other.sqlite", "other.mom", "other.swift", "other.swift-wal", "x.xml", "x.binary",
            "\(values)/0C9A7B7E-50C4-4B50-9C39-1B3C34B8A0F1",
        ]
        for name in names {
            let before = FileManager.default.contents(atPath: folder.path(name))
            for (verb, run) in writers(folder.path(name)) {
                #expect(throws: CommandError.self, "\(verb) to \(name)") { try run() }
                #expect(FileManager.default.contents(atPath: folder.path(name)) == before, "\(verb) to \(name)")
            }
        }
        #expect(try sample.count("Team") == 80)
    }

    @Test func noVerbWritesOverItsInput() throws {
        let model = folder.path("Model.mom")
        try ModelCompileCommand(path: SampleFiles.model, output: model).run(in: TestSurroundings().surroundings())
        let before = FileManager.default.contents(atPath: model)
        let surroundings = TestSurroundings().surroundings()
        #expect(throws: CommandError.self) {
            try ModelCommand(path: model, format: .json, output: model).run(in: surroundings)
        }
        #expect(throws: CommandError.self) { try ModelCompileCommand(path: model, output: model).run(in: surroundings) }
        #expect(FileManager.default.contents(atPath: model) == before)
    }

    @Test func aFileThatIsReplacedKeepsItsModeAndLinksAreFollowed() throws {
        let file = try folder.file("teams.json", "old")
        #expect(chmod(file, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.json"), withDestinationPath: "teams.json")
        try FileManager.default.createSymbolicLink(atPath: folder.path("new.json"), withDestinationPath: "made.json")
        try export(to: folder.path("link.json"))
        #expect(try folder.contents("teams.json").contains("Japan"))
        #expect(try mode(file) == 0o600)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.json")) == "teams.json")
        try export(to: folder.path("new.json"))
        #expect(try folder.contents("made.json").contains("Japan"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("new.json")) == "made.json")
        let model = folder.path("Model.mom")
        try Data().write(to: URL(fileURLWithPath: model))
        #expect(chmod(model, 0o640) == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path("Link.mom"), withDestinationPath: "Model.mom")
        try ModelCompileCommand(path: SampleFiles.model, output: folder.path("Link.mom"))
            .run(in: TestSurroundings().surroundings())
        #expect(try mode(model) == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("Link.mom")) == "Model.mom")
    }

    @Test func filesOfOtherKindsAreWrittenOver() throws {
        for text in ["<?xml version=\"1.0\"?><list/>", "bplist00 and more", "plain"] {
            let file = try folder.file("notes.txt", text)
            try export(to: file)
            #expect(try folder.contents("notes.txt").contains("Japan"))
        }
    }
}
