//
//  Expense+CoreData.swift
//  Spending
//

import CoreData

public final class Expense: NSManagedObject {
    @Managed public var amount: NSDecimalNumber
    @Managed public var date: Date
    @Managed public var title: String
    @Managed public var category: Category?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Expense> {
        return NSFetchRequest<Expense>(entityName: "Expense")
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: "date")
    }
}

extension Expense: Identifiable {}

public final class Category: NSManagedObject {
    @Managed public var name: String
    @Managed public var expenses: NSSet?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Category> {
        return NSFetchRequest<Category>(entityName: "Category")
    }
}

// MARK: Generated accessors for expenses
extension Category {

    @ManagedMethod public func addToExpenses(_ value: Expense)

    @ManagedMethod public func removeFromExpenses(_ value: Expense)
}
