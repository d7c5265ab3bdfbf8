import Foundation
import Testing

@testable import ModelFiles

/// Unknown parts of a source model are kept, and written at the same place.
@Suite struct UnknownSourcePartsTests {
    /// A model in Xcode's layout with unknown parts in every possible place.
    static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" future="1" documentVersion="1.0" minimumToolsVersion="Automatic" userDefinedModelVersionIdentifier="">
            <futureHeader/>
            <entity name="Team" representedClassName="Team" future="a &amp; &quot;b&quot;&#10;c" syncable="YES">
                <attribute name="name" optional="YES" x:future="é" attributeType="String">
                    <futureHint kind="1">text <b>and</b> more <!-- a comment --><![CDATA[<raw>]]></futureHint>
                    <userInfo future="1">
                        <entry key="a" value="1" future="2"/>
                        <futureEntry/>
                        <entry key="b" value="2">
                            <futurePart/>
                        </entry>
                    </userInfo>
                </attribute>
                <relationship name="players" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Team" future=""/>
                <futureProperty name="seasons" from="2030"/>
                <fetchedProperty name="peers" optional="YES" future="1">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Team" future="1">
                        <futureSort key="name"/>
                    </fetchRequest>
                </fetchedProperty>
                <fetchIndex name="byName" future="1">
                    <futureElement/>
                    <fetchIndexElement property="name" type="Binary" order="ascending" future="1"/>
                </fetchIndex>
                <uniquenessConstraints future="1">
                    <uniquenessConstraint future="2">
                        <constraint value="name" future="3"/>
                        <futureConstraint/>
                    </uniquenessConstraint>
                    <futureConstraints/>
                </uniquenessConstraints>
            </entity>
            <fetchRequest name="all" entity="Team" future="1"/>
            <configuration name="Local" future="1">
                <memberEntity name="Team" future="1"/>
                <futureMember/>
            </configuration>
            <elements future="1">
                <element name="Team" positionX="0" positionY="0" width="1" height="2" future="1"/>
                <futureNote>here</futureNote>
            </elements>
            <futureFooter>
                <deep/>
            </futureFooter>
        </model>
        """

    @Test func unknownPartsAreWrittenInPlace() throws {
        let (model, notes) = try SourceModelReader.read(Data(Self.contents.utf8), file: "contents")
        #expect(String(decoding: SourceModelWriter.write(model), as: UTF8.self) == Self.contents)
        // Each unknown attribute and each outermost unknown element has its own note with its line.
        let lines = Self.contents.split(separator: "\n", omittingEmptySubsequences: false)
        let unknown = lines.indices.filter { lines[$0].contains("uture") && !lines[$0].contains("</futureFooter") }
        #expect(Set(notes.compactMap(\.line)) == Set(unknown.map { $0 + 1 }))
        #expect(notes.contains { $0.line == 5 && $0.text == "unknown attribute 'x:future' of 'attribute'" })
        #expect(notes.contains { $0.line == 16 && $0.text == "unknown element 'futureProperty' in 'entity'" })
    }

    @Test func decompiledModelsKeepUnknownParts() throws {
        let model = try SourceModelReader.read(Data(Self.contents.utf8), file: "contents").model
        let written = SourceModelWriter.write(try model.compiled(file: "contents").decompiled())
        #expect(String(decoding: written, as: UTF8.self) == Self.contents)
    }

    /// Unknown parts of a changed model keep about the same place.
    @Test func aChangedModelKeepsTheRest() throws {
        var model = try SourceModelReader.read(Data(Self.contents.utf8), file: "contents").model
        model.entities[0].properties.removeAll { $0.name == "name" }
        model.entities[0].fetchIndexes = []
        model.entities[0].uniquenessConstraints = []
        let written = SourceModelWriter.write(model)
        let text = String(decoding: written, as: UTF8.self)
        #expect(text.contains("<futureProperty name=\"seasons\" from=\"2030\"/>") && !text.contains("futureHint"))
        #expect(try SourceModelReader.read(written, file: "contents").model.entities[0].properties.count == 2)
    }

    /// Written models of the corpus, with unknown parts at random places.
    @Test(.enabled(if: Corpus.isPresent, "no corpus: set ROSTER_CORPUS"), arguments: Corpus.sources)
    func corpusModelsKeepUnknownParts(_ url: URL) throws {
        let model = try ModelFile.read(url).model
        var generator = SeededGenerator(seed: 20_261_122)
        var lines = String(decoding: SourceModelWriter.write(model), as: UTF8.self).split(separator: "\n").map(
            String.init)
        var count = 0
        for place in lines.indices.dropFirst(2) where Int.random(in: 0..<4, using: &generator) == 0 {
            let line = lines[place]
            let isEnd = line.contains("</")
            let indentation = String(line.prefix { $0 == " " }) + (isEnd ? "    " : "")
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: lines[place] = "\(indentation)<future\(count) at=\"\(place)\"/>\n\(line)"
            case 1:
                lines[place] =
                    "\(indentation)<future\(count)>\n\(indentation)    <x/>\n\(indentation)</future\(count)>\n\(line)"
            default:
                let pairs = line.ranges(of: "\" ")
                guard !isEnd, let pair = pairs.randomElement(using: &generator) else {
                    continue
                }
                lines[place].replaceSubrange(pair, with: "\" future\(count)=\"漢字\" ")
            }
            count += 1
        }
        let altered = lines.joined(separator: "\n")
        let (read, notes) = try SourceModelReader.read(Data(altered.utf8), file: "altered")
        #expect(notes.count == count, "\(Corpus.name(url))")
        #expect(String(decoding: SourceModelWriter.write(read), as: UTF8.self) == altered, "\(Corpus.name(url))")
    }
}
