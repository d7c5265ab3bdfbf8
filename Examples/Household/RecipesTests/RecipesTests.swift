//
//  RecipesTests.swift
//  RecipesTests
//

import CoreData
import XCTest
@testable import Recipes

final class RecipesTests: XCTestCase {

    private var url: URL!

    override func setUpWithError() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".json")
    }

    override func tearDownWithError() throws {
        try? FileManager.default.removeItem(at: url)
    }

    func testRecipesAreReadAgain() throws {
        let book = try RecipeBook(url: url)
        book.add("Soup", minutes: 40, ingredients: ["Water": 1.5, "Leek": 2])
        book.add("bread", minutes: 90)
        try book.save()

        let again = try RecipeBook(url: url)
        let recipes = try again.recipes(within: 100)
        XCTAssertEqual(recipes.map(\.name), ["bread", "Soup"])
        XCTAssertEqual(recipes.last?.ingredients.map(\.name).sorted(), ["Leek", "Water"])
        XCTAssertEqual(recipes.last?.ingredients.first { $0.name == "Water" }?.quantity?.doubleValue, 1.5)
        XCTAssertEqual(try again.recipes(within: 60).count, 1)
    }

    func testDeletingCascades() throws {
        let book = try RecipeBook(url: url)
        let soup = book.add("Soup", minutes: 40, ingredients: ["Water": 1])
        try book.save()
        book.context.delete(soup)
        try book.save()
        XCTAssertEqual(try book.context.count(for: NSFetchRequest<Ingredient>(entityName: "Ingredient")), 0)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: JSONStore.type, at: url, options: nil)
        XCTAssertEqual(metadata[NSStoreTypeKey] as? String, JSONStore.type)
    }

    func testAnInvalidRecipeIsNotSaved() throws {
        let book = try RecipeBook(url: url)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Recipe", into: book.context)
        XCTAssertThrowsError(try book.save()) { error in
            XCTAssertEqual((error as NSError).code, NSValidationMissingMandatoryPropertyError)
        }
        book.context.undoManager?.undo()
        XCTAssertFalse(book.context.hasChanges)
    }
}
