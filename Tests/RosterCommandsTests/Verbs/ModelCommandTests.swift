import CoreData
import Foundation
import Testing

@testable import RosterCommands

/// Printing, writing and compiling models.
@Suite struct ModelCommandTests {
    private let sample: SampleStore
    private let folder: TemporaryFolder
    private let surroundings = TestSurroundings()

    init() throws {
        sample = try SampleStore()
        folder = try TemporaryFolder()
    }

    private func printed(_ path: String, _ format: ModelFormat) throws -> [String] {
        let surroundings = TestSurroundings()
        try ModelCommand(path: path, format: format).run(in: surroundings.surroundings())
        return surroundings.lines
    }

    /// A store's model is written as source and compiled; all three are equal.
    @Test func aStoreBecomesASourceAndThatIsCompiled() throws {
        let source = folder.path("World.xcdatamodeld")
        try ModelCommand(path: sample.location.store, output: source).run(in: surroundings.surroundings())
        #expect(surroundings.text.isEmpty && surroundings.notes.isEmpty)
        let compiled = folder.path("World.momd")
        try ModelCompileCommand(path: source, output: compiled).run(in: surroundings.surroundings())
        let lines = try printed(sample.location.store, .json)
        #expect(try printed(source, .json) == lines)
        #expect(try printed(compiled, .json) == lines)
        let single = folder.path("One.mom")
        try ModelCompileCommand(path: sample.location.store, output: single).run(in: surroundings.surroundings())
        #expect(try printed(single, .json) == lines)
        #expect(try printed(source, .xcdatamodel) == printed(sample.location.store, .xcdatamodel))
    }

    @Test func diagramsHaveAllEntitiesAndOneLineForBothEnds() throws {
        let dot = try printed(SampleFiles.model, .dot)
        #expect(dot.first == "digraph model {" && dot.last == "}")
        #expect(dot.count { $0.contains("[label=<<table") } == 3)
        #expect(
            dot.contains(
                #"  "Team" -> "Venue" [dir=both, arrowhead=normal, arrowtail=crow, label="teams / homeVenue"];"#))
        let mermaid = try printed(SampleFiles.model, .mermaid)
        #expect(mermaid.first == "classDiagram")
        #expect(mermaid.contains("    class Team {") && mermaid.contains("        Integer_32 wins"))
        #expect(mermaid.count { $0.contains(" : ") } == 2)
    }

    @Test func allPartsOfAModelArePrinted() throws {
        let contents = """
            <model><entity name="A&lt;B" isAbstract="YES"><attribute name="n" attributeType="Integer 16"/>
            <attribute name="up" attributeType="String" derived="YES" derivationExpression="uppercase:(s)"/>
            <attribute name="s" attributeType="String"/>
            <relationship name="self" optional="YES" toMany="YES" destinationEntity="A&lt;B" inverseName="self"/>
            <fetchedProperty name="peers"><fetchRequest name="f" entity="C" predicateString="n == 1"/></fetchedProperty>
            <fetchIndex name="byS"><fetchIndexElement property="s" order="descending"/></fetchIndex></entity>
            <entity name="C" parentEntity="A&lt;B"/>
            <fetchRequest name="Big" entity="C" predicateString="n &gt; $MIN" fetchLimit="3"/>
            <configuration name="Local"><memberEntity name="C"/></configuration></model>
            """
        try FileManager.default.createDirectory(atPath: folder.path("X.xcdatamodel"), withIntermediateDirectories: true)
        _ = try folder.file("X.xcdatamodel/contents", contents)
        let path = folder.path("X.xcdatamodel")
        let text = try printed(path, .text)
        #expect(text.contains("A<B (abstract)") && text.contains("C: A<B"))
        #expect(text.contains("  index byS: s descending"))
        #expect(text.contains { $0.contains("derived from uppercase:(s)") })
        #expect(text.contains("configuration Local") && text.contains("  C where n > $MIN"))
        #expect(text.contains { $0.contains("fetched: C where n == 1") })
        let json = try printed(path, .json)
        #expect(json.contains(#"{"configuration":"Local","entities":["C"]}"#))
        #expect(json.contains(#"{"fetchRequest":"Big","entity":"C","predicate":"n > $MIN","limit":3}"#))
        let dot = try printed(path, .dot)
        #expect(dot.contains { $0.contains("<b><i>A&lt;B</i></b>") })
        #expect(dot.contains(#"  "C" -> "A<B" [arrowhead=onormal];"#))
        #expect(
            dot.contains(#"  "A<B" -> "A<B" [dir=both, arrowhead=crow, arrowtail=crow, label="self"];"#))
        let mermaid = try printed(path, .mermaid)
        #expect(mermaid.contains("    A_B <|-- C") && mermaid.contains("        <<abstract>>"))
    }

    /// Names that Mermaid does not support stay different.
    @Test func namesThatAreNotDiagramIdentifiers() throws {
        let path = try folder.file(
            "contents",
            """
            <model><entity name="A🏆"/><entity name="A🎽"><relationship name="r" maxCount="1" destinationEntity="A🏆"/></entity>
            <entity name="A_"/><entity name="B"/></model>
            """)
        let mermaid = try printed(path, .mermaid)
        #expect(mermaid.contains("    class A_") && mermaid.contains("    class B"))
        let words = ["A_2", "A_3"].map { word in mermaid.first { $0.hasPrefix("    class \(word)[") } ?? "" }
        #expect(Set(words.map { $0.suffix(6) }) == ["[\"A🏆\"]", "[\"A🎽\"]"])
        let line = try #require(mermaid.first { $0.contains(" : r") })
        #expect(line.contains("A_2 ") && line.contains("A_3 "))
    }

    @Test func outputIsWrittenToAFile() throws {
        try ModelCommand(path: SampleFiles.model, output: folder.path("m.dot")).run(in: surroundings.surroundings())
        #expect(try folder.contents("m.dot").hasPrefix("digraph model {"))
        try ModelCommand(path: SampleFiles.model, format: .xcdatamodel, output: folder.path("contents")).run(
            in: surroundings.surroundings())
        #expect(try folder.contents("contents").contains("<entity name=\"Team\""))
        #expect(surroundings.text.isEmpty)
    }

    @Test func mistakesAreReported() throws {
        var error = #expect(throws: CommandError.self) {
            try ModelCompileCommand(path: SampleFiles.model, output: folder.path("x.txt")).run(
                in: surroundings.surroundings())
        }
        #expect(error?.kind == .misuse)
        error = #expect(throws: CommandError.self) {
            try ModelCompileCommand(path: folder.path("no.xcdatamodeld"), output: folder.path("x.momd")).run(
                in: surroundings.surroundings())
        }
        #expect(error?.kind == .failure)
        _ = try folder.file("stands.momd", "text")
        let stands = #expect(throws: CocoaError.self) {
            try ModelCompileCommand(path: SampleFiles.model, output: folder.path("stands.momd")).run(
                in: surroundings.surroundings())
        }
        #expect(stands?.code == .fileWriteUnknown)
    }

    /// For a store of an old framework, the model is inferred, with a note.
    @Test(.enabled(if: OldStore.url != nil, "no corpus: set ROSTER_CORPUS"))
    func anInferredModelIsMarkedAsInferred() throws {
        let path = try #require(OldStore.url).path
        try ModelCommand(path: path).run(in: surroundings.surroundings())
        #expect(surroundings.notes.first?.contains("inferred from its tables") == true)
        #expect(surroundings.lines.contains("Book"))
        let list = TestSurroundings()
        try CountCommand(store: StoreLocation(store: path), entity: "Book").run(in: list.surroundings())
        #expect(list.lines == ["4"] && !list.notes.isEmpty)
        let copy = folder.path("copy.sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        let refused = #expect(throws: CocoaError.self) {
            try DeleteCommand(store: StoreLocation(store: copy), entity: "Book", predicate: "TRUEPREDICATE").run(
                in: surroundings.surroundings())
        }
        #expect(refused?.localizedDescription.contains("read-only") == true)
    }
}

/// A store without a model, if this machine has the corpus.
private enum OldStore {
    static let url: URL? = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["ROSTER_CORPUS"].map { URL(fileURLWithPath: $0) }
        let beside = [
            package.deletingLastPathComponent(), package.deletingLastPathComponent().deletingLastPathComponent(),
        ]
        let folders = [named].compactMap { $0 } + beside.map { $0.appendingPathComponent("shared/corpus") }
        return folders.map { $0.appendingPathComponent("stores/bookmigration-model1/Model1.sqlite") }
            .first { FileManager.default.fileExists(atPath: $0.path) }
    }()
}
