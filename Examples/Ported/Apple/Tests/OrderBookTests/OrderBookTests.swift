//
//  OrderBookTests.swift
//  OrderBookTests
//

import CoreData
import XCTest

@testable import OrderBook

final class OrderBookTests: XCTestCase {

    private var book: OrderBook!
    private var ada: Customer!
    private var bob: Customer!

    override func setUpWithError() throws {
        book = try OrderBook(url: URL(fileURLWithPath: "/dev/null"))
        ada = Customer(name: "ada", email: "ada@example.org", context: book.context)
        ada.id = UUID()
        bob = Customer(name: "Bob", email: "bob@example.org", context: book.context)
        bob.id = UUID()
        let prices = [("Tea", "tea", "3.50"), ("Cup 10", "cup10", "12.25"), ("Cup 2", "cup2", "8.00")]
        let products = prices.map { name, sku, price -> Product in
            let product = Product(context: book.context)
            product.name = name
            product.sku = sku
            product.price = NSDecimalNumber(string: price)
            return product
        }
        try book.placeOrder(number: 1, for: bob, [(products[0], 2), (products[1], 1)])
        try book.placeOrder(number: 2, for: ada, [(products[2], 4), (products[1], 1), (products[0], 10)])
        try book.placeOrder(number: 3, for: bob, [(products[2], 1), (products[0], 1)]).status = .shipped
        try book.context.save()
    }

    override func tearDown() {
        ada = nil
        bob = nil
        book = nil
    }

    func testOrdersKnowTheirSums() throws {
        let order = try XCTUnwrap(book.orders(ofCustomer: ada.id!, status: .open).first)
        XCTAssertEqual(order.number, 2)
        XCTAssertEqual(order.pieces, 15)
        XCTAssertEqual(order.total, NSDecimalNumber(string: "79.25"))
        XCTAssertNotNil(order.placedAt)
        XCTAssertEqual(ada.orders, [order])
    }

    func testOrdersAreFoundOverRelationships() throws {
        XCTAssertEqual(try book.orders(containing: "tea").map(\.number), [2, 3, 1])
        XCTAssertEqual(try book.orders(containing: "cup10").map(\.number), [2, 1])
        XCTAssertEqual(try book.orders(ofCustomer: bob.id!, status: .shipped).map(\.number), [3])
        XCTAssertEqual(
            try book.lines(ofCustomerNamed: "ADA").compactMap { $0.product?.name }, ["Cup 2", "Cup 10", "Tea"])
    }

    func testTheStoreReckons() throws {
        XCTAssertEqual(try book.piecesByCustomer(), ["ada": 15, "Bob": 5])
    }

    func testLinesKeepTheirOrder() throws {
        let order = try XCTUnwrap(book.orders(ofCustomer: ada.id!, status: .open).first)
        let line = try XCTUnwrap(order.lines?.lastObject as? OrderLine)
        order.removeFromLines(at: 2)
        order.insertIntoLines(line, at: 0)
        try book.context.save()
        book.context.refreshAllObjects()
        XCTAssertEqual(order.lines?.array.compactMap { ($0 as? OrderLine)?.product?.sku }, ["tea", "cup2", "cup10"])
    }

    func testCancelledOrdersGoWithTheirLines() throws {
        XCTAssertEqual(try book.removeCancelledOrders(), 0)
        for order in try book.orders(ofCustomer: bob.id!, status: .open) { order.status = .cancelled }
        try book.context.save()
        XCTAssertEqual(try book.removeCancelledOrders(), 1)
        XCTAssertEqual(bob.orders.map(\.number), [3])
        XCTAssertEqual(try book.context.count(for: OrderLine.fetchRequest() as NSFetchRequest<OrderLine>), 5)
    }
}
