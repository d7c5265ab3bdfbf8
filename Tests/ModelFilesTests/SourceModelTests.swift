import Foundation
import Testing

@testable import ModelFiles

@Suite struct SourceModelTests {
    private static let head = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"

    private func read(_ body: String) throws -> ModelDocument {
        try SourceModelReader.read(Data((Self.head + body).utf8), file: "contents").model
    }

    @Test func everyElementIsRead() throws {
        let model = try read(
            """
            <model userDefinedModelVersionIdentifier="2" sourceLanguage="Swift">
            <entity name="Base" isAbstract="YES" elementID="Old" versionHashModifier="m1"/>
            <entity name="Leaf" representedClassName="LeafObject" parentEntity="Base" syncable="YES" codeGenerationType="class">
            <attribute name="big" optional="YES" attributeType="Decimal" defaultValueString="12345678901234567890.5"/>
            <attribute name="count" attributeType="Integer 32" minValueString="-5" maxValueString="5" defaultValueString="3"/>
            <attribute name="when" optional="YES" attributeType="Date" minDateTimeInterval="0" defaultDateTimeInterval="-978307200"/>
            <attribute name="title" attributeType="String" minValueString="1" maxValueString="80" regularExpressionString="[^/]+"/>
            <attribute name="blob" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" preserveAfterDeletion="YES"/>
            <attribute name="total" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="kids.@count"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Address"/>
            <relationship name="kids" optional="YES" toMany="YES" ordered="YES" minCount="1" maxCount="9" deletionRule="Cascade" destinationEntity="Leaf" inverseName="parent" inverseEntity="Leaf"/>
            <relationship name="parent" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Leaf" inverseName="kids" inverseEntity="Leaf"/>
            <fetchedProperty name="peers" optional="YES">
            <fetchRequest name="fetchedPropertyFetchRequest" entity="Leaf" predicateString="count == 1"/>
            </fetchedProperty>
            <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="descending"/></fetchIndex>
            <uniquenessConstraints><uniquenessConstraint><constraint value="title"/><constraint value="count"/></uniquenessConstraint></uniquenessConstraints>
            <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <fetchRequest name="Big" entity="Leaf" predicateString="big &gt; 10" fetchLimit="5" includeSubentities="NO"/>
            <configuration name="Local"><memberEntity name="Leaf"/></configuration>
            <composite name="Address"><attribute name="city" optional="YES" attributeType="String"/></composite>
            <elements><element name="Leaf" positionX="1" positionY="2" width="3" height="4"/></elements>
            </model>
            """)
        #expect(model.versionIdentifiers == ["2"])
        let base = try #require(model.entity(named: "Base"))
        #expect(base.isAbstract && base.renamingIdentifier == "Old" && base.versionHashModifier == "m1")
        let leaf = try #require(model.entity(named: "Leaf"))
        #expect(leaf.className == "LeafObject" && leaf.parentName == "Base" && leaf.codeGenerationType == "class")
        #expect(leaf.uniquenessConstraints == [["title", "count"]])
        #expect(leaf.userInfo == ["k": .string("v")])
        #expect(leaf.fetchIndexes.first?.elements.first?.isAscending == false)
        #expect(
            leaf.property(named: "big")?.attribute?.defaultValue
                == .decimal(Decimal(string: "12345678901234567890.5") ?? 0))
        #expect(leaf.property(named: "count")?.validations == [.minimum(.integer(-5)), .maximum(.integer(5))])
        #expect(leaf.property(named: "count")?.attribute?.defaultValue == .integer(3))
        #expect(leaf.property(named: "when")?.validations == [.minimum(.date(0))])
        #expect(leaf.property(named: "when")?.attribute?.defaultValue == .date(-978_307_200))
        #expect(
            leaf.property(named: "title")?.validations == [.minimumLength(1), .maximumLength(80), .pattern("[^/]+")])
        let blob = try #require(leaf.property(named: "blob")?.attribute)
        #expect(blob.allowsExternalBinaryDataStorage && blob.preservesValueInHistoryOnDeletion)
        #expect(leaf.property(named: "total")?.attribute?.derivation == .format("kids.@count"))
        #expect(leaf.property(named: "place")?.attribute?.elements.map(\.name) == ["city"])
        let kids = try #require(leaf.property(named: "kids")?.relationship)
        #expect(kids.maxCount == 9 && kids.minCount == 1 && kids.isOrdered && kids.deleteRule == .cascade)
        #expect(leaf.property(named: "parent")?.relationship?.maxCount == 1)
        #expect(leaf.property(named: "peers")?.kind != .fetched(nil))
        #expect(model.fetchRequests.first?.predicate == .format("big > 10"))
        #expect(model.fetchRequests.first?.includesSubentities == false)
        #expect(model.configurations == [ConfigurationDocument(name: "Local", entityNames: ["Leaf"])])
        #expect(model.diagram.first?.height == "4")
    }

    @Test func unknownThingsAreNoted() throws {
        let text = #"<model><entity name="A" future="1"><gadget/></entity></model>"#
        let (model, notes) = try SourceModelReader.read(Data((Self.head + text).utf8), file: "contents")
        #expect(model.entities.count == 1)
        #expect(notes.map(\.line) == [2, 2])
        #expect(notes.map(\.text).joined().contains("future"))
        #expect(notes.map(\.text).joined().contains("gadget"))
    }

    /// Invalid models, the line of the error, and a word of the message.
    static let broken: [(body: String, line: Int, word: String)] = [
        ("<model>\n<entity name=\"A\">\n</model>", 4, "XML"),
        ("<entity name=\"A\"/>", 2, "root"),
        ("<model>\n<entity/></model>", 3, "name"),
        ("<model>\n<entity name=\"A\"/>\n<entity name=\"A\"/></model>", 4, "duplicate"),
        ("<model>\n<entity name=\"A\" parentEntity=\"B\"/></model>", 3, "'B'"),
        (
            "<model><entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/></model>", 2,
            "ancestor"
        ),
        ("<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Number\"/></entity></model>", 3, "Number"),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Integer 16\" minValueString=\"many\"/></entity></model>",
            3, "many"
        ),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Double\" minValueString=\"low\"/></entity></model>",
            3, "low"
        ),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\" optional=\"maybe\"/></entity></model>",
            3, "maybe"
        ),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n<attribute name=\"x\" attributeType=\"String\"/></entity></model>",
            4, "duplicate"
        ),
        ("<model><entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"B\"/></entity></model>", 3, "'B'"),
        (
            "<model><entity name=\"A\">\n<relationship name=\"r\" toMany=\"YES\"/></entity></model>", 3,
            "destinationEntity"
        ),
        (
            "<model><entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"q\"/></entity></model>",
            3, "'q'"
        ),
        (
            "<model><entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"A\" deletionRule=\"Burn\"/></entity></model>",
            3, "Burn"
        ),
        (
            "<model>\n<entity name=\"A\"><uniquenessConstraints><uniquenessConstraint><constraint value=\"z\"/></uniquenessConstraint></uniquenessConstraints></entity></model>",
            3, "'z'"
        ),
        (
            "<model><entity name=\"A\">\n<fetchIndex name=\"i\"><fetchIndexElement property=\"z\"/></fetchIndex></entity></model>",
            3, "'z'"
        ),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity></model>",
            3, "'C'"
        ),
        (
            "<model><entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\" derived=\"YES\"/></entity></model>",
            3, "derivationExpression"
        ),
        (
            "<model><entity name=\"A\"/>\n<configuration name=\"L\"><memberEntity name=\"B\"/></configuration></model>",
            3, "'B'"
        ),
        ("<model><entity name=\"A\"/>\n<fetchRequest name=\"f\" entity=\"B\"/></model>", 3, "'B'"),
    ]

    @Test(arguments: broken) func invalidModelsAreErrorsWithTheirPlace(_ body: String, line: Int, word: String) throws {
        let error = try #require(throws: ModelFileError.self) { try read(body) }
        #expect(error.file == "contents")
        #expect(error.line == line)
        #expect(error.reason.contains(word), "\(error)")
        #expect(!error.description.contains("\n"))
    }

    /// Long names, or names with line breaks, do not make the message longer than one short line.
    @Test func messagesAreOneShortLine() throws {
        let name = "A&#10;B" + String(repeating: "x", count: 5000)
        let error = try #require(throws: ModelFileError.self) {
            try read("<model><entity name=\"\(name)\"/><entity name=\"\(name)\"/></model>")
        }
        #expect(!error.description.contains { $0.isNewline } && error.reason.count < 1000)
    }

    @Test func compositesThatContainThemselvesAreAnError() throws {
        let body = """
            <model><entity name="A"><attribute name="x" attributeType="Composite" composite="C"/></entity>
            <composite name="C"><attribute name="y" attributeType="Composite" composite="C"/></composite></model>
            """
        let error = try #require(throws: ModelFileError.self) { try read(body) }
        #expect(error.reason.contains("itself"))
    }

    @Test func compositesCannotGrowWithoutBound() throws {
        let levels = (0..<40).map { level in
            let element = "attributeType=\"Composite\" composite=\"C\(level + 1)\"/>"
            return
                "<composite name=\"C\(level)\"><attribute name=\"a\" \(element)<attribute name=\"b\" \(element)</composite>"
        }
        let body =
            "<model><entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C0\"/></entity>"
            + levels.joined() + "<composite name=\"C40\"/></model>"
        let error = try #require(throws: ModelFileError.self) { try read(body) }
        #expect(error.reason.contains("too many elements"))
    }

    @Test func entitiesAndSectionsAreDecoded() throws {
        let body = """
            <!DOCTYPE model [<!ELEMENT model ANY>]><!-- <entity --><model ><entity name='A'><userInfo>
            <entry key="&lt;&gt;&amp;&quot;&apos;" value="&#10;&#x1F98A;'"/> <![CDATA[ <entry/> ]]></userInfo></entity><?x y?></model>
            <!-- end -->
            """
        #expect(try read(body).entities.first?.userInfo == ["<>&\"'": .string("\n🦊'")])
    }

    static let malformed = [
        "", "text", "<model", "<model>", "<model></modle>", "<model a></model>", "<model a=b/>", "<model a=\"b/>",
        "<model/><model/>",
        "<model a=\"&what;\"/>", "<model a=\"&#0;\"/>", "<model a=\"<\"/>", "<model a=\"1\" a=\"2\"/>",
        "<model><!-- </model>",
        "<model a=\"1\"b=\"2\"/>", "<1/>", "<model><![CDATA[</model>", "<!DOCTYPE model",
    ]

    @Test(arguments: malformed) func malformedXMLIsAnError(_ body: String) throws {
        let error = try #require(throws: ModelFileError.self) { try read(body) }
        #expect(error.reason.contains("XML"))
        #expect((1...3).contains(error.line ?? 0))
    }

    @Test func otherEncodingsAreAnError() throws {
        let bytes = Data("<model>\n<entity name=\"".utf8) + [0xE9] + Data("\"/></model>".utf8)
        let error = try #require(throws: ModelFileError.self) { try SourceModelReader.read(bytes, file: "contents") }
        #expect(error.line == 2 && error.reason.contains("UTF-8"))
        #expect(throws: ModelFileError.self) {
            try SourceModelReader.read(Data([0xFF, 0xFE, 0x3C, 0]), file: "contents")
        }
    }

    @Test func deepNestingIsAnError() throws {
        let body = String(repeating: "<model>", count: 200) + String(repeating: "</model>", count: 200)
        let error = try #require(throws: ModelFileError.self) { try read(body) }
        #expect(error.reason.contains("nested"))
    }
}
