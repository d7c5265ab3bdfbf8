//
//  Recipe.swift
//  Recipes
//

import CoreData

class Recipe: NSManagedObject {
    @Managed var name: String
    @Managed var minutes: Int32
    @Managed var ingredients: Set<Ingredient>
}

class Ingredient: NSManagedObject {
    @Managed var name: String
    @Managed var quantity: NSNumber?
    @Managed var recipe: Recipe?
}

extension Recipe {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Recipe> {
        NSFetchRequest<Recipe>(entityName: "Recipe")
    }
}
