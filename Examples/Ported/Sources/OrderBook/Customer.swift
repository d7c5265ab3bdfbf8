//
//  Customer.swift
//  OrderBook
//

import CoreData
import Foundation

public final class Customer: NSManagedObject {

    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    /// A customer of the shop.
    public init(name: String, email: String, context: NSManagedObjectContext) {
        super.init(entity: Customer.entity(), insertInto: context)
        self.name = name
        self.email = email
    }
}

extension Customer {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Customer> {
        return NSFetchRequest<Customer>(entityName: "Customer")
    }

    @Managed public var email: String?
    @Managed public var id: UUID?
    @Managed public var name: String
    @Managed public var orders: Set<Order>

}

// MARK: Generated accessors for orders
extension Customer {

    @ManagedMethod public func addToOrders(_ value: Order)

    @ManagedMethod public func removeFromOrders(_ value: Order)

}
