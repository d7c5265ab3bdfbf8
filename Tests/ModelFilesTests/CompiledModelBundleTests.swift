import Foundation
import Testing

@testable import ModelFiles

/// Model bundles as written by the compiler.
@Suite struct CompiledModelBundleTests {
    private let folder = TestFolder()

    /// Compiled models whose source is in the corpus as well.
    static let twins: [URL] = Corpus.compiled.filter { contents(of: $0) != nil }

    private static func contents(of compiled: URL) -> URL? {
        let version = compiled.deletingPathExtension().lastPathComponent
        let source = compiled.deletingLastPathComponent().deletingPathExtension().appendingPathExtension("xcdatamodeld")
            .appendingPathComponent("\(version).xcdatamodel/contents")
        return FileManager.default.fileExists(atPath: source.path) ? source : nil
    }

    /// The written archive is equal to that of Apple's compiler, object by object.
    @Test(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: twins)
    func archivesHaveApplesStructure(_ compiled: URL) throws {
        let source = try #require(Self.contents(of: compiled))
        let model = try SourceModelReader.read(Data(contentsOf: source), file: source.path).model
        let written = try CompiledModelWriter.write(model.compiled(file: source.path), form: .file)
        let differences = ArchiveComparison.differences(
            try KeyedArchive(Data(contentsOf: compiled)), try KeyedArchive(written))
        #expect(differences.filter { !Self.isKnown($0) } == [], "\(Corpus.name(compiled))")
    }

    /// Known differences: the compiler's name; Apple's index for an “indexed” mark lacks the reference to its entity;
    /// two sources were edited after they were compiled (the class of a transformable value, the name of an index).
    private static func isKnown(_ difference: String) -> Bool {
        difference.contains("CDMCompiler") || difference.contains(".NSEntity: an object and none")
            || difference.contains("NSAttributeValueClassName") || difference.contains(".NSIndexName: ")
    }

    /// Hashes and checksums are equal to Apple's, and the written model reads back.
    @Test(
        .enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"),
        arguments: Corpus.files { $0.pathExtension == "xcdatamodeld" })
    func foldersReadBack(_ source: URL) throws {
        let target = folder.url.appendingPathComponent("X.momd")
        do {
            #expect(try CompiledModelBundle.compile(source, to: target).isEmpty)
        } catch let error as ModelFileError where error.kind == .unsupported {
            return
        }
        let info = try CompiledModelBundle.versionInfo(of: target)
        let bundle = try SourceModelBundle.read(source)
        #expect(info.currentVersion == bundle.current)
        #expect(Set(info.hashes.keys) == Set(bundle.versions.map(\.name)))
        let apples = source.deletingPathExtension().appendingPathExtension("momd")
        let applesInfo = try? CompiledModelBundle.versionInfo(of: apples)
        for version in bundle.versions {
            let model = try CompiledModelReader.read(
                Data(contentsOf: target.appendingPathComponent("\(version.name).mom")), file: version.name
            ).model
            #expect(model == archived(try version.model.compiled(file: version.name)), "\(Corpus.name(source))")
            if let hashes = applesInfo?.hashes[version.name] { #expect(info.hashes[version.name] == hashes) }
            if let checksum = applesInfo?.checksums[version.name] { #expect(info.checksums[version.name] == checksum) }
        }
    }

    /// The model without the parts that only the editor needs, which an archive does not contain.
    private func archived(_ model: ModelDocument) -> ModelDocument {
        var model = model
        model.editorSettings = [:]
        model.diagram = []
        model.composites = []
        model.entities.sort { $0.name < $1.name }
        model.fetchRequests.sort { $0.name < $1.name }
        model.configurations = model.configurations.map {
            ConfigurationDocument(name: $0.name, entityNames: $0.entityNames.sorted())
        }.sorted { $0.name < $1.name }
        for index in model.entities.indices {
            if model.entities[index].className == "NSManagedObject" { model.entities[index].className = nil }
            model.entities[index].codeGenerationType = nil
            model.entities[index].isSyncable = false
            if model.entities[index].renamingIdentifier == model.entities[index].name {
                model.entities[index].renamingIdentifier = nil
            }
            model.entities[index].properties.sort { $0.name < $1.name }
            for place in model.entities[index].properties.indices {
                strip(&model.entities[index].properties[place])
            }
            let repeated = model.entities[index].fetchIndexes.compactMap(\.compoundForm)
            model.entities[index].compoundIndexes.removeAll(where: repeated.contains)
        }
        return model
    }

    private func strip(_ property: inout PropertyDocument) {
        property.isSyncable = false
        if property.renamingIdentifier == property.name { property.renamingIdentifier = nil }
        guard case .attribute(var attribute) = property.kind else { return }
        attribute.usesScalarValueType = nil
        attribute.compositeName = nil
        if attribute.valueClassName == attribute.type.valueClassName { attribute.valueClassName = nil }
        for index in attribute.elements.indices { strip(&attribute.elements[index]) }
        property.kind = .attribute(attribute)
    }

    // MARK: The bundle's folder

    @Test func aModelIsReplacedAndNothingElse() throws {
        let target = folder.url.appendingPathComponent("WorldCup.momd")
        _ = try CompiledModelBundle.compile(SourceModelWriterTests.sample, to: target)
        try Data().write(to: target.appendingPathComponent("Old.mom"))
        _ = try CompiledModelBundle.compile(SourceModelWriterTests.sample, to: target)
        #expect(try names(in: target) == ["VersionInfo.plist", "WorldCup.mom"])
        #expect(try names(in: folder.url) == ["WorldCup.momd"], "nothing is left beside it")

        try Data("mine".utf8).write(to: target.appendingPathComponent("notes.txt"))
        let error = try #require(throws: ModelFileError.self) {
            try CompiledModelBundle.compile(SourceModelWriterTests.sample, to: target)
        }
        #expect(error.kind == .unwritable && error.file == target.path)
        #expect(try names(in: target).contains("notes.txt"))
    }

    @Test func oneVersionIsAFile() throws {
        let target = folder.url.appendingPathComponent("WorldCup.mom")
        _ = try CompiledModelBundle.compile(SourceModelWriterTests.sample, to: target)
        #expect(try ModelFile.read(target).model.entities.map(\.name) == ["Location", "Team", "Venue"])
    }

    private func names(in url: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    // MARK: Indexes, hashes and composites

    /// An index of one attribute marks it. A mark without an index makes one, named after the attribute.
    @Test func marksBecomeIndexesAndBack() throws {
        let text = """
            <model><entity name="A">
            <attribute name="code" attributeType="String" indexed="YES"/>
            <attribute name="name" attributeType="String"/>
            <attribute name="size" attributeType="Double"/>
            <fetchIndex name="byName"><fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
            <fetchIndex name="both"><fetchIndexElement property="name" type="Binary" order="ascending"/>
            <fetchIndexElement property="size" type="Binary" order="descending"/></fetchIndex>
            </entity></model>
            """
        let source = try SourceModelReader.read(Data(text.utf8), file: "contents").model
        let compiled = try source.compiled(file: "contents")
        #expect(compiled.entities[0].fetchIndexes.map(\.name) == ["code", "byName", "both"])
        #expect(compiled.entities[0].properties.map(\.isIndexed) == [true, true, false])
        #expect(compiled.entities[0].fetchIndexes.map(\.compoundForm) == [nil, nil, ["name", "size"]])
        #expect(try compiled.compiled(file: "contents") == compiled)
        let back = compiled.decompiled()
        #expect(back.entities[0].fetchIndexes == source.entities[0].fetchIndexes)
        #expect(back.entities[0].properties.map(\.isIndexed) == [true, false, false])
    }

    @Test func textThatCannotBeReadIsAnErrorWithItsPlace() throws {
        let text = "<model><entity name=\"A\"/><fetchRequest name=\"F\" entity=\"A\" predicateString=\"AND\"/></model>"
        let model = try SourceModelReader.read(Data(text.utf8), file: "contents").model
        let target = folder.url.appendingPathComponent("X.momd")
        let error = try #require(throws: ModelFileError.self) {
            try CompiledModelBundle.write([.init(name: "X", model: model)], current: "X", to: target)
        }
        #expect(error.reason.contains("'F'"))
        #expect(!FileManager.default.fileExists(atPath: target.path))
    }

    /// Hashes written by Apple's tools are never replaced.
    @Test func writtenHashesStay() throws {
        let known = Data(repeating: 7, count: 32)
        let target = folder.url.appendingPathComponent("X.momd")
        let model = CompiledModelTests.everything()
        try CompiledModelBundle.write(
            [.init(name: "X", model: model, writtenHashes: ["Leaf": known])], current: "X", to: target)
        let hashes = try #require(try CompiledModelBundle.versionInfo(of: target).hashes["X"])
        #expect(hashes["Leaf"] == known && hashes["Base"]?.count == 32 && hashes["Base"] != known)
    }

    /// Composite attributes from an archive get a named composite type.
    @Test func compositesGetNames() throws {
        let source = CompiledModelTests.everything().decompiled()
        #expect(source.composites.map(\.name) == ["Place"])
        let again = try SourceModelReader.read(SourceModelWriter.write(source), file: "contents").model
        let place = try #require(again.entity(named: "Leaf")?.property(named: "place")?.attribute)
        #expect(place.elements.map(\.name) == ["city", "zip"] && place.compositeName == "Place")
        #expect(CompiledModelTests.everything().unwritableInSource.count == 3)
    }
}

/// A folder for one test, removed with it.
final class TestFolder {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("model-files-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
