//
//  Product.swift
//  OrderBook
//

import CoreData
import Foundation

@objc(Product)
public class Product: NSManagedObject {

    @NSManaged public var name: String?
    @NSManaged public var price: NSDecimalNumber?
    @NSManaged public var sku: String?
    @NSManaged public var lines: NSSet?

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Product> {
        return NSFetchRequest<Product>(entityName: "Product")
    }
}
