//
//  Recipe.swift
//  Recipes
//

import CoreData

@objc(Recipe)
class Recipe: NSManagedObject {
    @NSManaged var name: String
    @NSManaged var minutes: Int32
    @NSManaged var ingredients: Set<Ingredient>
}

@objc(Ingredient)
class Ingredient: NSManagedObject {
    @NSManaged var name: String
    @NSManaged var quantity: NSNumber?
    @NSManaged var recipe: Recipe?
}

extension Recipe {
    @nonobjc class func fetchRequest() -> NSFetchRequest<Recipe> {
        NSFetchRequest<Recipe>(entityName: "Recipe")
    }
}
