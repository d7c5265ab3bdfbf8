//
//  Product.swift
//  OrderBook
//

import CoreData
import Foundation

public class Product: NSManagedObject {

    @Managed public var name: String?
    @Managed public var price: NSDecimalNumber?
    @Managed public var sku: String?
    @Managed public var lines: NSSet?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Product> {
        return NSFetchRequest<Product>(entityName: "Product")
    }
}
