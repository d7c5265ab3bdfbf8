import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A store written by Apple's SwiftData: its structs and enums are composite attributes.
@Suite(.enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct SwiftDataStoreTests {
    private static let cocktails = CorpusCopy.all.first { $0.name == "swiftdata-cocktails-1414" }

    private func copy() throws -> CorpusCopy { try CorpusCopy(try #require(Self.cocktails, "no such store")) }

    /// `author.id` has the column `ZID`, and `id` has `ZID1`; in IngredientBase it is the reverse.
    @Test func clashingNamesReadTheirOwnColumns() throws {
        let copy = try copy()
        let context = copy.context()
        try context.performAndWait {
            let rows = try copy.harness.sql(
                "SELECT Z_PK, ZID, ZID1, ZPERSON, ZGLASSWARETYPE, ZCOLLECTION FROM ZCOCKTAIL ORDER BY Z_PK")
            let objects = try Self.objects("Cocktail", context)
            #expect(rows.count == 416 && objects.count == 416)
            for row in rows {
                guard case .integer(let key) = row[0] else { continue }
                let cocktail = try #require(objects[key])
                #expect(Self.blob(cocktail.value(forKeyPath: "author.id")) == row[1])
                #expect(Self.blob(cocktail.value(forKey: "id")) == row[2])
                let author = cocktail.value(forKey: "author") as? [String: Any]
                #expect((author?["person"] as? String).map(SQLiteValue.text) ?? .null == row[3])
                let glass = cocktail.value(forKey: "glasswareType") as? [String: Any]
                #expect((glass?["glasswareType"] as? String).map(SQLiteValue.text) ?? .null == row[4])
                let collection = cocktail.value(forKeyPath: "collection.collection") as? Int64
                #expect(collection.map(SQLiteValue.integer) ?? .null == row[5])
            }
            let bases = try Self.objects("IngredientBase", context)
            for row in try copy.harness.sql("SELECT Z_PK, ZID, ZID1 FROM ZINGREDIENTBASE") {
                guard case .integer(let key) = row[0] else { continue }
                #expect(Self.blob(bases[key]?.value(forKey: "id")) == row[1])
                #expect(Self.blob(bases[key]?.value(forKeyPath: "prep.id")) == row[2])
            }
        }
    }

    private static func objects(_ entity: String, _ context: NSManagedObjectContext) throws -> [Int64: NSManagedObject]
    {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        return Dictionary(uniqueKeysWithValues: found.map { ($0.objectID.rowKey?.reference ?? 0, $0) })
    }

    private static func blob(_ value: Any?) -> SQLiteValue {
        (value as? UUID).map { id in .blob(withUnsafeBytes(of: id.uuid) { Data($0) }) } ?? .null
    }

    /// A required struct whose fields are all nil is an empty dictionary, so its object can be saved.
    @Test func updatesWriteTheColumnsOfTheirElements() throws {
        let copy = try copy()
        let before = try copy.harness.sql("SELECT * FROM ZCOCKTAIL WHERE Z_PK = 7")[0]
        let names = try #require(copy.open.store.openSession).connection.columns(of: "ZCOCKTAIL")
        let context = copy.context()
        let id = UUID()
        try context.performAndWait {
            let cocktail = try #require(try Self.objects("Cocktail", context)[7])
            cocktail.setValue([String: Any](), forKey: "compiledTags")
            cocktail.setValue(id, forKeyPath: "author.id")
            cocktail.setValue(nil, forKeyPath: "author.year")
            cocktail.setValue(["glasswareType": "coupe"], forKey: "glasswareType")
            cocktail.setValue(["gimlet": "gimlet"], forKey: "historicSpec")
            try context.save()
        }
        let after = try copy.harness.sql("SELECT * FROM ZCOCKTAIL WHERE Z_PK = 7")[0]
        var expected = Dictionary(uniqueKeysWithValues: zip(names, before))
        guard case .integer(let version)? = expected["Z_OPT"] else { throw CancellationError() }
        expected["Z_OPT"] = .integer(version + 1)
        expected["ZID"] = Self.blob(id)
        expected["ZYEAR"] = .null
        expected["ZGLASSWARETYPE"] = .text("coupe")
        for name in ["ZFLAVORS", "ZPROFILES", "ZSTYLES", "ZBOOZE", "ZNA"] { expected[name] = .null }
        expected["ZGIMLET"] = .text("gimlet")
        #expect(Dictionary(uniqueKeysWithValues: zip(names, after)) == expected)
        let other = copy.context()
        try other.performAndWait {
            let cocktail = try #require(try Self.objects("Cocktail", other)[7])
            #expect((cocktail.value(forKey: "compiledTags") as? [String: Any])?.isEmpty == true)
            cocktail.setValue("new", forKey: "notes")
            try other.save()
        }
    }

    @Test func elementsAreSearchedSortedAndFetched() throws {
        let copy = try copy()
        let context = copy.context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Cocktail")
            request.predicate = NSPredicate(
                format: "author.person BEGINSWITH 'S' AND glasswareType.glasswareType != nil")
            request.sortDescriptors = ["author.person", "author.year", "cocktailName"].map {
                NSSortDescriptor(key: $0, ascending: true)
            }
            let found = try context.fetch(request)
            let names = try copy.harness.sql(
                "SELECT ZCOCKTAILNAME FROM ZCOCKTAIL WHERE ZPERSON GLOB 'S*' AND ZGLASSWARETYPE IS NOT NULL "
                    + "ORDER BY ZPERSON, ZYEAR, ZCOCKTAILNAME")
            #expect(
                found.map { SQLiteValue.text($0.value(forKey: "cocktailName") as? String ?? "") } == names.map { $0[0] }
            )
            #expect(!names.isEmpty)
            #expect(found.allSatisfy { request.predicate?.evaluate(with: $0) == true })
            #expect(try copy.open.store.fetch(query(request, copy)).unsupported.isEmpty, "by SQL")

            let values = NSFetchRequest<NSDictionary>(entityName: "Cocktail")
            values.resultType = .dictionaryResultType
            values.propertiesToFetch = ["author.person", "author", "id"]
            values.predicate = NSPredicate(
                format: "cocktailName == %@", try #require(found[0].value(forKey: "cocktailName") as? String))
            let row = try #require(try context.fetch(values).first)
            #expect(row["author.person"] as? String == found[0].value(forKeyPath: "author.person") as? String)
            #expect(row["author"] as? NSDictionary == found[0].value(forKey: "author") as? NSDictionary)
        }
    }

    private func query(_ request: NSFetchRequest<NSManagedObject>, _ copy: CorpusCopy) throws -> StoreQuery {
        var query = StoreQuery(entity: try copy.open.entity("Cocktail"), predicate: request.predicate?.syntaxTree)
        query.sortKeys = (request.sortDescriptors ?? []).map(\.storeSortKey)
        return query
    }

    /// A model written in code has the hashes that Apple's framework wrote into the file.
    @Test func modelsWrittenByHandHaveApplesHashes() throws {
        let base = StoreModels.entity(
            "IngredientBase",
            [
                Self.required("name", .stringAttributeType), Self.required("id", .UUIDAttributeType),
                Self.optional("info", .stringAttributeType), Self.required("isCustom", .booleanAttributeType),
                Self.required("baseCategory", .stringAttributeType),
                Self.required("umbrellaCategory", .stringAttributeType),
                Self.required("specialtyCategory", .stringAttributeType),
                Self.composite(
                    "prep",
                    [
                        Self.optional("id", .UUIDAttributeType),
                        Self.optional("prepIngredientName", .stringAttributeType),
                        Self.optional("prepRecipe", .binaryDataAttributeType),
                    ]),
                Self.composite(
                    "tags",
                    ["flavors", "profiles", "styles", "booze", "nA"].map {
                        Self.optional($0, .binaryDataAttributeType)
                    }),
            ], unique: [["name"]])
        let used = StoreModels.relationship("ingredientBase")
        used.isOptional = false
        used.destinationEntity = base
        let ingredient = StoreModels.entity(
            "Ingredient",
            [
                Self.required("id", .UUIDAttributeType), Self.required("value", .doubleAttributeType), used,
                Self.composite("unit", [Self.optional("unit", .stringAttributeType)], isOptional: false),
            ])
        let model = StoreModels.model([ingredient, base])
        let stored = try #require(ModelCorpus.stores.first { $0.description.contains("cocktails-1414") }).hashes
        for name in ["Ingredient", "IngredientBase"] {
            #expect(model.entityVersionHashesByName[name] == stored[name], "\(name)")
        }
    }

    private static func optional(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        StoreModels.attribute(name, type)
    }

    private static func required(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = StoreModels.attribute(name, type)
        attribute.isOptional = false
        return attribute
    }

    private static func composite(
        _ name: String, _ elements: [NSAttributeDescription], isOptional: Bool = true
    ) -> NSAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.elements = elements
        composite.isOptional = isOptional
        return composite
    }
}
