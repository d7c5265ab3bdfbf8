//
//  Order.swift
//  OrderBook
//

import CoreData
import Foundation

/// How far an order has come.
public enum OrderStatus: Int16 {
    case open
    case shipped
    case cancelled
}

public class Order: NSManagedObject {

    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: Order.entity(), insertInto: context)
        placedAt = Date()
    }

    public var status: OrderStatus {
        get { OrderStatus(rawValue: statusValue) ?? .open }
        set { statusValue = newValue.rawValue }
    }

    /// How many pieces were ordered.
    public var pieces: Int {
        (value(forKeyPath: "lines.@sum.quantity") as? NSNumber)?.intValue ?? 0
    }

    public var total: NSDecimalNumber {
        lines?.array.compactMap { ($0 as? OrderLine)?.amount }.reduce(.zero) { $0.adding($1) } ?? .zero
    }
}

extension Order {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Order> {
        return NSFetchRequest<Order>(entityName: "Order")
    }

    @Managed public var number: Int64
    @Managed public var placedAt: Date?
    @Managed fileprivate var statusValue: Int16
    @Managed public var customer: Customer?
    @Managed public var lines: NSOrderedSet?

}

// MARK: Generated accessors for lines
extension Order {

    @ManagedMethod public func insertIntoLines(_ value: OrderLine, at idx: Int)

    @ManagedMethod public func removeFromLines(at idx: Int)

    @ManagedMethod public func addToLines(_ value: OrderLine)

    @ManagedMethod public func addToLines(_ values: NSOrderedSet)

}

extension Order {

    /// What a predicate calls the status.
    static let statusKey = "statusValue"
}
