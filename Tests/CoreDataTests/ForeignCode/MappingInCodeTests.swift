import CoreData
import Foundation
import Testing

/// Mapping models created in code, as in migrations without Xcode. Uses only the public interface.
@MainActor @Suite struct MappingInCodeTests {
    private static func model(_ attributes: String...) -> NSManagedObjectModel {
        MigrationDesk.model([MigrationDesk.entity("Post", attributes.map { MigrationDesk.attribute($0) })])
    }

    private func mapping(_ expressions: [String: String]) -> NSMappingModel {
        let post = NSEntityMapping()
        post.name = "PostToPost"
        post.mappingType = .customEntityMappingType
        post.sourceEntityName = "Post"
        post.destinationEntityName = "Post"
        post.attributeMappings = expressions.map { name, text in
            let attribute = NSPropertyMapping()
            attribute.name = name
            attribute.valueExpression = NSExpression(format: text)
            return attribute
        }
        let mapping = NSMappingModel()
        mapping.entityMappings = [post]
        return mapping
    }

    @Test func valuesOfTheSourceAreReadByKey() throws {
        let desk = try MigrationDesk()
        let old = Self.model("number", "color")
        try desk.make(old) { desk.insert("Post", ["number": "1", "color": "red"], $0) }
        let new = Self.model("number", "hex")
        let place = desk.folder.appendingPathComponent("New.sqlite")
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: desk.url, sourceType: NSSQLiteStoreType,
            with: mapping([
                "number": "FUNCTION($source, \"valueForKey:\", \"number\")",
                "hex": "FUNCTION($source, \"valueForKeyPath:\", \"color\")",
            ]), toDestinationURL: place, destinationType: NSSQLiteStoreType)
        let container = try desk.open(new, at: place)
        let posts = try desk.all("Post", container.viewContext, by: "number")
        #expect(posts.map { $0.value(forKey: "number") as? String } == ["1"])
        #expect(posts.map { $0.value(forKey: "hex") as? String } == ["red"])
        try desk.close(container)
    }

    @Test func anUnknownKeyIsAnError() throws {
        let desk = try MigrationDesk()
        let old = Self.model("number")
        try desk.make(old) { desk.insert("Post", ["number": "1"], $0) }
        let error = try #require(throws: CocoaError.self) {
            try NSMigrationManager(sourceModel: old, destinationModel: Self.model("number", "hex")).migrateStore(
                from: desk.url, sourceType: NSSQLiteStoreType,
                with: mapping(["number": "FUNCTION($source, \"valueForKey:\", \"nothing\")"]),
                toDestinationURL: desk.folder.appendingPathComponent("New.sqlite"), destinationType: NSSQLiteStoreType)
        }
        #expect(error.errorCode == 134170)
    }
}
