import Foundation
import PredicateSyntax
import Testing

@testable import ModelFiles

/// Predicates and expressions in models. All that have a text form can be compiled and read back. A syntax error names
/// its place.
@Suite struct ModelSyntaxTests {
    private let folder = TestFolder()

    static let formats = [
        "SUBQUERY(r, $m, $m.x == $NAME AND $m.r.@count > 2).@count > 0", "ANY r.x == 'a'", "r[0].x == 'a'",
        "r[FIRST] == r[LAST]", "r[SIZE] > 2", "r[$N].x == 'a'", "TERNARY(x == 'a', 1, 2) == 2",
        "r UNION r == r INTERSECT r", "r MINUS {} == r", "FUNCTION(x, 'lowercase:') == 'a'", "NOT x IN {'a', 'b', $C}",
        "x BETWEEN {1, 2}", "x MATCHES[c] '[a-z]+'", "NONE r.x LIKE 'a*'", "CAST(x, 'NSNumber') + 1 == 2",
        "x == CAST(5, 'NSDate')", "SELF == $SELFISH", "FUNCTION(r, 'f:', SUBQUERY(r, $x, TRUEPREDICATE)) == nil",
        "uppercase(x) == 'A' OR $FETCH_SOURCE.x == x", "1 + 2 * 3 ** 4 > now()", "x == -1.5e3",
    ]

    private func source(_ format: String) -> Data {
        let text = format.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        return Data(
            """
            <model><entity name="A">
            <fetchedProperty name="f" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="A" predicateString="\(text)"/></fetchedProperty>
            <relationship name="r" optional="YES" toMany="YES" destinationEntity="A" inverseName="r" inverseEntity="A"/>
            <attribute name="x" attributeType="String"/></entity><fetchRequest name="F" entity="A" predicateString="\(text)"/></model>
            """.utf8)
    }

    @Test(arguments: formats) func everyFormatIsKept(_ format: String) throws {
        let model = try SourceModelReader.read(source(format), file: "contents").model
        let compiled = try model.compiled(file: "contents")
        let text = FormatPrinter.string(try FormatParser.predicate(format))
        let (again, notes) = try CompiledModelReader.read(
            CompiledModelWriter.write(compiled, form: .file), file: "x.mom")
        #expect(again == compiled && notes.isEmpty)
        let read = try #require(again.fetchRequests.first?.predicate)
        #expect(FormatPrinter.string(try PredicateTranslation.tree(read)) == text)
        let kept = try ModelFile.readCached(ModelFile.writeCached(compiled), store: "x.sqlite").model
        #expect(kept.entities == compiled.entities)
        // As a source model again.
        let written = SourceModelWriter.write(again.decompiled())
        let reread = try SourceModelReader.read(written, file: "contents").model.compiled(file: "contents")
        #expect(reread.fetchRequests == compiled.fetchRequests)
        #expect(reread.entities[0].property(named: "f")?.kind == compiled.entities[0].property(named: "f")?.kind)
    }

    @Test func codeIsNotKept() {
        let block = ExpressionTree.opaque(OpaqueExpression { _, _ in nil })
        for tree in [block, .index(block, .first), .set(.union, .keyPath(["r"]), block), .functionOn(block, "f", [])] {
            #expect(throws: PredicateTranslation.Failure.self) { try PredicateTranslation.document(tree) }
        }
    }

    /// Texts that cannot be parsed, with the line of the error.
    static let unreadable: [(body: String, line: Int, path: String)] = [
        (
            "<model><entity name=\"A\"/>\n<fetchRequest name=\"F\" entity=\"A\" predicateString=\"x == AND\"/></model>",
            2, "F"
        ),
        (
            "<model>\n<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"((\"/></entity></model>",
            3, "A.x"
        ),
        (
            "<model><entity name=\"A\">\n<fetchedProperty name=\"f\"><fetchRequest name=\"q\" entity=\"A\" predicateString=\"(\"/></fetchedProperty></entity></model>",
            2, "A.f"
        ),
        (
            "<model><entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/>\n<fetchIndex name=\"i\" partialIndexPredicate=\"x &gt;\"><fetchIndexElement property=\"x\"/></fetchIndex></entity></model>",
            2, "A.i"
        ),
        (
            "<model><entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/>\n\n<fetchIndex name=\"i\"><fetchIndexElement expression=\")\"/></fetchIndex></entity></model>",
            3, "A.i"
        ),
    ]

    @Test(arguments: unreadable) func unreadableTextHasALine(_ body: String, line: Int, path: String) throws {
        let model = folder.url.appendingPathComponent("M.xcdatamodeld")
        let contents = model.appendingPathComponent("M.xcdatamodel/contents")
        try FileManager.default.createDirectory(
            at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(body.utf8).write(to: contents)
        for name in ["M.momd", "M.mom"] {
            let target = folder.url.appendingPathComponent(name)
            for read in [
                { _ = try ModelFile.readForUse(model) }, { _ = try CompiledModelBundle.compile(model, to: target) },
            ] {
                let error = try #require(throws: ModelFileError.self) { try read() }
                #expect(
                    error.file == contents.path && error.line == line && error.reason.contains("'\(path)'"), "\(error)")
            }
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }

    // MARK: Unknown parts

    /// The archive of a model with the class `name` renamed, and with one more key in every entity.
    private func archive(
        _ model: ModelDocument = CompiledModelTests.everything(), renaming name: String
    ) throws -> Data {
        let data = try CompiledModelWriter.write(model, form: .file)
        guard case .dictionary(var list) = try BinaryPropertyListReader.read(data),
            case .array(let objects) = list["$objects"]
        else { throw PropertyListError("no archive") }
        list["$objects"] = .array(
            objects.map { object in
                guard case .dictionary(var fields) = object else { return object }
                if fields["$classname"] == .string(name) { fields["$classname"] = .string("NSFutureThing") }
                if fields["NSEntityName"] != nil && fields["NSProperties"] != nil { fields["NSFuture"] = .integer(1) }
                return .dictionary(fields)
            })
        return BinaryPropertyListWriter.write(.dictionary(list))
    }

    @Test func unknownKeysAreNoted() throws {
        let (model, notes) = try CompiledModelReader.read(archive(renaming: "NSNothing"), file: "x.mom")
        #expect(model.entities.map(\.properties) == CompiledModelTests.everything().entities.map(\.properties))
        #expect(notes.map(\.text) == ["unknown key 'NSFuture' of NSEntityDescription"])
    }

    /// A predicate with unknown parts is left out, with everything that depends on it, and a note names it.
    @Test(arguments: [
        "NSComparisonPredicate", "NSFunctionExpression", "NSConstantValueExpression", "NSKeyPathExpression",
    ])
    func unknownSyntaxIsNoted(_ name: String) throws {
        let (model, notes) = try CompiledModelReader.read(archive(renaming: name), file: "x.mom")
        #expect(model.entities.map(\.name) == ["Base", "Leaf"])
        #expect(notes.contains { $0.text.contains("NSFutureThing") }, "\(notes)")
        let leaf = try #require(model.entities.last)
        #expect(leaf.properties.count == CompiledModelTests.everything().entities.last?.properties.count)
        if name != "NSFunctionExpression" {
            #expect(leaf.property(named: "peers")?.kind == .fetched(nil))
            #expect(model.fetchRequests.isEmpty, "without its condition it would find everything")
        }
    }

    /// Without its filter a derivation would give other values, so it is unknown if any part is.
    @Test(arguments: ["NSComparisonPredicate", "NSKeyPathExpression"])
    func aDerivationOfUnknownPartsIsUnknown(_ name: String) throws {
        var attribute = AttributeDocument(type: .integer32)
        attribute.derivation = .keyPath("staff.@count")
        attribute.derivationFilter = .comparison(
            .init(left: .evaluatedObject, right: .constant(.integer(1)), operatorType: 4))
        var firm = EntityDocument(name: "Firm")
        firm.properties = [PropertyDocument(name: "size", kind: .attribute(attribute))]
        var model = ModelDocument()
        model.entities = [firm]
        let (read, notes) = try CompiledModelReader.read(archive(model, renaming: name), file: "x.mom")
        let size = try #require(read.entities.first?.properties.first?.attribute)
        #expect(size.isDerived && size.derivation == nil && size.derivationFilter == nil)
        #expect(notes.contains { $0.text.contains("NSFutureThing") }, "\(notes)")
        #expect(notes.contains { $0.text.contains("the derivation of 'Firm.size' is unknown") }, "\(notes)")
        // The written model still marks the attribute as derived.
        let again = try CompiledModelReader.read(CompiledModelWriter.write(read, form: .file), file: "x.mom").model
        #expect(again == read)
    }

    // MARK: Texts of predicates

    /// A subquery with one comparison.
    private func subquery(_ comparison: ComparisonOperator, _ right: Any) -> ExpressionTree {
        .subquery(
            .keyPath(["r"]), variable: "x",
            predicate: .comparison(
                ComparisonTree(
                    left: .keyPathOf(.variable("x"), ["y"]), right: .constant(right), comparison: comparison,
                    modifier: .direct, options: [])))
    }

    @Test func textThatWouldNotReadBackIsRefused() throws {
        for tree in [subquery(.equalTo, ["key": 1]), subquery(.customSelector, 1), subquery(.in, [["key": 1]])] {
            let failure = #expect(throws: PredicateTranslation.Failure.self) { try PredicateTranslation.document(tree) }
            #expect(failure?.description.contains("reading it would give another predicate") == true)
        }
        for right in ["a", 1, 0.1, true, Date(timeIntervalSinceReferenceDate: 0.5), UUID(), [1, 2]] as [Any] {
            let tree = subquery(.in, right)
            #expect(try PredicateTranslation.document(tree) == .format(FormatPrinter.string(tree)))
        }
    }

    @Test func textThatCannotBeReadIsLikeAnUnknownClass() throws {
        func comparison(_ left: ExpressionDocument) -> PredicateDocument {
            .comparison(.init(left: left, right: .constant(.integer(1)), operatorType: 4))
        }
        var model = ModelDocument()
        model.entities = [EntityDocument(name: "A")]
        for (name, text) in [("bad", "SUBQUERY(r, $x, $x.y CUSTOMSELECTOR 1)"), ("good", "r[FIRST]")] {
            var request = FetchRequestDocument(name: name, entityName: "A")
            request.predicate = comparison(.format(text))
            model.fetchRequests.append(request)
        }
        let (read, notes) = try CompiledModelReader.read(
            CompiledModelWriter.write(model, form: .file), file: "x.mom")
        #expect(read.fetchRequests.map(\.name) == ["good"])
        #expect(read.fetchRequests.first?.predicate == comparison(.format("r[FIRST]")))
        #expect(notes.contains { $0.text.contains("'bad'") && $0.text.contains("cannot read") }, "\(notes)")
    }

    @Test func aDamagedModelInAStoreIsReportedAsSuch() throws {
        let error = try #require(throws: ModelFileError.self) {
            try ModelFile.readCached(
                RawDeflate.compress(Data("bplist00 and no more of it, whatever it was".utf8)), store: "/a.sqlite")
        }
        #expect(error.description.hasPrefix("/a.sqlite: cannot read the model in the store: "), "\(error)")
        #expect(error.reason.contains("truncated"), "\(error)")
    }

    @Test func truncatedCompiledModelsAreReportedAsSuch() throws {
        let data = try CompiledModelWriter.write(CompiledModelTests.everything(), form: .file)
        for count in stride(from: 40, to: data.count, by: 97) {
            let error = try #require(throws: ModelFileError.self) {
                try CompiledModelReader.read(data.prefix(count), file: "/x.mom")
            }
            #expect(error.description.hasPrefix("/x.mom: the compiled model is damaged: it is truncated"), "\(error)")
        }
    }
}
