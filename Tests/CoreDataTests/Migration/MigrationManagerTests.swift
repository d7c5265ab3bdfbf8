import Testing

@testable import CoreData

/// Migrations by a mapping model, as in an app with a mapping from a model editor and a policy of its own. Uses only
/// the public interface.
@MainActor @Suite struct MigrationManagerTests {
    private let desk: MigrationDesk
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel

    init() throws {
        desk = try MigrationDesk()
        source = Self.firstVersion()
        destination = Self.secondVersion()
    }

    /// Books that name their author as text, on ordered shelves.
    private static func firstVersion() -> NSManagedObjectModel {
        let book = desk(
            "Book",
            [("title", .stringAttributeType), ("writer", .stringAttributeType), ("pages", .integer16AttributeType)])
        let shelf = desk("Shelf", [("name", .stringAttributeType)])
        MigrationDesk.relate(shelf, "books", many: true, ordered: true, book, "shelf")
        return MigrationDesk.model([book, shelf])
    }

    /// Books with a relationship to their author; a new required attribute.
    private static func secondVersion() -> NSManagedObjectModel {
        let book = desk(
            "Book",
            [("title", .stringAttributeType), ("pages", .integer32AttributeType), ("label", .stringAttributeType)])
        book.attributesByName["label"]?.isOptional = false
        let author = desk("Author", [("first", .stringAttributeType), ("last", .stringAttributeType)])
        let shelf = desk("Shelf", [("name", .stringAttributeType)])
        MigrationDesk.relate(shelf, "books", many: true, ordered: true, book, "shelf")
        MigrationDesk.relate(author, "books", many: true, book, "author")
        return MigrationDesk.model([book, author, shelf])
    }

    private static func desk(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        MigrationDesk.entity(name, attributes.map { MigrationDesk.attribute($0.0, $0.1) })
    }

    private func fill(count: Int = 7) throws {
        try desk.make(source) { context in
            let shelf = desk.insert("Shelf", ["name": "书架 📚"], context)
            let books = (0..<count).map { number in
                desk.insert(
                    "Book",
                    [
                        "title": "T\(number)", "writer": number % 2 == 0 ? "Ada Lovelace" : "مريم Mirzakhani",
                        "pages": number,
                    ],
                    context)
            }
            shelf.setValue(NSOrderedSet(array: books.reversed()), forKey: "books")
        }
    }

    private func mapping() throws -> NSMappingModel {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        let book = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Book" })
        book.mappingType = .customEntityMappingType
        book.entityMigrationPolicyClassName = NSStringFromClass(BookPolicy.self)
        let label = try #require(book.attributeMappings?.first { $0.name == "label" })
        label.valueExpression = NSExpression(
            format: "FUNCTION($entityPolicy, \"labelFor:pages:\", $source.title, $source.pages)")
        return mapping
    }

    // MARK: Inference

    @Test func mappingsAreInferredFromNames() throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        let byName = mapping.entityMappingsByName
        #expect(Set(byName.keys) == ["IEM_Transform_Book", "IEM_Copy_Shelf", "IEM_Add_Author"])
        #expect(byName["IEM_Add_Author"]?.mappingType == .addEntityMappingType)
        #expect(byName["IEM_Transform_Book"]?.mappingType == .transformEntityMappingType)
        let pages = byName["IEM_Transform_Book"]?.attributeMappings?.first { $0.name == "pages" }
        #expect(pages?.valueExpression?.description == "$source.pages")
        #expect(byName["IEM_Transform_Book"]?.sourceEntityVersionHash == source.entitiesByName["Book"]?.versionHash)
        #expect(throws: CocoaError.self) {
            let other = MigrationDesk.model([Self.desk("Book", [("title", .integer16AttributeType)])])
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: other)
        }
    }

    @Test func theManagerHasTheResultOfAMigrationInPlace() throws {
        let next = Self.firstVersion()
        next.entitiesByName["Book"]?.properties.append(
            MigrationDesk.attribute("pageCount", .integer32AttributeType, was: "pages"))
        next.entitiesByName["Book"]?.properties.removeAll { $0.name == "pages" }
        try fill(count: 1203)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: next)
        try manager.migrateStore(
            from: desk.url, type: .sqlite,
            mapping: NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: next), to: made,
            type: .sqlite)
        func rows(_ url: URL) throws -> [String] {
            let container = try desk.open(next.copy() as! NSManagedObjectModel, at: url)
            defer { try? desk.close(container) }
            let shelf = try #require(try desk.all("Shelf", container.viewContext, by: "name").first)
            let books = try #require(shelf.value(forKey: "books") as? NSOrderedSet)
            return books.array.compactMap { $0 as? NSManagedObject }.map {
                "\($0.value(forKey: "title") ?? "") \($0.value(forKey: "writer") ?? "") \($0.value(forKey: "pageCount") ?? "")"
            }
        }
        let through = try rows(made)
        #expect(through.count == 1203)
        #expect(try rows(desk.url) == through)
    }

    // MARK: Policies

    @Test func aPolicyMakesNewObjectsAndAnswersFunctions() throws {
        try fill(count: 1_201)
        BookPolicy.calls = []
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        manager.userInfo = ["authors": NSMutableDictionary()]
        try manager.migrateStore(
            from: desk.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping(), toDestinationURL: made,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        #expect(
            BookPolicy.calls == [
                "begin", "create 1201", "endInstances", "relate 1201", "endRelationships", "validate", "end",
            ])
        let container = try desk.open(destination, at: made)
        let context = container.viewContext
        let authors = try desk.all("Author", context, by: "last")
        #expect(authors.map { $0.value(forKey: "first") as? String } == ["Ada", "مريم"])
        #expect((authors[0].value(forKey: "books") as? NSSet)?.count == 601)
        let books = try desk.all("Book", context, by: "pages")
        #expect(books[3].value(forKey: "label") as? String == "T3 (3)")
        let shelf = try #require(books[0].value(forKey: "shelf") as? NSManagedObject)
        let ordered = try #require(shelf.value(forKey: "books") as? NSOrderedSet)
        #expect((ordered.array.first as? NSManagedObject)?.value(forKey: "title") as? String == "T1200")
        try desk.close(container)
    }

    @Test func aPolicyThatThrowsLeavesTheOldStoreAlone() throws {
        try fill()
        let before = try Data(contentsOf: desk.url)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let mapping = try mapping()
        mapping.entityMappings.first { $0.sourceEntityName == "Book" }?.entityMigrationPolicyClassName =
            NSStringFromClass(RefusingPolicy.self)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        #expect(throws: RefusingPolicy.Refusal.self) {
            try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: desk.folder.path).allSatisfy { !$0.contains("Made") })
        #expect(try Data(contentsOf: desk.url) == before)
    }

    @Test func aMigrationCanBeCancelledWithAnError() throws {
        try fill(count: 300)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let mapping = try mapping()
        mapping.entityMappings.first { $0.sourceEntityName == "Book" }?.entityMigrationPolicyClassName =
            NSStringFromClass(CancellingPolicy.self)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        #expect {
            try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        } throws: { error in
            (error as NSError).code == NSMigrationCancelledError && (error as NSError).domain == "mine"
        }
        #expect(!FileManager.default.fileExists(atPath: made.path))
        #expect(manager.migrationProgress == 0)
        // The cancellation is too late for the first migration and does not apply to the next one.
        manager.cancelMigrationWithError(NSError(domain: "late", code: NSMigrationCancelledError))
        try manager.migrateStore(from: desk.url, type: .sqlite, mapping: self.mapping(), to: made, type: .sqlite)
    }

    private static func entityMapping(
        _ name: String, _ type: NSEntityMappingType, _ old: NSEntityDescription?, _ new: NSEntityDescription?
    ) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.mappingType) = (name, type)
        (mapping.sourceEntityName, mapping.sourceEntityVersionHash) = (old?.name, old?.versionHash)
        (mapping.destinationEntityName, mapping.destinationEntityVersionHash) = (new?.name, new?.versionHash)
        return mapping
    }

    private static func property(_ name: String, _ format: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        (mapping.name, mapping.valueExpression) = (name, NSExpression(format: format))
        return mapping
    }

    /// Copied, transformed, added, removed and custom, the last with a condition and references to other migrated
    /// objects; written to a file and read back.
    @Test func everyTypeOfEntityMapping() throws {
        func model(_ version: Int) -> NSManagedObjectModel {
            let note = Self.desk("Note", [("text", .stringAttributeType)])
            let item = Self.desk("Item", [("number", version == 1 ? .stringAttributeType : .integer64AttributeType)])
            let tag = Self.desk("Tag", [(version == 1 ? "word" : "title", .stringAttributeType)])
            MigrationDesk.relate(note, "items", many: true, item, "note")
            return MigrationDesk.model([
                note, item, tag, Self.desk(version == 1 ? "Old" : "New", [("name", .stringAttributeType)]),
            ])
        }
        let (old, new) = (model(1), model(2))
        try desk.make(old) { context in
            let notes = ["first", "second"].map { desk.insert("Note", ["text": $0], context) }
            for number in 1...5 { desk.insert("Item", ["number": "\(number)", "note": notes[number % 2]], context) }
            desk.insert("Tag", ["word": "标签"], context)
            desk.insert("Old", ["name": "gone"], context)
        }
        func mapping(_ name: String, _ type: NSEntityMappingType, _ from: String?, _ to: String?) -> NSEntityMapping {
            Self.entityMapping(
                name, type, from.flatMap { old.entitiesByName[$0] }, to.flatMap { new.entitiesByName[$0] })
        }
        let item = mapping("ItemToItem", .customEntityMappingType, "Item", "Item")
        item.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Item\", "
                + "\"number > '2'\"), $manager.sourceContext, NO)")
        item.attributeMappings = [Self.property("number", #"CAST($source.number, "NSNumber")"#)]
        item.relationshipMappings = [
            Self.property(
                "note",
                "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"NoteToNote\", "
                    + "$source.note)")
        ]
        let tag = mapping("TagToTag", .transformEntityMappingType, "Tag", "Tag")
        tag.attributeMappings = [Self.property("title", "$source.word")]
        let written = NSMappingModel()
        written.entityMappings = [
            mapping("NoteToNote", .copyEntityMappingType, "Note", "Note"), item, tag,
            mapping("Old", .removeEntityMappingType, "Old", nil), mapping("New", .addEntityMappingType, nil, "New"),
        ]
        let file = desk.folder.appendingPathComponent("types.cdm")
        try written.write(to: file)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: desk.url, type: .sqlite, mapping: try NSMappingModel.read(from: file), to: made, type: .sqlite)
        let container = try desk.open(new, at: made)
        let context = container.viewContext
        let items = try desk.all("Item", context, by: "number")
        #expect(items.map { $0.value(forKey: "number") as? Int } == [3, 4, 5])
        #expect(items.map { $0.value(forKeyPath: "note.text") as? String } == ["second", "first", "second"])
        let notes = try desk.all("Note", context, by: "text")
        #expect(notes.map { ($0.value(forKey: "items") as? NSSet)?.count } == [1, 2])
        #expect(try desk.all("Tag", context, by: "title").map { $0.value(forKey: "title") as? String } == ["标签"])
        #expect(try desk.all("New", context, by: "name").isEmpty)
        try desk.close(container)
    }

    /// A store is migrated by the mapping model in the program's folder when it is added, even if none could be
    /// inferred.
    @Test func aMappingModelOfTheProgramIsFound() throws {
        try fill()
        let folder = try #require(Bundle.main.resourceURL)
        let file = folder.appendingPathComponent("\(UUID().uuidString).cdm")
        try mapping().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let container = try desk.open(destination)
        let books = try desk.all("Book", container.viewContext, by: "pages")
        #expect(books.map { $0.value(forKey: "label") as? String } == (0..<7).map { "T\($0) (\($0))" })
        try desk.close(container)
    }

    // MARK: What is wrong

    private func code(_ change: (NSMappingModel) -> Void) throws -> Int {
        let mapping = try mapping()
        change(mapping)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        do {
            try manager.migrateStore(from: desk.url, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        } catch {
            #expect(!FileManager.default.fileExists(atPath: made.path))
            #expect(!error.localizedDescription.contains("\n"))
            return (error as NSError).code
        }
        return 0
    }

    @Test func invalidMappingsAreReported() throws {
        try fill()
        func book(_ model: NSMappingModel) -> NSEntityMapping? {
            model.entityMappings.first { $0.sourceEntityName == "Book" }
        }
        func title(_ model: NSMappingModel, _ format: String) {
            book(model)?.attributeMappings?.first { $0.name == "title" }?.valueExpression = NSExpression(format: format)
        }
        #expect(try code { book($0)?.entityMigrationPolicyClassName = "Nobody" } == NSEntityMigrationPolicyError)
        #expect(try code { book($0)?.sourceEntityVersionHash = Data([1]) } == NSMigrationError)
        #expect(try code { book($0)?.destinationEntityName = "Scroll" } == NSMigrationError)
        #expect(try code { book($0)?.name = "IEM_Copy_Shelf" } == NSMigrationError)
        #expect(try code { title($0, "$source.nothing") } == NSEntityMigrationPolicyError)
        #expect(try code { title($0, "$source.pages") } == NSEntityMigrationPolicyError)
        #expect(try code { title($0, "FUNCTION($manager, \"remove:all:\", 'a', 'b')") } == NSEntityMigrationPolicyError)
        #expect(try code { title($0, "FUNCTION($entityPolicy, \"no:\", 'a')") } == NSEntityMigrationPolicyError)
        #expect(try code { title($0, "$nothing") } == NSEntityMigrationPolicyError)
        // A required attribute without a value.
        #expect(
            try code { model in
                book(model)?.attributeMappings?.first { $0.name == "label" }?.valueExpression = nil
            } == NSMigrationError)
        let made = desk.folder.appendingPathComponent("Made.sqlite")
        try Data("mine".utf8).write(to: made)
        #expect(throws: CocoaError.self) {
            try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
                from: desk.url, type: .sqlite, mapping: mapping(), to: made, type: .sqlite)
        }
        #expect(try Data(contentsOf: made) == Data("mine".utf8))
    }

    // MARK: Files

    @Test func aMappingModelIsWrittenAndRead() throws {
        let file = desk.folder.appendingPathComponent("1to2.cdm")
        let mapping = try mapping()
        mapping.entityMappings[0].userInfo = ["why": "because"]
        try mapping.write(to: file)
        let read = try NSMappingModel.read(from: file)
        #expect(read.entityMappings.map(\.name) == mapping.entityMappings.map(\.name))
        for (one, other) in zip(read.entityMappings, mapping.entityMappings) {
            #expect(one.mappingType == other.mappingType)
            #expect(one.sourceEntityVersionHash == other.sourceEntityVersionHash)
            #expect(one.sourceExpression == other.sourceExpression)
            #expect(one.entityMigrationPolicyClassName == other.entityMigrationPolicyClassName)
            for (left, right) in [
                (one.attributeMappings, other.attributeMappings),
                (one.relationshipMappings, other.relationshipMappings),
            ] {
                #expect((left ?? []).map(\.name) == (right ?? []).map(\.name))
                #expect((left ?? []).map(\.valueExpression) == (right ?? []).map(\.valueExpression))
            }
        }
        #expect(read.entityMappings[0].userInfo?["why"] as? String == "because")
        #expect(NSMappingModel(contentsOf: file) != nil)
        let bundle = try #require(Bundle(path: desk.folder.path))
        #expect(NSMappingModel(from: [bundle], forSourceModel: source, destinationModel: destination) != nil)
        #expect(NSMappingModel(from: [bundle], forSourceModel: destination, destinationModel: source) == nil)
        // Each truncation causes one clear error.
        let data = try Data(contentsOf: file)
        for length in stride(from: 0, to: data.count, by: 97) {
            try data.prefix(length).write(to: file)
            #expect(throws: CocoaError.self) { try NSMappingModel.read(from: file) }
        }
        #expect(NSMappingModel(contentsOf: file) == nil)
        #expect(NSMappingModel(contentsOf: nil) == nil)
        // A search without another result reports the damaged file.
        let found = MappingFile.search([bundle], from: source, to: destination)
        #expect(
            found.mappings == nil && (found.failure as? CocoaError)?.localizedDescription.contains("1to2.cdm") == true)
        try mapping.write(to: desk.folder.appendingPathComponent("whole.cdm"))
        let other = MappingFile.search([bundle], from: source, to: destination)
        #expect(other.mappings?.count == 3 && other.failure == nil)
    }
}

/// Creates one author for each name.
final class BookPolicy: NSEntityMigrationPolicy {
    nonisolated(unsafe) static var calls: [String] = []
    private var created = 0
    private var related = 0

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        Self.calls.append("begin")
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        created += 1
        guard let name = sInstance.value(forKey: "writer") as? String,
            let authors = manager.userInfo?["authors"] as? NSMutableDictionary,
            let book = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        if authors[name] == nil {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: manager.destinationContext)
            let parts = name.split(separator: " ").map(String.init)
            author.setValue(parts.first, forKey: "first")
            author.setValue(parts.last, forKey: "last")
            authors[name] = author
        }
        book.setValue(authors[name], forKey: "author")
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.calls += ["create \(created)", "endInstances"]
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        related += 1
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.calls += ["relate \(related)", "endRelationships"]
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.calls.append("validate")
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { Self.calls.append("end") }

    override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        guard selector == "labelFor:pages:" else {
            return try super.value(ofFunction: selector, arguments: arguments)
        }
        return "\(arguments[0] ?? "") (\(arguments[1] ?? ""))"
    }
}

final class RefusingPolicy: NSEntityMigrationPolicy {
    struct Refusal: Error {}

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        throw Refusal()
    }

    override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? { "label" }
}

final class CancellingPolicy: NSEntityMigrationPolicy {
    private var count = 0

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        count += 1
        if count == 150 { manager.cancelMigrationWithError(NSError(domain: "mine", code: NSMigrationCancelledError)) }
    }

    override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? { "label" }
}
