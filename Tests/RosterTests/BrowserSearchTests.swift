import CoreData
import Foundation
import TerminalKit
import Testing

@testable import Roster

/// Searching lists that are too long to be searched at once.
@MainActor
@Suite(.serialized) struct BrowserSearchTests {
    private static let teams = 1000
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A driver with many teams that does not wait for searches.
    private func driver(limits: WorkLimits = .small) async throws -> BrowserDriver {
        try fixture.fillWithManyTeams(Self.teams)
        var options = BrowserOptions(
            storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: "qualifyingZone", sortKeys: "teamName")
        options.limits = limits
        let driver = BrowserDriver(options)
        driver.settles = false
        try await driver.wait(for: "the list") { driver.text.contains("\(GroupedNumber.text(Self.teams)) Teams") }
        return driver
    }

    /// The piece size starts at 64 rows. Fast pieces double it, slow ones halve it, down to 16 rows.
    @Test(arguments: [
        (Duration.seconds(3600), [64, 128, 256, 512, 40]), (.zero, [64, 32] + Array(repeating: 16, count: 57)),
    ])
    func aSearchWithoutMatchHoldsNoFrame(_ time: Duration, _ pieces: [Int]) async throws {
        var limits = WorkLimits.small
        limits.searchPiece = time
        let driver = try await driver(limits: limits)
        driver.keys("/")
        driver.type("q")
        #expect(driver.text.contains("searching…"))
        driver.type("q")
        var turns = 1
        while driver.browser.list?.find.isSearching == true {
            #expect(driver.browser.nextWake.map { $0 <= .now } == true)
            driver.browser.wake()
            turns += 1
        }
        driver.draw()
        #expect(driver.text.contains("nothing found"))
        #expect(pieces.reduce(0, +) >= Self.teams && turns == pieces.count, "\(turns)")
    }

    @Test func theStatusShowsTheNumberOfTheMatch() async throws {
        let fixture = try Fixture.filled()
        let driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"), width: 120)
        driver.keys("/")
        driver.type("land")
        driver.keys("<Enter>")
        #expect(driver.lines[22].contains(" 1 of 2 “land” "), "\(driver.text)")
        driver.keys("n")
        #expect(driver.lines[22].contains(" 2 of 2 “land” ") && driver.selectedLine?.contains("Germany") == true)
        driver.keys("j")
        #expect(driver.lines[22].contains(" 2 found: “land” "), "\(driver.text)")
        driver.keys("N")
        #expect(driver.lines[22].contains(" 2 of 2 “land” "), "\(driver.text)")
        // A change of the list changes the numbers.
        try fixture.elsewhere { context in
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
            team.setValue("Aland", forKey: "teamName")
            try context.save()
        }
        try await driver.wait(for: "the other program's team") { driver.text.contains("Aland") }
        #expect(driver.lines[22].contains("“land”"), "\(driver.text)")
        try await driver.wait(for: "the new number") { driver.lines[22].contains(" 3 of 3 “land” ") }
        driver.keys("n")
        #expect(driver.lines[22].contains(" 1 of 3 “land” "), "\(driver.text)")
        driver.keys("<Esc>")
        #expect(!driver.lines[22].contains("“land”"), "\(driver.text)")
    }

    /// In a narrow status line, the sort keys and the search text are shortened, not the numbers.
    @Test func theNumbersStayInANarrowStatus() throws {
        let fixture = try Fixture.filled()
        let driver = BrowserDriver(
            BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName"), width: 40, height: 12)
        driver.keys("/")
        driver.type("land")
        driver.keys("<Enter>vj")
        driver.keys("n")
        let status = driver.lines[10]
        #expect(
            status.contains("16 Teams") && status.contains(" 2 of 2 “") && status.contains("range: 3")
                && status.contains("7/16") && !status.contains("sorted"), "\(driver.text)")
    }

    @Test func theNumberOfAMatchIsCountedInTheBackground() async throws {
        let driver = try await driver()
        driver.keys("/")
        driver.type("7")
        try await driver.wait(for: "the match") { driver.selectedLine?.contains("Team 000007") == true }
        driver.keys("<Enter>")
        for name in ["Team 000017", "Team 000027"] {
            driver.keys("n")
            try await driver.wait(for: "a match") { driver.selectedLine?.contains(name) == true }
        }
        let matches = (1...Self.teams).filter(Self.showsSeven)
        let count = GroupedNumber.text(matches.count)
        try await driver.wait(for: "the number") { driver.text.contains(" 3 of \(count) “7” ") }
        let places = try #require(driver.browser.list?.find.places)
        #expect(places.rows == matches.map { $0 - 1 } && places.number(ofRow: 0) == nil)
        // The positions of few matches are looked up one by one.
        driver.keys("/")
        driver.type("\"Team 00017\"")
        try await driver.wait(for: "the match") { driver.selectedLine?.contains("Team 000170") == true }
        driver.keys("<Enter>")
        try await driver.wait(for: "the number") { driver.text.contains(" 1 of 10 “\"Team 00017\"” ") }
        driver.keys("n")
        try await driver.wait(for: "the number") { driver.text.contains(" 2 of 10 “\"Team 00017\"” ") }
    }

    /// True if the number of a team, its zone or its wins show a 7.
    private static func showsSeven(_ number: Int) -> Bool {
        [number, number / 20, number % 70].contains { String($0).contains("7") }
    }

    @Test func theNearestMatchIsShownAtOnceAndTheRestIsCounted() async throws {
        let driver = try await driver()
        driver.keys("/")
        driver.type("Team 7")
        try await driver.wait(for: "the match") { driver.selectedLine?.contains("Team 000007") == true }
        #expect(driver.text.contains("found so far"))
        driver.settle()
        driver.draw()
        let count = (1...Self.teams).count(where: Self.showsSeven)
        #expect(driver.text.contains("\(count) found"))
        // When all matches are found, each key costs one search.
        driver.keys("<Enter>n")
        #expect(driver.selectedLine?.contains("Team 000017") == true)
        driver.keys("NN")
        driver.settle()
        driver.draw()
        #expect(driver.selectedLine?.contains("Team 000997") == true)
        #expect(driver.text.contains("continued at the bottom"))
    }

    /// Most rows need no piece: a background query returns all matches.
    @Test(arguments: ["qqq", "00876", "Zone 00037", "8", "Zone 0004"])
    func theStoreSaysAllAtOnce(_ text: String) async throws {
        try fixture.fillWithManyTeams(Self.teams)
        let session = try StoreSession(
            OpenedStore(url: fixture.storeURL, modelURL: nil, isReadOnly: false, stop: JobControl()), limits: .small)
        let entity = try #require(session.model.entitiesByName["Team"])
        var settings = ListSettings(entity: entity)
        settings.filter = "wins != 3"
        let list = try RecordList(entity: entity, settings: settings, context: session.context, limits: .small)
        try list.fetchAgain()
        let expected = (1...Self.teams).filter { number in
            number % 70 != 3
                && (String(format: "Team %06d", number).contains(text)
                    || String(format: "Zone %05d", number / 20).contains(text))
        }
        let ids = list.controller.objectIDs(at: 0..<list.objectCount)
        for direction in [RecordSearch.Direction.forward, .backward] {
            let origin = list.objectCount / 2
            let query = FindQuery(FindPattern(FindPattern.literal(text)), list.display)
            let search = RecordSearch(
                query, query.method([]), in: list, from: list.path(atIndex: origin), direction: direction,
                countsAll: true)
            try search.advance(until: .now)
            #expect(!search.isFinished)
            // The result arrives while the main actor is free, and the next piece uses it.
            await (try #require(search.scan?.task)).value
            try search.advance(until: .now)
            #expect(search.knowsAll && search.count == expected.count, "\(search.count)")
            // If there are many distant matches, rows are still examined, but without queries.
            #expect(search.isFinished == (text != "Zone 0004"))
            while !search.isFinished { try search.advance(until: .now) }
            let rows = ids.indices.filter { search.matches.contains(ids[$0]) }
            let nearest =
                direction == .forward
                ? rows.first { $0 > origin } ?? rows.first : rows.last { $0 < origin } ?? rows.last
            #expect(search.match?.objectID == nearest.map { ids[$0] }, "\(text) \(direction)")
            let wraps = nearest.map { direction == .forward ? $0 <= origin : $0 >= origin }
            #expect(search.wentRound == (wraps ?? false), "\(text) \(direction)")
        }
    }

    @Test func aKeyEndsASearch() async throws {
        let driver = try await driver()
        driver.keys("/")
        driver.type("qq")
        driver.keys("<Enter>")
        #expect(driver.text.contains("searching for “qq”") && driver.text.contains("searching"))
        driver.keys("j")
        #expect(driver.browser.list?.find.isSearching == false)
        #expect(driver.selectedLine?.contains("Team 000002") == true)
        for key in ["<C-c>", "<Esc>"] {
            driver.keys("n")
            #expect(driver.browser.list?.find.isSearching == true)
            driver.keys(key)
            #expect(driver.browser.list?.find.isSearching == false)
            #expect(driver.text.contains("stopped searching for “qq”"))
        }
        driver.keys("/")
        driver.type("qq")
        driver.keys("<Esc>")
        #expect(driver.browser.list?.find.isSearching == false && driver.browser.nextWake == nil)
        #expect(driver.selectedLine?.contains("Team 000002") == true)
    }

    @Test(arguments: [1, 2], [RecordSearch.Direction.forward, .backward])
    func rowsThatMoveDuringASearchHideNoMatch(_ seed: UInt64, _ direction: RecordSearch.Direction) async throws {
        for asksStore in [false, true] { try await search(seed, direction, asksStore: asksStore) }
    }

    private func search(_ seed: UInt64, _ direction: RecordSearch.Direction, asksStore: Bool) async throws {
        let fixture = try Fixture()
        try fixture.fillWithManyTeams(300)
        let session = try StoreSession(
            OpenedStore(url: fixture.storeURL, modelURL: nil, isReadOnly: false, stop: JobControl()))
        let entity = try #require(session.model.entitiesByName["Team"])
        let list = try RecordList(entity: entity, settings: ListSettings(entity: entity), context: session.context)
        try list.fetchAgain()
        let follower = Follower()
        list.delegate = follower
        var random = Random(state: seed)
        let all = (0..<300).compactMap { list.object(at: list.path(atIndex: $0)) }
        let query = FindQuery(FindPattern("7"), list.display)
        let search = RecordSearch(
            query, query.method([]), in: list, from: list.path(atIndex: 150), direction: direction, countsAll: true)
        follower.search = search
        follower.list = list
        var touched: Set<NSManagedObject> = []
        while !search.isFinished {
            try search.advance(until: .now)
            if asksStore { try await Task.sleep(for: .milliseconds(2)) }
            for _ in 0..<6 {
                let team = all[Int(random.next() % 300)]
                guard !team.isDeleted else { continue }
                touched.insert(team)
                switch random.next() % 3 {
                case 0: session.context.delete(team)
                case 1: team.setValue("Team \(random.next() % 1000)", forKey: "teamName")
                default:
                    let new = NSManagedObject(entity: entity, insertInto: session.context)
                    new.setValue("New \(random.next() % 1000)", forKey: "teamName")
                }
            }
            session.context.processPendingChanges()
        }
        for team in all where !touched.contains(team) {
            let name = team.value(forKey: "teamName") as? String ?? ""
            let zone = team.value(forKey: "qualifyingZone") as? String ?? ""
            let isMatch = name.contains("7") || zone.contains("7")
            #expect(search.matches.contains(team.objectID) == isMatch, "seed \(seed): \(name)")
        }
    }

    /// Reports changes of the list to a search, as the screen does.
    private final class Follower: RecordListDelegate {
        var search: RecordSearch?
        var list: RecordList?
        private var changed: [NSManagedObject] = []

        func listWillChange() { changed = [] }
        func listDidChangeSection(_ name: String, index: Int, type: NSFetchedResultsChangeType) {}
        func listDidChange(
            _ object: NSManagedObject, at old: IndexPath?, type: NSFetchedResultsChangeType, to new: IndexPath?
        ) { changed.append(object) }
        func listDidChange() {
            list?.refresh()
            search?.listChanged(changed)
        }
    }
}

private struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
