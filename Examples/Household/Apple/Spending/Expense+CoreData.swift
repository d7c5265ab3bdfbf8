//
//  Expense+CoreData.swift
//  Spending
//

import CoreData

@objc(Expense)
public final class Expense: NSManagedObject {
    @NSManaged public var amount: NSDecimalNumber
    @NSManaged public var date: Date
    @NSManaged public var title: String
    @NSManaged public var category: Category?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Expense> {
        return NSFetchRequest<Expense>(entityName: "Expense")
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: #keyPath(Expense.date))
    }
}

extension Expense: Identifiable {}

@objc(Category)
public final class Category: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var expenses: NSSet?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Category> {
        return NSFetchRequest<Category>(entityName: "Category")
    }
}

// MARK: Generated accessors for expenses
extension Category {

    @objc(addExpensesObject:)
    @NSManaged public func addToExpenses(_ value: Expense)

    @objc(removeExpensesObject:)
    @NSManaged public func removeFromExpenses(_ value: Expense)
}
