import Foundation
import ModelFiles
import Testing

@testable import CoreData

/// Unknown parts of a model's file are preserved by the model's classes: through reading, copying, merging, storing and
/// writing.
@Suite struct UnknownModelPartsTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("unknown-parts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private static let contents = """
        <model documentVersion="1.0" future="0">
            <entity name="Team" syncable="YES" future="1">
                <futureThing/>
                <attribute name="name" optional="YES" attributeType="String" syncable="YES" future="2">
                    <futureHint>a</futureHint>
                </attribute>
                <fetchIndex name="byName" future="3">
                    <fetchIndexElement property="name" type="Binary" order="ascending" future="4"/>
                </fetchIndex>
            </entity>
            <fetchRequest name="all" entity="Team" future="5"/>
            <configuration name="Local" future="6">
                <memberEntity name="Team"/>
            </configuration>
        </model>
        """

    private func sourceModel(_ name: String) throws -> NSManagedObjectModel {
        let source = folder.appendingPathComponent(name + ".xcdatamodel")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        try Data(Self.contents.utf8).write(to: source.appendingPathComponent("contents"))
        return try NSManagedObjectModel(validContentsOf: source)
    }

    private func copies(_ model: NSManagedObjectModel) throws -> [NSManagedObjectModel] {
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let merged = try #require(NSManagedObjectModel(byMerging: [model, copy]))
        return [model, copy, merged]
    }

    @Test func ofSourceModels() throws {
        let model = try sourceModel("A")
        #expect(model.readingNotes.count == 9)
        for model in try copies(model) {
            let text = String(decoding: try model.sourceContents().data, as: UTF8.self)
            let written = text.split(separator: "\n").dropFirst().filter { $0.contains("uture") }.dropFirst()
            let original = Self.contents.split(separator: "\n").filter { $0.contains("uture") }.dropFirst()
            #expect(Array(written) == Array(original))
            #expect(text.contains(" future=\"0\" "))
        }
    }

    @Test func ofCompiledModels() throws {
        var document = try ModelFile.readForUse(folderOfSource("B")).model
        func unknown(_ number: Int64) -> UnknownParts {
            var unknown = UnknownParts()
            unknown.archived.objects = [
                .object(classes: ["XFuture", "NSObject"], fields: ["to": .reference(1), "self": .reference(0)]),
                .entity("Team"),
            ]
            unknown.archived.fields = ["XNumber": .integer(number), "XObject": .reference(0)]
            return unknown
        }
        document.unknown = unknown(0)
        document.entities[0].unknown = unknown(1)
        document.entities[0].properties[0].unknown = unknown(2)
        document.entities[0].fetchIndexes[0].unknown = unknown(3)
        document.entities[0].fetchIndexes[0].elements[0].unknown = unknown(4)
        document.fetchRequests[0].unknown = unknown(5)
        let file = folder.appendingPathComponent("B.mom")
        try CompiledModelBundle.write(document, to: file)
        let expected = try ModelFile.read(file).model
        #expect(expected.entities[0].properties[0].unknown == unknown(2))

        let model = try NSManagedObjectModel(validContentsOf: file)
        #expect(model.readingNotes.contains { $0.contains("unknown key 'XObject' of NSEntityDescription") })
        for (number, model) in try copies(model).enumerated() {
            let written = folder.appendingPathComponent("B\(number).mom")
            #expect(try model.write(to: written) == [])
            #expect(try ModelFile.read(written).model == expected)
            let source = folder.appendingPathComponent("B\(number).xcdatamodel")
            #expect(try model.write(to: source).contains("the unknown value of the key 'XObject' of 'Team.name'"))
        }
        // A store preserves them, too, except in named requests, which no store contains.
        let store = folder.appendingPathComponent("B.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: store)
        let kept = try NSManagedObjectModel(cachedModelData: model.cachedModelData())
        #expect(try ModelLoading.document(of: kept).entities == expected.entities)
    }

    private func folderOfSource(_ name: String) throws -> URL {
        _ = try sourceModel(name)
        return folder.appendingPathComponent(name + ".xcdatamodel")
    }
}
