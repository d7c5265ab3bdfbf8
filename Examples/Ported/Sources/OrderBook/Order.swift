//
//  Order.swift
//  OrderBook
//

import CoreData
import Foundation

/// The progress of an order.
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

    /// The number of ordered pieces.
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

    /// The status attribute's name for predicates.
    static let statusKey = "statusValue"
}
