import Foundation
import Testing

@testable import ModelFiles

@Suite struct CompiledModelTests {
    /// A model with one of each thing that archives can contain.
    static func everything() -> ModelDocument {
        var model = ModelDocument()
        model.versionIdentifiers = ["1", "final"]
        var base = EntityDocument(name: "Base")
        base.isAbstract = true
        base.versionHashModifier = "7"
        base.properties = [attribute("stamp", .date) { $0.defaultValue = .date(0.5) }]
        var leaf = EntityDocument(name: "Leaf")
        leaf.className = "LeafObject"
        leaf.parentName = "Base"
        leaf.renamingIdentifier = "OldLeaf"
        leaf.userInfo = ["list": .array([.integer(1), .boolean(true), .null]), "$null": .string("$null")]
        leaf.uniquenessConstraints = [["text", "number"]]
        leaf.properties = properties
        leaf.fetchIndexes = [
            FetchIndexDocument(
                name: "byText",
                elements: [
                    FetchIndexElementDocument(content: .property("text"), isAscending: false),
                    FetchIndexElementDocument(
                        content: .expression(
                            .function("uppercase:", [.keyPath("text")]), name: "expression1", resultType: 700)),
                ], partialPredicate: .not(comparison(.keyPath("number"), 4, .integer(0))))
        ]
        model.entities = [base, leaf]
        model.configurations = [ConfigurationDocument(name: "Local", entityNames: ["Leaf"])]
        var template = FetchRequestDocument(name: "Big", entityName: "Leaf")
        template.predicate = comparison(.keyPath("number"), 2, .integer(10))
        template.sortKeys = [SortKeyDocument(key: "text", isAscending: false, selector: "compare:")]
        template.fetchLimit = 5
        template.includesSubentities = false
        template.returnsObjectsAsFaults = false
        template.returnsDistinctResults = true
        model.fetchRequests = [template]
        return model
    }

    private static var properties: [PropertyDocument] {
        var kids = RelationshipDocument(destinationName: "Leaf")
        kids.inverseName = "parent"
        kids.isOrdered = true
        kids.deleteRule = .cascade
        var parent = RelationshipDocument(destinationName: "Leaf")
        parent.inverseName = "kids"
        parent.maxCount = 1
        var request = FetchRequestDocument(name: "fetchedPropertyFetchRequest", entityName: "Leaf")
        request.predicate = .and([
            .comparison(
                PredicateDocument.Comparison(
                    left: .keyPath("text"), right: .keyPathOf(.variable("FETCH_SOURCE"), "text"), operatorType: 8,
                    options: 3)),
            .or([.constant(true), comparison(.evaluatedObject, 10, .array([.integer(1), .integer(2)]))]),
        ])
        var peers = PropertyDocument(name: "peers", kind: .fetched(request))
        peers.isOptional = true
        peers.isTransient = true
        var number = attribute("number", .integer32) { $0.defaultValue = .integer(3) }
        number.validations = [.minimum(.integer(-5)), .maximum(.integer(5))]
        number.versionHashModifier = "2"
        number.isIndexedBySpotlight = true
        number.isStoredInExternalRecord = true
        var text = attribute("text", .string) { $0.defaultValue = .string("漢字") }
        text.isOptional = true
        text.renamingIdentifier = "title"
        text.validations = [
            .minimumLength(1), .pattern("[a-z]+"),
            .predicate(comparison(.keyPath("length"), 5, .integer(13)), warning: .message("unlucky")),
        ]
        let place = attribute("place", .composite) {
            $0.elements = [attribute("city", .string), attribute("zip", .string)]
        }
        return [
            attribute("blob", .binary) {
                $0.allowsExternalBinaryDataStorage = true
                $0.preservesValueInHistoryOnDeletion = true
            },
            attribute("big", .decimal) { $0.defaultValue = .decimal(Decimal(string: "-12345678901234567890.5") ?? 0) },
            PropertyDocument(name: "kids", kind: .relationship(kids)), number,
            PropertyDocument(name: "parent", kind: .relationship(parent)), peers, place,
            attribute("secret", .transformable) {
                $0.valueTransformerName = "Secret"
                $0.valueClassName = "Thing"
                $0.allowsCloudEncryption = true
            },
            text, attribute("total", .integer64) { $0.derivation = .function("count:", [.keyPath("kids")]) },
            attribute("uid", .uuid) {
                $0.defaultValue = .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
            },
            attribute("url", .uri) { $0.defaultValue = .uri("http://example.invalid/a?b") },
        ].sorted { $0.name < $1.name }
    }

    private static func attribute(
        _ name: String, _ type: AttributeKind, _ change: (inout AttributeDocument) -> Void = { _ in }
    ) -> PropertyDocument {
        var attribute = AttributeDocument(type: type)
        change(&attribute)
        return PropertyDocument(name: name, kind: .attribute(attribute))
    }

    private static func comparison(_ left: ExpressionDocument, _ type: UInt, _ right: ValueDocument)
        -> PredicateDocument
    {
        .comparison(PredicateDocument.Comparison(left: left, right: .constant(right), operatorType: type))
    }

    @Test func everythingReadsBackFromAFile() throws {
        let model = Self.everything()
        let data = try CompiledModelWriter.write(model, form: .file)
        let (again, notes) = try CompiledModelReader.read(data, file: "written")
        #expect(notes.isEmpty)
        #expect(again == model)
    }

    /// A store's copy lacks named requests and has inherited properties in each entity.
    @Test func everythingReadsBackFromAStore() throws {
        var model = Self.everything()
        let data = try CompiledModelWriter.write(model, form: .store)
        let archive = try KeyedArchive(data)
        let root = try #require(archive.object(archive.root))
        let leaf = try #require(
            archive.entries(root.fields["NSEntities"])?.first { archive.text($0.key) == "Leaf" }
                .flatMap { archive.object($0.value) })
        let names = (archive.entries(leaf.fields["NSProperties"]) ?? []).compactMap { archive.text($0.key) }
        #expect(names.contains("stamp") && names.contains("text"))
        model.fetchRequests = []
        #expect(try CompiledModelReader.read(data, file: "written").model == model)
        #expect(try ModelFile.readCached(ModelFile.writeCached(model), store: "store").model == model)
    }

    @Test(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: Corpus.compiled)
    func realModelsReadBack(_ url: URL) throws {
        let model = try ModelFile.read(url).model
        for form in [CompiledModelWriter.Form.file, .store] {
            let data = try CompiledModelWriter.write(model, form: form)
            #expect(try CompiledModelReader.read(data, file: "written").model == model, "\(Corpus.name(url)) \(form)")
        }
    }

    @Test func otherArchivesAreNotModels() throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
        var error = try #require(throws: ModelFileError.self) { try CompiledModelReader.read(list, file: "x.mom") }
        #expect(error.reason.contains("keyed archive"))
        var builder = KeyedArchiveBuilder()
        let mapping = builder.object(["NSMappingModel", "NSObject"], [:])
        error = try #require(throws: ModelFileError.self) {
            try CompiledModelReader.read(builder.finish(root: mapping), file: "x.mom")
        }
        #expect(error.reason.contains("NSMappingModel"))
        error = try #require(throws: ModelFileError.self) {
            try ModelFile.readCached(Data([1, 2, 3]), store: "/tmp/a.sqlite")
        }
        #expect(error.file == "/tmp/a.sqlite")
    }
}
