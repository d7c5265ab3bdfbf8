import CoreData
import Foundation
import Synchronization
import Testing

/// Sections by other means than a key path.
@MainActor
@Suite struct ControllerSectionByTests {
    private var utc: Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
        return calendar
    }

    private func day(_ text: String) throws -> Date { try Date(text + "T12:00:00Z", strategy: .iso8601) }

    private func list(
        _ stadiums: Stadiums, _ sectionBy: SectionBy, sort: [String] = ["name"], where format: String? = nil,
        cache: String? = nil
    ) throws -> (controller: NSFetchedResultsController<NSManagedObject>, log: RowLog) {
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(sort, format), managedObjectContext: stadiums.context,
            sectionNameKeyPath: nil, cacheName: cache)
        controller.sectionBy = sectionBy
        let log = RowLog()
        controller.delegate = log
        try controller.performFetch()
        return (controller, log)
    }

    private func titles(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
        (controller.sections ?? []).map { "\($0.name) \($0.numberOfObjects)" }
    }

    @Test func byValueWhateverTheSort() throws {
        let stadiums = try Stadiums()
        for (name, city) in [("A", "y"), ("B", "x"), ("C", "y"), ("D", "x"), ("E", "")] {
            stadiums.add(name, ["city": city])
        }
        let nowhere = stadiums.add("F")
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .value("city"))
        #expect(titles(controller) == [" 2", "x 2", "y 2"])
        #expect(names(controller) == "E F | B D | A C")
        let values: [SectionValue] = (controller.sections ?? []).map(\.value)
        #expect(values == [.missing, .text("x"), .text("y")])
        nowhere.setValue("w", forKey: "city")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["section insert 1 w", "move 0,1→1,0"])
        nowhere.setValue("y", forKey: "city")
        nowhere.setValue("B", forKey: "name")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["section delete 1 w", "move 1,0→2,1"])
        #expect(names(controller) == "E | B D | A B C")
        controller.sectionBy = .value("city").descending().missing(.last)
        try controller.performFetch()
        #expect(titles(controller) == ["y 3", "x 2", " 1"])
        controller.sectionBy = .value("city").missing(.last)
        try controller.performFetch()
        #expect(titles(controller) == ["x 2", "y 3", " 1"])
    }

    @Test func byPeriodsOfADate() throws {
        let stadiums = try Stadiums()
        for (name, date) in [("A", "1930-07-13"), ("B", "1930-12-31"), ("C", "1998-01-01"), ("D", "1930-07-30")] {
            stadiums.add(name, ["opened": try day(date)])
        }
        stadiums.add("E")
        let (controller, log) = try list(stadiums, .year("opened", calendar: utc))
        #expect(titles(controller) == [" 1", "1930 3", "1998 1"])
        #expect(names(controller) == "E | A B D | C")
        let start = try Date("1930-01-01T00:00:00Z", strategy: .iso8601)
        #expect(controller.sections?[1].value.date == start)
        controller.sectionBy = .month("opened", calendar: utc).descending()
        try controller.performFetch()
        #expect(titles(controller) == [" 1", "1998-01 1", "1930-12 1", "1930-07 2"])
        controller.sectionBy = .day("opened", calendar: utc)
        try controller.performFetch()
        #expect(titles(controller).dropFirst() == ["1930-07-13 1", "1930-07-30 1", "1930-12-31 1", "1998-01-01 1"])
        controller.sectionBy = .week("opened", calendar: utc)
        try controller.performFetch()
        #expect(titles(controller).dropFirst() == ["1930-W28 1", "1930-W31 1", "1931-W01 1", "1998-W01 1"])
        _ = log.take()
        controller.fetchedObjects?.last?.setValue(try day("1930-07-14"), forKey: "opened")
        stadiums.context.processPendingChanges()
        #expect(log.take().contains("section insert 2 1930-W29"))
    }

    @Test func theZoneSaysWhichDayItIs() throws {
        let stadiums = try Stadiums()
        stadiums.add("A", ["opened": try Date("2024-12-31T23:30:00Z", strategy: .iso8601)])
        var tokyo = utc
        tokyo.timeZone = try #require(TimeZone(secondsFromGMT: 9 * 3600))
        let (controller, _) = try list(stadiums, .year("opened", calendar: utc))
        #expect(titles(controller) == ["2024 1"])
        controller.sectionBy = .day("opened", calendar: tokyo)
        try controller.performFetch()
        #expect(titles(controller) == ["2025-01-01 1"])
    }

    @Test func byFirstLetter() throws {
        let stadiums = try Stadiums()
        for name in ["Ägypten", "algeria", "Österreich", "zaire", "3 Arenas", "東京", "  bern", "Ø", ""] {
            stadiums.add(name)
        }
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .firstLetter("name", locale: Locale(identifier: "en_US")))
        let found = titles(controller)
        #expect(found.first == " 1")
        #expect(found.contains("A 2"))
        #expect(found.contains("B 1"))
        #expect(found.contains("O 1") || found.contains("O 2"))
        #expect(found.contains("東 1"))
        #expect(found.last == "# 1")
        stadiums.add("Ålesund")
        stadiums.context.processPendingChanges()
        #expect(log.take().filter { $0.hasPrefix("section") } == [])
        #expect(titles(controller).contains("A 3"))
    }

    @Test func byTheSizeOfNumbers() throws {
        let stadiums = try Stadiums()
        for (name, capacity) in [("A", 0), ("B", 9_999), ("C", 10_000), ("D", -1), ("E", 40_000)] {
            stadiums.add(name, ["capacity": capacity, "rating": Double(capacity) / 10_000])
        }
        let (controller, log) = try list(stadiums, .bucket("capacity", size: 10_000))
        #expect(titles(controller) == ["-10000–-1 1", "0–9999 2", "10000–19999 1", "40000–49999 1"])
        #expect(controller.sections?[2].value == .numbers(from: 10_000, to: 20_000))
        stadiums.add("F", ["capacity": 25_000])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["section insert 3 20000–29999", "insert -→3,0"])
        controller.sectionBy = .bucket("rating", size: 0.5).missing(.last)
        try controller.performFetch()
        #expect(titles(controller) == ["-0.5–0 1", "0–0.5 1", "0.5–1 1", "1–1.5 1", "4–4.5 1", " 1"])
    }

    @Test func byAClosure() throws {
        let stadiums = try Stadiums()
        for number in 1...5 { stadiums.add("N\(number)", ["capacity": number]) }
        let (controller, log) = try list(
            stadiums,
            .computed { object in
                .boolean((object.value(forKey: "capacity") as? Int64 ?? 0) % 2 == 0)
            })
        #expect(names(controller) == "N1 N3 N5 | N2 N4")
        let values: [SectionValue] = (controller.sections ?? []).map(\.value)
        #expect(values == [.boolean(false), .boolean(true)])
        controller.fetchedObjects?.first?.setValue(6, forKey: "capacity")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["move 0,0→1,0"])
    }

    @Test func bySeveralLevels() throws {
        let stadiums = try Stadiums()
        for (name, country, city) in [
            ("A", "FR", "Paris"), ("B", "DE", "Bonn"), ("C", "FR", "Lyon"), ("D", "DE", "Bonn"), ("E", "FR", "Bonn"),
            ("F", "A/B", "c"),
        ] { stadiums.add(name, ["country": country, "city": city, "capacity": 10]) }
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .levels(.value("country").descending(), .value("city")))
        #expect(titles(controller) == ["FR/Bonn 1", "FR/Lyon 1", "FR/Paris 1", "DE/Bonn 2", "A\\/B/c 1"])
        let tree = try #require(controller.sectionTree)
        #expect(tree.map { "\($0.name) \($0.count) \($0.sections)" } == ["FR 3 0..<3", "DE 2 3..<4", "A/B 1 4..<5"])
        #expect(tree[0].children.map(\.name) == ["Bonn", "Lyon", "Paris"])
        #expect(controller.sections?[3].value == .levels([.text("DE"), .text("Bonn")]))
        controller.fetchedObjects?.last?.setValue("FR", forKey: "country")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["section delete 4 A\\/B/c", "section insert 3 FR/c", "move 4,0→3,0"])
    }

    @Test func orderApartFromTheTitle() throws {
        let stadiums = try Stadiums()
        for (name, city, rank) in [("A", "low", 3), ("B", "top", 1), ("C", "middle", 2), ("D", "top", 1)] {
            stadiums.add(name, ["city": city, "seats": rank])
        }
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .value("city").ordered(by: "seats"))
        #expect(titles(controller) == ["top 2", "middle 1", "low 1"])
        controller.fetchedObjects?.first { $0.value(forKey: "city") as? String == "low" }?.setValue(0, forKey: "seats")
        stadiums.context.processPendingChanges()
        #expect(titles(controller) == ["low 1", "top 2", "middle 1"])
        #expect(!log.isEmpty)
        controller.sectionBy = .value("city").ordered { ($0.text ?? "").count > ($1.text ?? "").count }
        try controller.performFetch()
        #expect(titles(controller).first == "middle 1")
    }

    @Test func keptSectionsAreThereWhileTheyAreEmpty() throws {
        let stadiums = try Stadiums()
        let first = stadiums.add("A", ["city": "x"])
        stadiums.add("B", ["city": "other"])
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .value("city").keeping(["todo", "x", "done"]))
        #expect(titles(controller) == ["todo 0", "x 1", "done 0", "other 1"])
        #expect(names(controller) == " | A |  | B")
        first.setValue("done", forKey: "city")
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["move 1,0→2,0"])
        #expect(titles(controller) == ["todo 0", "x 0", "done 1", "other 1"])
        stadiums.context.delete(first)
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["delete 2,0→-"])
        for object in controller.fetchedObjects ?? [] { stadiums.context.delete(object) }
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["section delete 3 other", "delete 3,0→-"])
        #expect(titles(controller) == ["todo 0", "x 0", "done 0"])
        stadiums.add("C", ["city": "todo"])
        stadiums.context.processPendingChanges()
        #expect(log.take() == ["insert -→0,0"])
    }

    @Test func relatedValuesAreFollowed() throws {
        let stadiums = try Stadiums()
        let club = NSEntityDescription.insertNewObject(forEntityName: "Club", into: stadiums.context)
        club.setValue("Ajax", forKey: "name")
        stadiums.add("A", ["owner": club])
        stadiums.add("B")
        try stadiums.context.save()
        let (controller, log) = try list(stadiums, .firstLetter("owner.name").missing(.last))
        #expect(titles(controller) == ["A 1", " 1"])
        club.setValue("Benfica", forKey: "name")
        stadiums.context.processPendingChanges()
        #expect(titles(controller) == ["B 1", " 1"])
        #expect(log.take() == ["section delete 0 A", "section insert 0 B", "move 0,0→0,0"])
    }

    @Test func aCacheStoresTheKind() throws {
        let name = "sections-\(UUID().uuidString)"
        defer { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
        let stadiums = try Stadiums()
        for (number, date) in ["1930-07-13", "1998-06-10", "1930-07-14"].enumerated() {
            stadiums.add("S\(number)", ["opened": try day(date), "city": "c\(number % 2)"])
        }
        try stadiums.context.save()
        for _ in 0..<3 {
            let (controller, _) = try list(stadiums, .year("opened", calendar: utc), cache: name)
            #expect(titles(controller) == ["1930 2", "1998 1"])
            #expect(controller.sections?[0].value.date != nil)
        }
        let (controller, log) = try list(stadiums, .month("opened", calendar: utc), cache: name)
        #expect(titles(controller) == ["1930-07 2", "1998-06 1"])
        stadiums.add("N", ["opened": try day("1930-07-20")])
        try stadiums.context.save()
        #expect(log.take() == ["insert -→0,0"])
        let (kept, _) = try list(stadiums, .value("city").keeping(["none", "c1"]), cache: name)
        #expect(titles(kept) == ["none 0", "c1 1", " 1", "c0 2"])
        let (again, _) = try list(stadiums, .value("city").keeping(["none", "c1"]), cache: name)
        #expect(titles(again) == ["none 0", "c1 1", " 1", "c0 2"])
    }

    @Test func invalidSectionKindsAreRefused() throws {
        let stadiums = try Stadiums()
        let wrong: [(SectionBy, String)] = [
            (.year("name"), "date"), (.bucket("name", size: 1), "number"), (.firstLetter("capacity"), "text"),
            (.value("nothing"), "nothing"), (.value("owner"), "attribute"),
        ]
        for (by, word) in wrong {
            let error = #expect(throws: CocoaError.self) { try list(stadiums, by) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains(word) == true || "\(String(describing: error))".contains(word))
        }
    }

    @Test func aRefetchChangesTheSections() async throws {
        let stadiums = try Stadiums()
        for number in 0..<9 { stadiums.add("N\(number)", ["city": "c\(number % 3)", "capacity": number * 100]) }
        try stadiums.context.save()
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(), managedObjectContext: stadiums.context, sectionNameKeyPath: nil,
            cacheName: nil)
        let log = RowLog()
        controller.delegate = log
        try controller.performFetch()
        controller.sectionBy = .value("city")
        try await controller.refetch()
        #expect(names(controller) == "N0 N3 N6 | N1 N4 N7 | N2 N5 N8")
        let heard = log.take()
        #expect(heard.first == "section delete 0 ")
        #expect(heard.filter { $0.hasPrefix("move") }.count == 9)
        controller.sectionBy = .value("city").descending()
        try await controller.refetch()
        #expect(names(controller) == "N2 N5 N8 | N1 N4 N7 | N0 N3 N6")
        #expect(log.take().filter { $0.hasPrefix("section") }.count == 4)
        controller.sectionBy = .bucket("capacity", size: 500)
        try await controller.refetch()
        #expect(names(controller) == "N0 N1 N2 N3 N4 | N5 N6 N7 N8")
        controller.sectionBy = nil
        try await controller.refetch()
        #expect(names(controller) == "N0 N1 N2 N3 N4 N5 N6 N7 N8")
    }

    @Test func windowsAndSnapshotsHaveSuchSections() throws {
        let stadiums = try Stadiums()
        for number in 0..<8 { stadiums.add("N\(number)", ["city": "c\(number % 2)", "capacity": number]) }
        let request = stadiums.request(["-capacity"])
        request.fetchLimit = 3
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: stadiums.context, sectionNameKeyPath: nil, cacheName: nil)
        controller.sectionBy = .value("city")
        controller.followsChanges = true
        try controller.performFetch()
        #expect(names(controller) == "N6 | N7 N5")
        stadiums.add("N9", ["city": "c0", "capacity": 9])
        stadiums.context.processPendingChanges()
        #expect(names(controller) == "N9 N6 | N7")
        let snapshot = try #require(controller.snapshot)
        #expect(snapshot.sections.map(\.value) == [.text("c0"), .text("c1")])
        #expect(snapshot.sections.map(\.positions) == [0..<2, 2..<3])
    }

    // MARK: Similar values

    @Test func namesThatDifferInTheirBytesOnlyAreTwoSections() throws {
        for kind in [NSSQLiteStoreType, NSInMemoryStoreType] {
            let stadiums = try Stadiums(type: kind)
            for (name, city) in [("A", "e\u{301}"), ("B", "f"), ("C", "\u{e9}")] { stadiums.add(name, ["city": city]) }
            try stadiums.context.save()
            let (byKey, keyLog) = try stadiums.list(stadiums.request(["city", "name"]), section: "city")
            #expect(names(byKey) == "A | B | C")
            let (byRule, ruleLog) = try list(stadiums, .value("city"))
            #expect(names(byRule) == "A | B | C")
            let first = try #require(byKey.fetchedObjects?.first)
            first.setValue("\u{e9}", forKey: "city")
            stadiums.context.processPendingChanges()
            #expect(names(byKey) == "B | A C")
            #expect(names(byRule) == "B | A C")
            #expect(keyLog.take() == ["section delete 0 e\u{301}", "move 0,0→1,0"])
            #expect(ruleLog.take() == ["section delete 0 e\u{301}", "move 0,0→1,0"])
            try stadiums.context.save()
            stadiums.context.reset()
            try byKey.performFetch()
            #expect(names(byKey) == "B | A C")
        }
    }

    @Test func closuresMayGiveLevels() throws {
        let stadiums = try Stadiums()
        for name in ["A", "B", "C", "D"] { stadiums.add(name) }
        let (controller, _) = try list(
            stadiums,
            .computed { object in
                switch object.value(forKey: "name") as? String {
                case "A": .levels([.text("x"), .text("y")])
                case "B": .levels([])
                case "C": .levels([.levels([.levels([.integer(1)])])])
                default: .text("x")
                }
            })
        let tree = try #require(controller.sectionTree)
        #expect(tree.count == 4)
        #expect(tree.allSatisfy { $0.count == 1 && $0.children.isEmpty })
        #expect(tree.first { $0.name == "x/y" }?.value == .levels([.text("x"), .text("y")]))
    }

    @Test func theTreeOfAnotherNumberOfLevelsIsATree() async throws {
        let stadiums = try Stadiums()
        for (name, city) in [("A", "x"), ("B", "y"), ("C", "y")] {
            stadiums.add(name, ["city": city, "country": "FR"])
        }
        try stadiums.context.save()
        let (controller, _) = try list(stadiums, .value("city"))
        var changes = controller.changes.makeAsyncIterator()
        controller.sectionBy = .levels(.value("country"), .value("city"))
        try await controller.refetch()
        let batch = try #require(await changes.next())
        #expect(batch.before.sectionTree.map(\.count) == [1, 2])
        #expect(batch.after.sectionTree.map(\.name) == ["FR"])
        #expect(batch.after.sectionTree.first?.children.map(\.count) == [1, 2])
    }

    @Test func closuresRunWithoutTheCoordinatorsLock() throws {
        let stadiums = try Stadiums()
        stadiums.add("A")
        try stadiums.context.save()
        let container = stadiums.container
        let answers = Mutex<[DispatchTimeoutResult]>([])
        let (controller, _) = try list(
            stadiums,
            .computed { _ in
                let done = DispatchSemaphore(value: 0)
                container.performBackgroundTask { context in
                    _ = try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Stadium"))
                    done.signal()
                }
                let answer = done.wait(timeout: .now() + 120)
                answers.withLock { $0.append(answer) }
                return .text("x")
            })
        #expect(names(controller) == "A")
        #expect(answers.withLock { $0 } == [.success])
    }

    @Test func snapshotsOfManySectionsFindEach() throws {
        let stadiums = try Stadiums()
        for number in 0..<40 { stadiums.add("N\(number)", ["capacity": number]) }
        let controller = NSFetchedResultsController(
            fetchRequest: stadiums.request(["capacity"]), managedObjectContext: stadiums.context,
            sectionNameKeyPath: nil, cacheName: nil)
        controller.sectionBy = .bucket("capacity", size: 2)
        let log = SnapshotLog()
        controller.delegate = log
        try controller.performFetch()
        let snapshot = try #require(log.snapshots.last)
        #expect(snapshot.sectionIdentifiers.count == 20)
        for (index, name) in snapshot.sectionIdentifiers.enumerated() {
            #expect(snapshot.index(ofSectionIdentifier: name) == index)
            #expect(snapshot.numberOfItems(inSection: name) == 2)
        }
        #expect(snapshot.index(ofSectionIdentifier: "none") == NSNotFound)
    }
}
