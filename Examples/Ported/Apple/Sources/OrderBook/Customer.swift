//
//  Customer.swift
//  OrderBook
//

import CoreData
import Foundation

@objc(Customer)
public final class Customer: NSManagedObject {

    public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
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

    @NSManaged public var email: String?
    @NSManaged public var id: UUID?
    @NSManaged public var name: String
    @NSManaged public var orders: Set<Order>

}

// MARK: Generated accessors for orders
extension Customer {

    @objc(addOrdersObject:)
    @NSManaged public func addToOrders(_ value: Order)

    @objc(removeOrdersObject:)
    @NSManaged public func removeFromOrders(_ value: Order)

}
