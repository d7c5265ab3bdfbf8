import Foundation
import ModelFiles
import Testing

@testable import CoreData

/// The classes of a model, created from files and converted back.
@Suite struct ModelAssemblyTests {
    static let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("sample-data/WorldCup.xcdatamodeld")

    private func model(_ body: String) throws -> NSManagedObjectModel {
        let (document, _) = try SourceModelReader.read(Data(body.utf8), file: "contents")
        let model = NSManagedObjectModel()
        try ModelAssembly.fill(model, from: document, file: "contents")
        return model
    }

    @Test func sampleModelIsWhole() throws {
        let model = try #require(NSManagedObjectModel(contentsOf: Self.sample))
        #expect(model.entities.compactMap(\.name) == ["Location", "Team", "Venue"])
        let team = try #require(model.entitiesByName["Team"])
        #expect(team.managedObjectClassName == "Team")
        #expect(team.attributesByName.count == 13)
        #expect(team.uniquenessConstraints as? [[String]] == [["teamName"]])
        let wins = try #require(team.attributesByName["wins"])
        #expect(wins.type == .integer32 && !wins.isOptional)
        #expect(wins.defaultValue as? Int == 0)
        #expect(wins.attributeValueClassName == "NSNumber")
        #expect(wins.bounds == ValueBounds(minimum: .integer(0)))
        #expect(team.attributesByName["favorite"]?.defaultValue as? Bool == false)
        #expect(team.attributesByName["teamName"]?.lengthBounds == LengthBounds(minimum: 1))
        let index = try #require(team.indexes.first)
        #expect(index.elements.map(\.propertyName) == ["qualifyingZone", "wins", "teamName"])
        #expect(index.elements.map(\.isAscending) == [true, false, true])
        #expect(index.entity === team)

        let homeVenue = try #require(team.relationshipsByName["homeVenue"])
        let venue = try #require(model.entitiesByName["Venue"])
        #expect(!homeVenue.isToMany && homeVenue.destinationEntity === venue)
        #expect(homeVenue.inverseRelationship === venue.relationshipsByName["teams"])
        #expect(venue.relationshipsByName["teams"]?.isToMany == true)
        #expect(venue.relationshipsByName["location"]?.deleteRule == .cascadeDeleteRule)
        let latitude = try #require(model.entitiesByName["Location"]?.attributesByName["latitude"])
        #expect(latitude.bounds == ValueBounds(minimum: .real(-90), maximum: .real(90)))
    }

    /// Limits are stored as plain values and returned as predicates with error codes.
    @Test func limitsAreValuesAndPredicates() throws {
        let entity = try #require(
            try model(
                """
                <model><entity name="A">
                <attribute name="n" attributeType="Integer 16" minValueString="2" maxValueString="9"/>
                <attribute name="d" attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="100"/>
                <attribute name="s" attributeType="String" minValueString="2" maxValueString="3" regularExpressionString="[a-z]+"/>
                <attribute name="x" attributeType="Decimal" maxValueString="1.25"/>
                </entity></model>
                """
            ).entitiesByName["A"])
        func codes(_ name: String) -> [Int] {
            entity.attributesByName[name]?.validationWarnings.compactMap { ($0 as? NSNumber)?.intValue } ?? []
        }
        func passes(_ name: String, _ value: Any) -> [Bool] {
            entity.attributesByName[name]?.validationPredicates.map { $0.evaluate(with: value) } ?? []
        }
        #expect(codes("n") == [1620, 1610])
        #expect(passes("n", 1) == [false, true])
        #expect(passes("n", 9) == [true, true])
        #expect(passes("n", 10) == [true, false])
        #expect(codes("d") == [1640, 1630])
        #expect(passes("d", Date(timeIntervalSinceReferenceDate: -1)) == [false, true])
        #expect(passes("d", Date(timeIntervalSinceReferenceDate: 101)) == [true, false])
        #expect(codes("s") == [1670, 1660, 1680])
        #expect(passes("s", "a") == [false, true, true])
        #expect(passes("s", "abcd") == [true, false, true])
        #expect(passes("s", "ab7") == [true, true, false])
        #expect(entity.attributesByName["s"]?.pattern == "[a-z]+")
        #expect(entity.attributesByName["x"]?.bounds.maximum == .decimal(NSDecimalNumber(string: "1.25")))
    }

    @Test func ownPredicatesAreKept() {
        let attribute = TestModel.attribute("n", .integer32AttributeType)
        attribute.setValidationPredicates(
            [NSPredicate(format: "SELF != 13"), NSPredicate(format: "SELF < 100")],
            withValidationWarnings: ["unlucky", "1610"])
        #expect(attribute.validationPredicates.count == 2)
        #expect(attribute.validationWarnings.first as? String == "unlucky")
        #expect((attribute.validationWarnings.last as? NSNumber)?.intValue == 1610)
        #expect(attribute.validation.otherConditions.count == 2)
        attribute.setValidationPredicates(nil, withValidationWarnings: nil)
        #expect(attribute.validationPredicates.isEmpty)
    }

    @Test func defaultsHaveTheirTypes() throws {
        let entity = try #require(
            try model(
                """
                <model><entity name="A">
                <attribute name="i" attributeType="Integer 16" defaultValueString="7"/>
                <attribute name="f" attributeType="Float" defaultValueString="0.5"/>
                <attribute name="b" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="d" attributeType="Date" defaultDateTimeInterval="100"/>
                <attribute name="x" attributeType="Decimal" defaultValueString="12345678901234567890.5"/>
                <attribute name="s" attributeType="String" defaultValueString="text"/>
                <attribute name="u" attributeType="UUID" defaultValueString="01020304-0506-0708-090A-0B0C0D0E0F10"/>
                <attribute name="l" attributeType="URI" defaultValueString="http://example.invalid/"/>
                </entity></model>
                """
            ).entitiesByName["A"])
        func value(_ name: String) -> Any? { entity.attributesByName[name]?.defaultValue }
        #expect(value("i") as? Int16 == 7 && value("i") is NSNumber)
        #expect(value("f") as? Float == 0.5)
        #expect(value("b") as? Bool == true)
        #expect(value("d") as? Date == Date(timeIntervalSinceReferenceDate: 100))
        #expect(value("x") as? NSDecimalNumber == NSDecimalNumber(string: "12345678901234567890.5"))
        #expect(value("s") as? String == "text")
        #expect((value("u") as? UUID)?.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
        #expect((value("l") as? URL)?.absoluteString == "http://example.invalid/")
    }

    @Test func predicatesOfTheModelAreParsed() throws {
        let model = try model(
            """
            <model><entity name="A"><attribute name="n" attributeType="Integer 16"/>
            <attribute name="total" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="kids.@count"/>
            <relationship name="kids" optional="YES" toMany="YES" destinationEntity="A"/>
            <fetchedProperty name="peers" optional="YES">
            <fetchRequest name="fetchedPropertyFetchRequest" entity="A" predicateString="n == $FETCH_SOURCE.n"/></fetchedProperty>
            <fetchIndex name="i" partialIndexPredicate="n &gt; 0"><fetchIndexElement expression="n * 2" expressionType="Integer 16"/></fetchIndex>
            </entity><fetchRequest name="Over" entity="A" predicateString="n &gt; $LIMIT" fetchLimit="4"/></model>
            """)
        let entity = try #require(model.entitiesByName["A"])
        let total = try #require(entity.attributesByName["total"] as? NSDerivedAttributeDescription)
        #expect(total.derivationExpression?.description == "kids.@count")
        let peers = try #require(entity.propertiesByName["peers"] as? NSFetchedPropertyDescription)
        #expect(peers.fetchRequest?.entity === entity && peers.isTransient)
        #expect(peers.fetchRequest?.predicate?.formatString == "n == $FETCH_SOURCE.n")
        #expect(entity.indexes.first?.partialIndexPredicate?.formatString == "n > 0")
        #expect(entity.indexes.first?.elements.first?.property is NSExpressionDescription)

        let request = try #require(
            model.fetchRequestFromTemplate(withName: "Over", substitutionVariables: ["LIMIT": 3]))
        #expect(request.predicate?.formatString == "n > 3" && request.fetchLimit == 4 && request.entity === entity)
        #expect(model.fetchRequestTemplate(forName: "Over")?.predicate?.formatString == "n > $LIMIT")
        #expect(model.fetchRequestFromTemplate(withName: "Under", substitutionVariables: [:]) == nil)
    }

    @Test func predicatesThatDoNotParseAreAnError() {
        for body in [
            "<model><entity name=\"A\"><fetchIndex name=\"i\" partialIndexPredicate=\"n ==\"/></entity></model>",
            "<model><entity name=\"A\"/><fetchRequest name=\"f\" entity=\"A\" predicateString=\"AND\"/></model>",
        ] {
            #expect(throws: ModelFileError.self) { try model(body) }
        }
    }

    /// The classes convert back to the document they were created from.
    @Test(arguments: [CompiledForm.file, .store]) func classesGiveTheirDocumentBack(_ form: CompiledForm) throws {
        for url in [Self.sample] + ModelCorpus.someSources(from: form == .file ? 0 : 1) {
            let model = try NSManagedObjectModel(validContentsOf: url)
            let document = try ModelDisassembly.document(of: model)
            let again = NSManagedObjectModel()
            try ModelAssembly.fill(again, from: document, file: url.path)
            #expect(try ModelDisassembly.document(of: again) == document, "\(url.path)")
            #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)

            let archive = try CompiledModelWriter.write(document, form: form.form)
            let (read, notes) = try CompiledModelReader.read(archive, file: "written")
            #expect(notes.isEmpty)
            var expected = Self.sorted(document)
            if form == .store { expected.fetchRequests = [] }
            Self.dropWhatArchivesLack(&expected)
            #expect(read == expected, "\(url.path)")
        }
    }

    enum CompiledForm {
        case file, store
        var form: CompiledModelWriter.Form { self == .file ? .file : .store }
    }

    static func sorted(_ document: ModelDocument) -> ModelDocument {
        var document = document
        document.entities.sort { $0.name < $1.name }
        for index in document.entities.indices { document.entities[index].properties.sort { $0.name < $1.name } }
        return document
    }

    /// Removes the default class name, which archives do not contain.
    static func dropWhatArchivesLack(_ document: inout ModelDocument) {
        for entity in document.entities.indices where document.entities[entity].className == "NSManagedObject" {
            document.entities[entity].className = nil
        }
    }
}
