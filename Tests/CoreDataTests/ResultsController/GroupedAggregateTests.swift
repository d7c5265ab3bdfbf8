import Foundation
import Testing

@testable import CoreData

/// Section aggregates computed by the store equal those computed from the rows.
@MainActor @Suite struct GroupedAggregateTests {
    private typealias List = NSFetchedResultsController<NSManagedObject>

    /// - Parameter asksStore: true to compute aggregates in the store, as for long lists.
    private func list(
        _ stadiums: Stadiums, _ aggregates: [SectionAggregate], by: SectionBy?, section: String? = nil,
        where format: String? = nil, asksStore: Bool
    ) throws -> List {
        let list = List(
            fetchRequest: stadiums.request(section.map { [$0, "name"] } ?? ["name"], format),
            managedObjectContext: stadiums.context, sectionNameKeyPath: section, cacheName: nil)
        list.sectionBy = by
        list.aggregates = aggregates
        list.followsChanges = true
        try ResultsLoader.$fewRows.withValue(asksStore ? 0 : .max) { try list.performFetch() }
        return list
    }

    private func values(_ list: List) -> [[SectionValue?]] {
        [list.aggregates.map { list.aggregate($0) }]
            + (list.sections ?? []).map { section in list.aggregates.map { section.aggregate($0) } }
    }

    private func fill(_ stadiums: Stadiums, withEmptyTexts: Bool = false) throws {
        var random = SeededGenerator(seed: 22)
        func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        let clubs = (0..<3).map { position in
            let club = NSEntityDescription.insertNewObject(forEntityName: "Club", into: stadiums.context)
            club.setValue(position * 100, forKey: "position")
            return club
        }
        let whole: [Int64] = [Int64.max, Int64.min, Int64.max - 1, -1, 0, 1, 1 << 32, -(1 << 32) - 1, 12_345]
        for row in 0..<80 {
            let stadium = stadiums.add(
                withEmptyTexts && number(5) == 0 ? "" : "S\(number(40))", entity: number(4) == 0 ? "Arena" : "Stadium")
            func set(_ value: Any?, _ key: String) { stadium.setValue(number(5) == 0 ? nil : value, forKey: key) }
            set(row % 7 == 0 ? "" : "C\(number(4))", "city")
            set("L\(number(2))", "country")
            set(whole[number(whole.count)], "capacity")
            set(number(4_000_000) - 2_000_000, "seats")
            set(Date(timeIntervalSinceReferenceDate: Double(number(9)) * 1e7 - 3e7), "opened")
            set(Decimal(number(99)) / 7, "cost")
            set([-0.5, 2.25, 1e300, -Double.infinity, 7][number(5)], "rating")
            set(UUID(), "code")
            set(clubs[number(3)], "owner")
        }
        try stadiums.context.save()
    }

    private nonisolated static let exact: [SectionAggregate] = [
        .sum("capacity"), .average("capacity"), .minimum("capacity"), .maximum("capacity"), .count("capacity"),
        .sum("seats"), .average("seats"), .minimum("seats"), .minimum("opened"), .maximum("opened"), .count("cost"),
        .minimum("rating"), .maximum("rating"), .count("rating"), .minimum("name"), .maximum("name"), .count("name"),
        .count("code"), .sum("owner.position"), .maximum("owner.position"),
    ]

    private nonisolated static let sections: [SectionBy?] = [
        nil, .value("city"), .value("city").missing(.last).descending(), .value("country").ordered(by: "city"),
        .levels(.value("country"), .value("city")), .value("city").keeping(["C9", "C1"]), .value("seats"),
        .value("opened"), .value("owner.position"), .value("code"),
    ]

    @Test(arguments: sections.indices)
    func groupedAggregatesEqualThoseOfRows(place: Int) throws {
        let stadiums = try Stadiums()
        try fill(stadiums)
        let by = Self.sections[place]
        for format in [nil, "capacity > 0", "owner.position < 200", "name == 'nobody'"] {
            let grouped = try list(stadiums, Self.exact, by: by, where: format, asksStore: true)
            let read = try list(stadiums, Self.exact, by: by, where: format, asksStore: false)
            #expect(grouped.tracker.state?.aggregates?.hasValues == (grouped.fetchedObjects?.isEmpty == true))
            #expect(read.tracker.state?.aggregates?.hasValues == true)
            #expect(grouped.sections?.map(\.name) == read.sections?.map(\.name))
            #expect(values(grouped) == values(read))
        }
    }

    @Test func sectionsByKeyPathToo() throws {
        let stadiums = try Stadiums()
        try fill(stadiums)
        for key in ["country", "seats", "owner.position"] {
            let grouped = try list(stadiums, Self.exact, by: nil, section: key, asksStore: true)
            #expect(grouped.tracker.state?.aggregates?.hasValues == false)
            #expect(try values(grouped) == values(list(stadiums, Self.exact, by: nil, section: key, asksStore: false)))
        }
    }

    /// Aggregates that SQL would round or count differently are computed from the rows.
    @Test(arguments: [
        SectionAggregate.sum("cost"), .minimum("cost"), .sum("rating"), .average("rating"), .minimum("name"),
        .count("name"),
    ])
    func inexactAggregatesAreComputedFromRows(aggregate: SectionAggregate) throws {
        let stadiums = try Stadiums()
        try fill(stadiums, withEmptyTexts: true)
        let asked = try list(stadiums, [aggregate], by: .value("country"), asksStore: true)
        #expect(asked.tracker.state?.aggregates?.hasValues == true)
        #expect(
            try values(asked) == values(list(stadiums, [aggregate], by: .value("country"), asksStore: false)))
    }

    @Test func unsavedChangesCount() throws {
        let stadiums = try Stadiums()
        try fill(stadiums)
        stadiums.add("new", ["city": "C1", "seats": 5])
        let grouped = try list(stadiums, [.sum("seats")], by: .value("city"), asksStore: true)
        #expect(grouped.tracker.state?.aggregates?.hasValues == true)
        #expect(try values(grouped) == values(list(stadiums, [.sum("seats")], by: .value("city"), asksStore: false)))
    }

    /// - Parameter waits: true to wait for the rows' values before the change.
    @Test(arguments: [false, true])
    func changesAreFollowedAndTold(waits: Bool) async throws {
        let stadiums = try Stadiums()
        try fill(stadiums)
        let all: [SectionAggregate] = [.sum("seats"), .maximum("seats"), .count("code")]
        let list = try list(stadiums, all, by: .value("country"), asksStore: true)
        var changes = list.changes.makeAsyncIterator()
        #expect(list.tracker.state?.aggregates?.hasValues == false)
        if waits { #expect(await stadiums.waits { list.tracker.state?.aggregates?.hasValues == true }) }
        let old = values(list)
        let changed = try #require(list.fetchedObjects?.first { $0.value(forKey: "country") as? String == "L1" })
        let seats = changed.value(forKey: "seats") as? Int ?? 0
        changed.setValue(3_000_000, forKey: "seats")
        stadiums.context.processPendingChanges()
        #expect(list.tracker.state?.aggregates?.hasValues == true)
        let batch = try #require(await changes.next())
        let told = batch.aggregateChanges.filter { $0.aggregate == .sum("seats") }
        #expect(told.map(\.section) == [nil, "L1"])
        for change in told {
            let (old, new) = (change.oldValue.number ?? 0, change.newValue.number ?? 0)
            #expect(new - old == Decimal(3_000_000 - seats))
        }
        #expect(told.first?.oldValue == old[0][0])
        #expect(batch.aggregateChanges.filter { $0.aggregate == .maximum("seats") }.count == 2)
        #expect(batch.aggregateChanges.allSatisfy { $0.aggregate != .count("code") })
        try stadiums.context.save()
        #expect(try values(list) == values(self.list(stadiums, all, by: .value("country"), asksStore: true)))
    }

    @Test func onlyRequestedAggregatesHaveAValue() throws {
        let stadiums = try Stadiums()
        try fill(stadiums)
        for asksStore in [false, true] {
            let list = try list(stadiums, [.sum("seats")], by: .value("country"), asksStore: asksStore)
            #expect(list.aggregate(.maximum("seats")) == nil && list.sections?[0].aggregate(.average("seats")) == nil)
        }
    }
}
