import CoreData
import Foundation
import TestSupport
import Testing

final class ShopOrder: NSManagedObject {
    @Managed var id: Int64
    @Managed var name: String?
    @Managed var nickname: String?
    @Managed var rank: Int32
    @Managed var customer: ShopCustomer?
    @Managed var payer: ShopCustomer?
    @Managed var lines: Set<ShopLine>
    @Managed var coupons: NSOrderedSet?
}

final class ShopLine: NSManagedObject {
    @Managed var price: Double
    @Managed var order: ShopOrder?
}

final class ShopCoupon: NSManagedObject {
    @Managed var code: String
    @Managed var order: ShopOrder
}

final class ShopCustomer: NSManagedObject {
    @Managed var name: String?
    @Managed var orders: Set<ShopOrder>
}

/// Swift key paths over relationships are converted to the whole path (issue 18, point 17). Uses only the public
/// interface.
@MainActor @Suite struct RelationshipKeyPathTests {
    private static func model() -> NSManagedObjectModel {
        let order = MigrationDesk.entity(
            "ShopOrder",
            [
                MigrationDesk.attribute("id", .integer64AttributeType), MigrationDesk.attribute("name"),
                MigrationDesk.attribute("nickname"), MigrationDesk.attribute("rank", .integer32AttributeType),
            ])
        let line = MigrationDesk.entity("ShopLine", [MigrationDesk.attribute("price", .doubleAttributeType)])
        let coupon = MigrationDesk.entity("ShopCoupon", [MigrationDesk.attribute("code")])
        let customer = MigrationDesk.entity("ShopCustomer", [MigrationDesk.attribute("name")])
        MigrationDesk.relate(order, "lines", many: true, ordered: false, line, "order")
        MigrationDesk.relate(order, "coupons", many: true, ordered: true, coupon, "order")
        MigrationDesk.relate(customer, "orders", many: true, ordered: false, order, "customer")
        MigrationDesk.relate(customer, "bills", many: true, ordered: false, order, "payer")
        let model = MigrationDesk.model([order, line, coupon, customer])
        for entity in model.entities { entity.managedObjectClassName = "CoreDataTests.\(entity.name ?? "")" }
        return model
    }

    private func key<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> String? {
        NSSortDescriptor(keyPath: keyPath, ascending: true).key
    }

    @Test func keyPathsOfUnknownTypeHaveKeys() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        defer { withExtendedLifetime(container) {} }
        let keyPaths: [AnyKeyPath] = [
            \ShopOrder.id, \ShopOrder.nickname, \ShopOrder.customer?.name, \ShopOrder.lines,
            \ShopOrder.debugDescription,
        ]
        // Of another class, which leaves no mark.
        #expect(ShopLine.key(of: \ShopOrder.id) == nil && ShopLine.key(of: \String.count) == nil)
        #expect(keyPaths.map { ShopOrder.key(of: $0) } == ["id", "nickname", "customer.name", "lines", nil])
        #expect(NSManagedObject.key(of: \ShopOrder.id) == nil)
    }

    @Test func keyPathsAreConvertedToTheWholePath() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        #expect(key(\ShopLine.price) == "price")
        #expect(key(\ShopLine.order) == "order")
        #expect(key(\ShopLine.order?.name) == "order.name")
        #expect(key(\ShopLine.order?.id) == "order.id")
        #expect(key(\ShopCoupon.order.id) == "order.id")
        #expect(key(\ShopCoupon.order.name) == "order.name")
        #expect(key(\ShopCoupon.order) == "order")
        #expect(key(\ShopCoupon.order.customer?.name) == "order.customer.name")
        #expect(key(\ShopLine.order!.customer) == "order.customer")
        #expect(key(\ShopOrder.lines) == "lines")
        #expect(key(\ShopOrder.lines.count) == "lines.@count")
        #expect(key(\ShopOrder.coupons?.count) == "coupons.@count")
        #expect(key(\ShopLine.order?.lines.count) == "order.lines.@count")
        #expect(key(\ShopLine.order?.rank) == "order.rank")
        #expect(key(\ShopLine.order!.name!) == "order.name")
        #expect(key(\ShopOrder.wideRank) == "rank")
        #expect(key(\ShopOrder.customer) == "customer")
        #expect(NSExpression(forKeyPath: \ShopCustomer.orders).keyPath == "orders")
        let context = container.viewContext
        for (number, name) in ["b", "c", "a"].enumerated() {
            let order = ShopOrder(context: context)
            (order.id, order.name) = (Int64(number), name)
            ShopLine(context: context).order = order
        }
        try context.save()
        let request = NSFetchRequest<ShopLine>(entityName: "ShopLine")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \ShopLine.order?.name, ascending: true)]
        #expect(try context.fetch(request).map { $0.order?.name } == ["a", "b", "c"])
        try desk.close(container)
    }

    /// Computed properties that equal a stored one for some values, read several ones, or count some members: many
    /// sample values tell them apart.
    @Test func computedPropertiesThatResembleStoredOnesHaveNoKey() throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        for (number, computed) in [
            key(\ShopOrder.rank.magnitude), key(\ShopOrder.lastDigit), key(\ShopOrder.capped), key(\ShopOrder.isRanked),
            key(\ShopOrder.shown), key(\ShopOrder.called), key(\ShopOrder.title), key(\ShopOrder.trimmed),
            key(\ShopOrder.customer?.shown), key(\ShopOrder.buyer), key(\ShopOrder.lines.isEmpty),
            key(\ShopOrder.lines.first), key(\ShopOrder.next), key(\ShopOrder.cheap), key(\ShopOrder.dear),
            key(\ShopOrder.tens), key(\ShopLine.order?.next), key(\ShopOrder.all),
        ].enumerated() { #expect(computed == nil, "\(number)") }
        try desk.close(container)
    }

    /// A key path to a computed value has no key: a fetch throws, and an expression traps with a message.
    @Test(.needs(.process)) func computedPropertiesHaveNoKey() async throws {
        let desk = try MigrationDesk()
        let container = try desk.open(Self.model())
        for computed in [
            key(\ShopLine.debt), key(\ShopLine.isDear), key(\ShopLine.price.magnitude), key(\ShopLine.order?.shout),
            key(\ShopCoupon.code.count), key(\ShopCoupon.code.first), key(\ShopLine.order?.isLate),
        ] { #expect(computed == nil) }
        let context = container.viewContext
        ShopLine(context: context).price = 2
        for descriptor in [
            NSSortDescriptor(keyPath: \ShopLine.debt, ascending: true),
            NSSortDescriptor(keyPath: \ShopLine.price.magnitude, ascending: false),
        ] {
            let request = NSFetchRequest<ShopLine>(entityName: "ShopLine")
            request.sortDescriptors = [descriptor]
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.localizedDescription.contains("it is not a property in the model") == true)
        }
        let request = NSFetchRequest<ShopLine>(entityName: "ShopLine")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \ShopLine.objectID, ascending: true)]
        #expect(try context.fetch(request).count == 1)
        try context.save()
        try desk.close(container)
        let stopped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = try await MainActor.run {
                try NSPersistentContainer.open(
                    "Shop", model: RelationshipKeyPathTests.model(), at: URL(fileURLWithPath: "/dev/null")
                ).viewContext
            }
            _ = NSExpression(forKeyPath: \ShopLine.debt)
            _ = context
        }
        #expect(stopped.text.contains("is not a property of a managed object"))
    }
}

extension ShopLine {
    fileprivate var debt: Double { -price }
    fileprivate var isDear: Bool { price > 0 }
}

extension ShopOrder {
    fileprivate var shout: String? { name?.uppercased() }
    fileprivate var isLate: Bool { id > 1 }
    fileprivate var wideRank: Int { Int(rank) }
    fileprivate var lastDigit: Int32 { rank % 10 }
    fileprivate var capped: Int64 { min(id, 50) }
    fileprivate var isRanked: Bool { rank > 0 }
    fileprivate var shown: String? { nickname ?? name }
    fileprivate var called: String { nickname ?? "none" }
    fileprivate var title: String { name ?? "" }
    fileprivate var trimmed: String? { name.map { String($0.prefix(80)) } }
    fileprivate var buyer: ShopCustomer? { payer ?? customer }
    fileprivate var next: Int { lines.count + 1 }
    fileprivate var cheap: Int { lines.filter { $0.price < 1_000_000 }.count }
    fileprivate var dear: Int { lines.filter { $0.price > 0 }.count }
    fileprivate var tens: Int { lines.count % 10 }
    fileprivate var all: Int { lines.count + (coupons?.count ?? 0) }
}

extension ShopCustomer {
    fileprivate var shown: String { name ?? "\(orders.count)" }
}
