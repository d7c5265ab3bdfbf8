import Foundation
import ModelFiles
import Testing

@testable import ModelCompiler

/// The command `momc`.
@Suite struct CompilerToolTests {
    private struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    private func run(_ words: String...) -> Outcome {
        var output = ""
        var errors = ""
        let status = CompilerTool(output: { output += $0 }, errors: { errors += $0 }).run(words)
        return Outcome(status: status, output: output, errors: errors)
    }

    @Test func helpIsPrinted() {
        let outcome = run("--help")
        #expect(outcome.status == 0 && outcome.output.hasPrefix("Usage: momc") && outcome.errors.isEmpty)
        #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        ([], "MODEL is missing"), (["X.xcdatamodeld"], "OUT is missing"),
        (["a", "b.momd", "c"], "unexpected argument “c”"),
        (["--fast", "a", "b.momd"], "unknown flag --fast"), (["a", "b"], "“b” must end in .momd or .mom"),
        (["--module"], "--module needs a value"), (["--all", "a", "b.momd"], "--all is only valid with --generate"),
    ])
    func misuseHasItsOwnStatus(words: [String], message: String) {
        var errors = ""
        let status = CompilerTool(output: { _ in }, errors: { errors += $0 }).run(words)
        #expect(status == 2 && errors.hasPrefix("momc: \(message)"), "\(errors)")
    }

    @Test func flagsMayFollowArguments() throws {
        #expect(
            try CompilerTool.job(["a", "--generate", "--", "-b"])
                == .generate(model: "a", output: "-b", everything: false))
        #expect(
            try CompilerTool.job(["a.xcdatamodeld", "a.momd", "--module=Club"])
                == .compile(model: "a.xcdatamodeld", output: "a.momd", module: "Club"))
    }

    /// A mapping model is compiled to a `.cdm` file, with the module in the names of its policies.
    @Test func mappingModelsAreCompiled() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try ModelFile.read(Models.worldCup).model
        var mapping = EntityMappingDocument(name: "TeamToTeam")
        (mapping.sourceName, mapping.destinationName) = ("Team", "Team")
        mapping.policyClassName = ".TeamPolicy"
        mapping.attributes = [
            PropertyMappingDocument(name: "teamName", value: .keyPathOf(.variable("source"), "teamName"))
        ]
        let source = folder.appendingPathComponent("One.xcmappingmodel")
        try SourceMappingWriter.write([mapping], between: .init(source: model, destination: model), to: source)
        let compiled = folder.appendingPathComponent("One.cdm")
        #expect(run("--module", "Club", source.path, compiled.path).status == 0)
        let read = try #require(try CompiledMappingReader.read(compiled).first)
        #expect(read.policyClassName == "Club.TeamPolicy" && read.attributes == mapping.attributes)
        #expect(read.sourceHash != nil && read.sourceHash == read.destinationHash)
        // Without a policy and a type, Apple's compiler chooses “copy”, even if the entity's hashes differ.
        mapping.policyClassName = nil
        #expect(try type(of: mapping, from: model, to: model, in: folder) == 4)
        var changed = model
        let team = try #require(changed.entities.firstIndex { $0.name == "Team" })
        changed.entities[team].versionHashModifier = "another"
        #expect(try type(of: mapping, from: model, to: changed, in: folder) == 4)
        #expect(run(source.path, "One.mom").status == 2)
        #expect(
            run(folder.appendingPathComponent("None.xcmappingmodel").path, compiled.path).errors.contains(
                "does not exist"))
    }

    /// The type of a mapping after compiling and reading it.
    private func type(
        of mapping: EntityMappingDocument, from source: ModelDocument, to destination: ModelDocument, in folder: URL
    ) throws -> UInt? {
        let url = folder.appendingPathComponent("Typed.xcmappingmodel")
        try SourceMappingWriter.write([mapping], between: .init(source: source, destination: destination), to: url)
        return try SourceMappingReader.read(url).first?.type
    }

    @Test func filesAreOnlyWrittenWhenTheyChange() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let classes = folder.appendingPathComponent("Classes")
        #expect(run("--generate", Models.worldCup.path, classes.path).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: classes.path).sorted()
        #expect(names.count == 6 && names.first == "Location+CoreDataClass.swift")
        let kept = classes.appendingPathComponent("Team+CoreDataClass.swift")
        let damaged = classes.appendingPathComponent("Team+CoreDataProperties.swift")
        let long = Date(timeIntervalSinceNow: -1_000)
        for file in [kept, damaged] {
            try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: file.path)
        }
        try "x".write(to: damaged, atomically: true, encoding: .utf8)
        #expect(run("--generate", Models.worldCup.path, classes.path).status == 0)
        func isOld(_ file: URL) throws -> Bool {
            let date = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
            return abs(try #require(date).timeIntervalSince(long)) < 1
        }
        #expect(try isOld(kept))
        #expect(try !isOld(damaged))
        #expect(try String(contentsOf: damaged, encoding: .utf8).contains("public var wins: Int32 {"))
    }

    @Test func errorsNameTheirPlace() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appendingPathComponent("Bad.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let contents = model.appendingPathComponent("contents")
        try """
        <model>
        <entity name="A">
        <attribute name="x" attributeType="Number"/>
        </entity>
        </model>
        """.write(to: contents, atomically: true, encoding: .utf8)
        let outcome = run("--generate", model.path, folder.appendingPathComponent("Bad.swift").path)
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.hasPrefix(
                "\(contents.path):3: error: the attribute 'attributeType' has the unknown value 'Number'"))
        #expect(
            run("--generate", "/nowhere/A.xcdatamodeld", "/tmp/A.swift").errors.contains(
                "error: the file does not exist")
        )
    }

    @Test func modelsAreCompiled() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let compiled = folder.appendingPathComponent("Cup.momd")
        #expect(run("--module", "League", Models.worldCup.path, compiled.path).errors == "")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: compiled.path).sorted() == [
                "VersionInfo.plist", "WorldCup.mom",
            ])
        let model = try ModelFile.read(compiled).model
        #expect(model.entities.map(\.name).sorted() == ["Location", "Team", "Venue"])
        #expect(model.entity(named: "Team")?.className == "Team")
        // Compiling the same model again gives the same bytes.
        let first = try Data(contentsOf: compiled.appendingPathComponent("WorldCup.mom"))
        #expect(run(Models.worldCup.path, compiled.path).status == 0)
        #expect(try Data(contentsOf: compiled.appendingPathComponent("WorldCup.mom")) == first)
    }

    /// A name such as `.Child` is a class of the module that the model is compiled for.
    @Test func classNamesGetTheirModule() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let compiled = folder.appendingPathComponent("Kinds.mom")
        #expect(run("--module", "League", Models.kinds.path, compiled.path).errors == "")
        let names = try ModelFile.read(compiled).model.entities.compactMap(\.className).sorted()
        #expect(names == ["Base", "Data", "Hand", "League.Child", "League.Everything", "default"])
    }

    @Test func predicatesThatCannotBeReadAreErrorsOfTheirLine() throws {
        let folder = try Models.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = folder.appendingPathComponent("Bad.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let contents = model.appendingPathComponent("contents")
        try """
        <model>
        <entity name="A"/>
        <fetchRequest name="Late" entity="A" predicateString="day &gt;"/>
        </model>
        """.write(to: contents, atomically: true, encoding: .utf8)
        let outcome = run(model.path, folder.appendingPathComponent("Bad.momd").path)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("\(contents.path):3: error: cannot read a predicate of 'Late'"))
    }
}
