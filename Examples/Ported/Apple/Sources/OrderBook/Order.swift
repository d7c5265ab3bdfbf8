//
//  Order.swift
//  OrderBook
//

import CoreData
import Foundation

/// The progress of an order.
@objc public enum OrderStatus: Int16 {
    case open
    case shipped
    case cancelled
}

@objc(Order)
public class Order: NSManagedObject {

    @objc public convenience init(context: NSManagedObjectContext) {
        self.init(entity: Order.entity(), insertInto: context)
        placedAt = Date()
    }

    public var status: OrderStatus {
        get { OrderStatus(rawValue: statusValue) ?? .open }
        set { statusValue = newValue.rawValue }
    }

    /// The number of ordered pieces.
    public var pieces: Int {
        (value(forKeyPath: "\(#keyPath(Order.lines)).@sum.\(#keyPath(OrderLine.quantity))") as? NSNumber)?.intValue ?? 0
    }

    public var total: NSDecimalNumber {
        lines?.array.compactMap { ($0 as? OrderLine)?.amount }.reduce(.zero) { $0.adding($1) } ?? .zero
    }
}

extension Order {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Order> {
        return NSFetchRequest<Order>(entityName: "Order")
    }

    @NSManaged public var number: Int64
    @NSManaged public var placedAt: Date?
    @NSManaged fileprivate var statusValue: Int16
    @NSManaged public var customer: Customer?
    @NSManaged public var lines: NSOrderedSet?

}

// MARK: Generated accessors for lines
extension Order {

    @objc(insertObject:inLinesAtIndex:)
    @NSManaged public func insertIntoLines(_ value: OrderLine, at idx: Int)

    @objc(removeObjectFromLinesAtIndex:)
    @NSManaged public func removeFromLines(at idx: Int)

    @objc(addLinesObject:)
    @NSManaged public func addToLines(_ value: OrderLine)

    @objc(addLines:)
    @NSManaged public func addToLines(_ values: NSOrderedSet)

}

extension Order {

    /// The status attribute's name for predicates.
    static let statusKey = #keyPath(Order.statusValue)
}
