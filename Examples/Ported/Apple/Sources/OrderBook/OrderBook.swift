//
//  OrderBook.swift
//  OrderBook
//

import CoreData
import Foundation

/// The shop's orders and queries about them.
public final class OrderBook {

    public let container: NSPersistentContainer

    public var context: NSManagedObjectContext { container.viewContext }

    public init(url: URL) throws {
        container = NSPersistentContainer(name: "OrderBook")
        container.persistentStoreDescriptions.first!.url = url
        var failure: Error?
        container.loadPersistentStores { _, error in failure = error }
        if let failure = failure { throw failure }
    }

    // MARK: Orders

    @discardableResult
    public func placeOrder(
        number: Int64, for customer: Customer, _ items: [(product: Product, quantity: Int32)]
    ) throws -> Order {
        let order = Order(context: context)
        order.number = number
        customer.addToOrders(order)
        for item in items {
            let line = OrderLine(context: context)
            line.product = item.product
            line.quantity = item.quantity
            line.unitPrice = item.product.price
            order.addToLines(line)
        }
        try context.save()
        return order
    }

    public func orders(ofCustomer id: UUID, status: OrderStatus) throws -> [Order] {
        let request: NSFetchRequest<Order> = Order.fetchRequest()
        request.predicate = NSPredicate(
            format: "%K == %@ AND %K == %d",
            argumentArray: [
                #keyPath(Order.customer.id), id as CVarArg, Order.statusKey, status.rawValue,
            ])
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Order.number, ascending: true)]
        return try context.fetch(request)
    }

    /// Orders that contain a product, sorted by customer, then newest first.
    public func orders(containing sku: String) throws -> [Order] {
        let request: NSFetchRequest<Order> = Order.fetchRequest()
        request.predicate = NSPredicate(
            format: "ANY \(#keyPath(Order.lines)).\(#keyPath(OrderLine.product.sku)) == %@", sku)
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Order.customer.name), ascending: true,
                selector: #selector(NSString.localizedCaseInsensitiveCompare(_:))),
            NSSortDescriptor(keyPath: \Order.placedAt, ascending: false),
        ]
        request.relationshipKeyPathsForPrefetching = [#keyPath(Order.customer), "\(#keyPath(Order.lines)).product"]
        return try context.fetch(request)
    }

    /// Lines of a customer's orders, sorted by product name.
    public func lines(ofCustomerNamed name: String) throws -> [OrderLine] {
        let request: NSFetchRequest<OrderLine> = OrderLine.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[cd] %@", #keyPath(OrderLine.order.customer.name), name)
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(OrderLine.product.name), ascending: true,
                selector: #selector(NSString.localizedStandardCompare(_:)))
        ]
        return try context.fetch(request)
    }

    // MARK: Sums

    private func sum(of keyPath: String) -> NSExpression {
        NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: keyPath)])
    }

    /// The number of pieces by customer, calculated by the store.
    public func piecesByCustomer() throws -> [String: Int] {
        let pieces = NSExpressionDescription()
        pieces.name = "pieces"
        pieces.expression = sum(of: #keyPath(OrderLine.quantity))
        pieces.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "OrderLine")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [#keyPath(OrderLine.order.customer.name), pieces]
        request.propertiesToGroupBy = [#keyPath(OrderLine.order.customer.name)]
        var result: [String: Int] = [:]
        for row in try context.fetch(request) {
            guard let name = row[#keyPath(OrderLine.order.customer.name)] as? String else { continue }
            result[name] = row["pieces"] as? Int
        }
        return result
    }

    // MARK: Clearing up

    /// Deletes cancelled orders with their lines from the store.
    @discardableResult
    public func removeCancelledOrders() throws -> Int {
        let request: NSFetchRequest<NSFetchRequestResult> = Order.fetchRequest()
        request.predicate = NSPredicate(format: "%K == %d", Order.statusKey, OrderStatus.cancelled.rawValue)
        let found = try context.fetch(request) as! [Order]
        let deletion = NSBatchDeleteRequest(
            fetchRequest: typedRequest(for: found) as! NSFetchRequest<NSFetchRequestResult>)
        deletion.resultType = .resultTypeObjectIDs
        let result = try context.execute(deletion) as! NSBatchDeleteResult
        let ids = result.result as! [NSManagedObjectID]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
        return found.count
    }

    private func typedRequest(for orders: [Order]) -> NSFetchRequest<Order> {
        let request: NSFetchRequest<Order> = Order.fetchRequest()
        request.predicate = NSPredicate(format: "SELF IN %@", orders)
        return request
    }
}
