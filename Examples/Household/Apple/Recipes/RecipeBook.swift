//
//  RecipeBook.swift
//  Recipes
//

import CoreData
import OSLog

/// The recipes of a household in a JSON file.
public final class RecipeBook {

    private static let logger = Logger(subsystem: "org.example.household", category: "recipes")

    let context: NSManagedObjectContext

    private static let model = NSManagedObjectModel.mergedModel(from: [Bundle(for: RecipeBook.self)])

    public init(url: URL) throws {
        JSONStore.register()
        guard let model = Self.model else { throw CocoaError(.fileNoSuchFile) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: JSONStore.type, configurationName: nil, at: url, options: nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = UndoManager()
    }

    @discardableResult
    func add(_ name: String, minutes: Int32, ingredients: [String: Double] = [:]) -> Recipe {
        let recipe = NSEntityDescription.insertNewObject(forEntityName: "Recipe", into: context) as! Recipe
        recipe.name = name
        recipe.minutes = minutes
        for (name, quantity) in ingredients {
            let ingredient = Ingredient(context: context)
            ingredient.name = name
            ingredient.quantity = NSNumber(value: quantity)
            ingredient.recipe = recipe
        }
        return recipe
    }

    func recipes(within minutes: Int) throws -> [Recipe] {
        let request = Recipe.fetchRequest() as NSFetchRequest<Recipe>
        request.predicate = NSPredicate(format: "minutes <= %d", minutes)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, selector: #selector(NSString.localizedCaseInsensitiveCompare(_:)))]
        return try context.fetch(request)
    }

    public func save() throws {
        do {
            try context.save()
        } catch let error as NSError {
            Self.logger.error("Could not save: \(error.domain, privacy: .public) \(error.code)")
            throw error
        }
    }
}
