import Foundation
import Testing

@testable import ModelFiles

/// Unknown parts of a compiled model are kept, and written with the model.
@Suite struct UnknownArchivedPartsTests {
    private func differences(_ a: Data, _ b: Data) throws -> [String] {
        try ArchiveComparison.differences(KeyedArchive(a), KeyedArchive(b))
    }

    /// Every class that a model can contain, each with unknown keys.
    @Test(arguments: [CompiledModelWriter.Form.file, .store])
    func unknownKeysAreWritten(_ form: CompiledModelWriter.Form) throws {
        var everything = CompiledModelTests.everything()
        if form == .store { everything.fetchRequests = [] }
        let data = try CompiledModelWriter.write(everything, form: form)
        let altered = try AlteredArchive.addingKeys(to: data) { number, name in
            // Copies of inherited properties are not read, but written with the keys of the original.
            form == .file || name != "NSAttributeDescription"
        }
        let (model, notes) = try CompiledModelReader.read(altered, file: "x.mom")
        let written = try CompiledModelWriter.write(model, form: form)
        #expect(try differences(altered, written) == [])
        #expect(try CompiledModelReader.read(written, file: "x.mom").model == model)
        let named = Set(notes.map(\.text))
        let classes = try KeyedArchive(data).classNames.filter {
            (KnownKeys.byClass[$0] != nil || KnownKeys.bySyntaxClass[$0] != nil)
                && (form == .file || $0 != "NSAttributeDescription")
        }
        #expect(classes.count > 15)
        for name in classes {
            #expect(named.contains("unknown key 'XObject' of \(name)"), "\(name)")
        }
        #expect(named.count == classes.count * 4)
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: Corpus.compiled)
    func corpusModelsKeepUnknownKeys(_ url: URL) throws {
        var generator = SeededGenerator(seed: 20_261_122)
        let altered = try AlteredArchive.addingKeys(to: Data(contentsOf: url)) { _, _ in
            Int.random(in: 0..<5, using: &generator) == 0
        }
        let (model, notes) = try CompiledModelReader.read(altered, file: "x.mom")
        #expect(!notes.isEmpty)
        for form in [CompiledModelWriter.Form.file, .store] {
            let again = try CompiledModelReader.read(CompiledModelWriter.write(model, form: form), file: "x.mom").model
            #expect(again.entities == model.entities && again.unknown == model.unknown, "\(Corpus.name(url)) \(form)")
        }
    }

    /// Objects that depend on an unknown class are left out of the model, but are still in the written file.
    @Test(arguments: [
        "NSComparisonPredicate", "NSFunctionExpression", "NSConstantValueExpression", "NSKeyPathExpression",
        "NSEqualityPredicateOperator", "NSCompoundPredicate",
    ])
    func unknownSyntaxIsWritten(_ name: String) throws {
        let data = try CompiledModelWriter.write(CompiledModelTests.everything(), form: .file)
        let altered = try AlteredArchive.renaming(name, in: data)
        let (model, _) = try CompiledModelReader.read(altered, file: "x.mom")
        let written = try CompiledModelWriter.write(model, form: .file)
        #expect(try CompiledModelReader.read(written, file: "x.mom").model == model)
        // A reader that knows the class reads everything.
        let restored = try AlteredArchive.renaming("XFutureThing", in: written, to: name)
        let known = try CompiledModelReader.read(restored, file: "x.mom")
        #expect(known.notes.isEmpty)
        var expected = CompiledModelTests.everything()
        for index in expected.entities.indices {
            for place in expected.entities[index].properties.indices {
                // The conditions that were unknown follow the others.
                expected.entities[index].properties[place].validations.sort { "\($0)" < "\($1)" }
            }
        }
        var found = known.model
        for index in found.entities.indices {
            for place in found.entities[index].properties.indices {
                found.entities[index].properties[place].validations.sort { "\($0)" < "\($1)" }
            }
        }
        #expect(found == expected)
    }

    @Test func valuesOfUnknownClassesAreWritten() throws {
        var model = CompiledModelTests.everything()
        model.entities[0].userInfo = [
            "plain": .string("a"), "url": .uri("http://a.invalid"), "list": .array([.uri("b:c")]),
        ]
        let data = try CompiledModelWriter.write(model, form: .file)
        let altered = try AlteredArchive.renaming("NSURL", in: data)
        let (read, notes) = try CompiledModelReader.read(altered, file: "x.mom")
        #expect(
            notes.map(\.text).contains(
                "a value has the unknown class XFutureThing: it is kept in the file but not used"))
        #expect(read.entities[0].userInfo == ["plain": .string("a")])
        #expect(read.entities[1].property(named: "url")?.attribute?.defaultValue == nil)
        let written = try CompiledModelWriter.write(read, form: .file)
        let restored = try AlteredArchive.renaming("XFutureThing", in: written, to: "NSURL")
        #expect(try CompiledModelReader.read(restored, file: "x.mom").model == model)
        // A value that was set later is not replaced by the kept one.
        var changed = read
        let place = try #require(changed.entities[1].properties.firstIndex { $0.name == "url" })
        var attribute = try #require(changed.entities[1].properties[place].attribute)
        attribute.defaultValue = .uri("d:e")
        changed.entities[1].properties[place].kind = .attribute(attribute)
        let again = try CompiledModelReader.read(CompiledModelWriter.write(changed, form: .file), file: "x.mom").model
        #expect(again.entities[1].property(named: "url")?.attribute?.defaultValue == .uri("d:e"))
    }

    /// A changed predicate is written, not the kept one.
    @Test func aChangedPredicateReplacesTheKeptOne() throws {
        let data = try AlteredArchive.addingKeys(
            to: CompiledModelWriter.write(CompiledModelTests.everything(), form: .file))
        var model = try CompiledModelReader.read(data, file: "x.mom").model
        model.fetchRequests[0].predicate = .constant(true)
        let again = try CompiledModelReader.read(CompiledModelWriter.write(model, form: .file), file: "x.mom").model
        #expect(again.fetchRequests[0].predicate == .constant(true))
        #expect(!again.fetchRequests[0].unknown.isEmpty)
    }

    /// References of kept objects to removed objects become null.
    @Test func referencesToRemovedObjectsBecomeNull() throws {
        let data = try AlteredArchive.addingKeys(
            to: CompiledModelWriter.write(CompiledModelTests.everything(), form: .file)
        ) { _, name in name == "NSEntityDescription" || name == "NSAttributeDescription" }
        var model = try CompiledModelReader.read(data, file: "x.mom").model
        let place = try #require(model.entities[1].properties.firstIndex { $0.name == "blob" })
        let unknown = model.entities[1].properties.remove(at: place).unknown
        model.entities[0].unknown = unknown
        let written = try CompiledModelWriter.write(model, form: .file)
        #expect(try KeyedArchive(written).isWhole)
        _ = try CompiledModelReader.read(written, file: "x.mom")
    }

    @Test func sourceModelsCannotContainThem() throws {
        let data = try AlteredArchive.addingKeys(
            to: CompiledModelWriter.write(CompiledModelTests.everything(), form: .file)
        ) { _, name in name == "NSEntityDescription" }
        let lines = try CompiledModelReader.read(data, file: "x.mom").model.unwritableInSource
        #expect(lines.contains("the unknown value of the key 'XText' of 'Leaf'"), "\(lines)")
    }

    /// The source of a derived attribute whose derivation is unknown. Reading it fails at its line until the derivation
    /// is added.
    @Test func anUnknownDerivationIsWrittenAndRefused() throws {
        var attribute = AttributeDocument(type: .integer32)
        attribute.derivation = .keyPath("staff.@count")
        var firm = EntityDocument(name: "Firm")
        firm.properties = [PropertyDocument(name: "size", kind: .attribute(attribute))]
        var model = ModelDocument()
        model.entities = [firm]
        let altered = try AlteredArchive.renaming(
            "NSKeyPathExpression", in: CompiledModelWriter.write(model, form: .file))
        let read = try CompiledModelReader.read(altered, file: "x.mom").model
        #expect(
            read.unwritableInSource == [
                "the unknown derivation of 'Firm.size': give it a 'derivationExpression'"
            ])
        let written = SourceModelWriter.write(read.decompiled())
        let text = String(decoding: written, as: UTF8.self)
        #expect(text.contains("derived=\"YES\"") && !text.contains("derivationExpression"))
        let error = try #require(throws: ModelFileError.self) { try SourceModelReader.read(written, file: "contents") }
        #expect(error.line == 4 && error.reason == "the derived attribute 'size' has no 'derivationExpression'")
        let mended = text.replacing("derived=\"YES\"", with: "derived=\"YES\" derivationExpression=\"staff.@count\"")
        let again = try SourceModelReader.read(Data(mended.utf8), file: "contents").model
        #expect(again.entities[0].properties[0].attribute?.derivation == .format("staff.@count"))
    }
}
