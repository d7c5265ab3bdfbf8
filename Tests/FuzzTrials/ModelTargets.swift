import Foundation
import ModelFiles

/// The sample's model.
private let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("sample-data/WorldCup.xcdatamodeld")

/// Source models. A model that can be read is written and read again.
struct SourceModelTarget: FuzzTarget {
    let seeds: [[UInt8]]

    init() throws {
        let model = try ModelFile.read(sample).model
        seeds = [[UInt8](SourceModelWriter.write(model)), Array(Self.everything.utf8)]
    }

    var pieces: [String] {
        [
            "<attribute name=\"x\" attributeType=\"", "\"/>", "<!--", "]]>", "&#x0;", "&amp;", "optional=\"YES\"",
            "maxCount=\"-1\"",
            "attributeType=\"Decimal\"", "defaultValueString=\"1e400\"", "parentEntity=\"Team\"", "inverseName=\"x\"",
            "</entity>",
        ]
    }

    private static let everything = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="1">
          <entity name="Base" isAbstract="YES" representedClassName="Base"><attribute name="code" optional="YES" attributeType="UUID"/></entity>
          <entity name="Team" parentEntity="Base" syncable="YES">
            <attribute name="price" attributeType="Decimal" defaultValueString="1.25" minValueString="0" maxValueString="9"/>
            <attribute name="founded" attributeType="Date" defaultDateTimeInterval="3600" usesScalarValueType="NO"/>
            <attribute name="name" attributeType="String" regularExpressionString="[a-z]+"><userInfo><entry key="k" value="v"/></userInfo></attribute>
            <attribute name="count" attributeType="Integer 64" derived="YES" derivationExpression="players.@count"/>
            <relationship name="players" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Player" inverseName="team" inverseEntity="Player"/>
            <fetchedProperty name="same" optional="YES"><fetchRequest name="f" entity="Team" predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
            <fetchIndex name="byName"><fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
          </entity>
          <entity name="Player"><relationship name="team" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Team" inverseName="players" inverseEntity="Team"/></entity>
          <fetchRequest name="All" entity="Team" predicateString="name == $NAME" fetchLimit="3"/>
          <configuration name="Part"><memberEntity name="Team"/></configuration>
        </model>
        """

    func read(_ bytes: [UInt8]) throws {
        let model = try ModelRefusal.checked { try SourceModelReader.read(Data(bytes), file: "contents").model }
        let written = SourceModelWriter.write(model)
        guard let again = try? SourceModelReader.read(written, file: "written").model else {
            throw WrongAnswer(description: "what was read and written is refused")
        }
        try WrongAnswer.unless(SourceModelWriter.write(again) == written, "what was written reads as another model")
    }
}

/// Compiled models, in files and as cached in stores.
struct CompiledModelTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let isKept: Bool

    init(isKept: Bool) throws {
        self.isKept = isKept
        var model = try SourceModelReader.read(Data(SourceModelTarget().seeds[1]), file: "contents").model
        // Source models contain predicates as text, which only the compiler parses.
        model.fetchRequests = []
        for index in model.entities.indices {
            model.entities[index].properties.removeAll { if case .fetched = $0.kind { true } else { false } }
        }
        let models = [try ModelFile.read(sample).model, model]
        seeds = try models.map {
            [UInt8](isKept ? try ModelFile.writeCached($0) : try CompiledModelWriter.write($0, form: .file))
        }
    }

    func read(_ bytes: [UInt8]) throws {
        let model = try ModelRefusal.checked {
            isKept
                ? try ModelFile.readCached(Data(bytes), store: "x.sqlite").model
                : try CompiledModelReader.read(Data(bytes), file: "x.mom").model
        }
        let written = try ModelRefusal.checked { try CompiledModelWriter.write(model, form: .file) }
        do { _ = try CompiledModelReader.read(written, file: "written.mom") } catch {
            throw WrongAnswer(description: "what was read and written is refused: \(error)")
        }
    }
}

/// Compiled mapping models.
struct MappingTarget: FuzzTarget {
    let seeds: [[UInt8]]

    init(folder: URL) throws {
        let url = folder.appendingPathComponent("x.cdm")
        try CompiledMappingWriter.write(Self.mappings, to: url)
        seeds = [[UInt8](try Data(contentsOf: url))]
    }

    private static var mappings: [EntityMappingDocument] {
        var mapping = EntityMappingDocument(name: "TeamToTeam")
        mapping.type = 1
        (mapping.sourceName, mapping.destinationName) = ("Team", "Team")
        mapping.policyClassName = "Club.TeamPolicy"
        mapping.sourceHash = Data(repeating: 7, count: 32)
        mapping.destinationHash = Data(repeating: 9, count: 32)
        let name = ExpressionDocument.keyPathOf(.variable("source"), "name")
        mapping.attributes = [
            PropertyMappingDocument(name: "name", value: name),
            PropertyMappingDocument(name: "count", value: .constant(.string("3"))),
        ]
        mapping.relationships = [
            PropertyMappingDocument(
                name: "players",
                value: .functionOn(
                    .variable("manager"), MappingSelectors.destinations, [.constant(.string("P")), name]))
        ]
        var added = EntityMappingDocument(name: "AddPlayer")
        added.type = 2
        added.destinationName = "Player"
        return [mapping, added]
    }

    func read(_ bytes: [UInt8]) throws {
        _ = try ModelRefusal.checked { try CompiledMappingReader.read(Data(bytes), file: "x.cdm") }
    }
}

private enum ModelRefusal {
    /// - Throws: ``WrongAnswer`` if the error is not a `ModelFileError` or has several lines.
    static func checked<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ModelFileError {
            try WrongAnswer.unless(
                !error.reason.isEmpty && !error.description.contains("\n"), "an error of several lines: \(error)")
            throw error
        } catch {
            throw WrongAnswer(description: "an error of another kind: \(error)")
        }
    }
}
