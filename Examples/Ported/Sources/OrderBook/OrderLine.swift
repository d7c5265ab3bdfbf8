//
//  OrderLine.swift
//  OrderBook
//

import CoreData
import Foundation

public class OrderLine: NSManagedObject {

    public var amount: NSDecimalNumber {
        (unitPrice ?? .zero).multiplying(by: NSDecimalNumber(value: quantity))
    }
}

extension OrderLine {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<OrderLine> {
        return NSFetchRequest<OrderLine>(entityName: "OrderLine")
    }

    @Managed public var quantity: Int32
    @Managed public var unitPrice: NSDecimalNumber?
    @Managed public var order: Order?
    @Managed public var product: Product?

}
