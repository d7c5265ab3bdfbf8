import Foundation
import Testing

@testable import RosterCommands

/// `model generate`.
@Suite struct ModelGenerateTests {
    @Test func classesAreWrittenIntoAFolder() throws {
        let folder = try TemporaryFolder()
        let surroundings = TestSurroundings()
        try ModelGenerateCommand(path: SampleFiles.model, output: folder.path("Classes"))
            .run(in: surroundings.surroundings())
        #expect(surroundings.text == "generated Location, Team, Venue in \(folder.path("Classes"))\n")
        #expect(try folder.contents("Classes/Venue+CoreDataProperties.swift").contains("addToTeams(_ value: Team)"))
        try ModelGenerateCommand(path: SampleFiles.model, output: folder.path("All.swift"))
            .run(in: surroundings.surroundings())
        #expect(try folder.contents("All.swift").contains("nonisolated public class Location: NSManagedObject {"))
    }

    @Test func allClassesAreWrittenOrNone() throws {
        let folder = try TemporaryFolder()
        let command = ModelGenerateCommand(path: SampleFiles.model, output: folder.path("Classes"))
        let obstacle = folder.path("Classes/Venue+CoreDataProperties.swift")
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try command.run(in: TestSurroundings().surroundings()) }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("Classes"))
        #expect(left == ["Venue+CoreDataProperties.swift"])
        try FileManager.default.removeItem(atPath: obstacle)
        try command.run(in: TestSurroundings().surroundings())
        let written = try FileManager.default.contentsOfDirectory(atPath: folder.path("Classes"))
        #expect(written.count == 6 && !written.contains { $0.hasPrefix(".") }, "\(written)")
    }

    @Test func generationErrorsAreOneLine() throws {
        let folder = try TemporaryFolder()
        func message(_ contents: String, everything: Bool = false) throws -> String {
            let model = try folder.file("contents", "<model>\n\(contents)\n</model>")
            let command = ModelGenerateCommand(path: model, output: folder.path("X.swift"), everything: everything)
            let error = #expect(throws: CommandError.self) { try command.run(in: TestSurroundings().surroundings()) }
            return error?.message ?? ""
        }
        #expect(try message(#"<entity name="A" representedClassName="A"/>"#).contains("--all generates them anyway"))
        #expect(try message(#"<entity name="A"/>"#, everything: true).contains("names a class (representedClassName)"))
        #expect(
            try message(
                #"<entity name="A" representedClassName="A" codeGenerationType="class"><attribute name="hash"/></entity>"#
            ).hasPrefix(
                "\(folder.path("contents")):2: error: every managed object has a property with the name of 'A.hash'"))
    }
}
