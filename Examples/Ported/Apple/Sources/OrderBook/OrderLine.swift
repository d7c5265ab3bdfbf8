//
//  OrderLine.swift
//  OrderBook
//

import CoreData
import Foundation

@objc(OrderLine)
public class OrderLine: NSManagedObject {

    public var amount: NSDecimalNumber {
        (unitPrice ?? .zero).multiplying(by: NSDecimalNumber(value: quantity))
    }
}

extension OrderLine {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<OrderLine> {
        return NSFetchRequest<OrderLine>(entityName: "OrderLine")
    }

    @NSManaged public var quantity: Int32
    @NSManaged public var unitPrice: NSDecimalNumber?
    @NSManaged public var order: Order?
    @NSManaged public var product: Product?

}
