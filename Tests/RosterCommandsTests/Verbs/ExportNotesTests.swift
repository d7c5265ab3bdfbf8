import CoreData
import Foundation
import SQLiteAccess
import Testing

@testable import RosterCommands

/// `export` reports missing values if they would be in its output, and not those of other entities.
@Suite struct ExportNotesTests {
    private let folder: TemporaryFolder
    private let store: StoreLocation

    /// Owners with things, and a table of things that lacks the column `size`.
    init() throws {
        folder = try TemporaryFolder()
        let model = folder.path("Things.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try Data(
            """
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Owner">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="size" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
                    <relationship name="thing" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" \
            inverseName="owner" inverseEntity="Thing"/>
                </entity>
                <entity name="Thing">
                    <attribute name="name" optional="YES" attributeType="String"/>
                    <attribute name="size" optional="YES" attributeType="Integer 64" usesScalarValueType="YES"/>
                    <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" \
            inverseName="thing" inverseEntity="Owner"/>
                </entity>
            </model>
            """.utf8
        ).write(to: URL(fileURLWithPath: model + "/contents"))
        store = StoreLocation(store: folder.path("things.sqlite"), model: model)
        try CreateCommand(store: store.store, model: model).run(in: TestSurroundings().surroundings())
        for entity in ["Owner", "Thing"] {
            try InsertCommand(store: store, entity: entity, assignments: [Assignment("name=a")])
                .run(in: TestSurroundings().surroundings())
        }
        let connection = try Connection(path: store.store, access: .readWrite)
        try connection.execute("ALTER TABLE ZTHING DROP COLUMN ZSIZE")
    }

    private func missing(_ entity: String, _ columns: [String]? = nil) throws -> String? {
        try ExportCommand(store: store, entity: entity, columns: columns)
            .run(in: TestSurroundings().surroundings()).missing
    }

    @Test func otherEntitiesDoNotMatter() throws {
        #expect(try missing("Owner") == nil)
        #expect(try missing("Owner", ["size"]) == nil)
    }

    @Test func columnsOnTheWayMatter() throws {
        #expect(try missing("Thing")?.contains("Thing.size") == true)
        #expect(try missing("Thing", ["size"])?.contains("Thing.size") == true)
        #expect(try missing("Thing", ["name", "owner"]) == nil)
        #expect(try missing("Owner", ["thing.size"])?.contains("Thing.size") == true)
    }
}
