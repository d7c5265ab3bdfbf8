import CoreData
import Foundation

/// 22: lists by value, by month and by letter: opening with a warm cache, a change with and without aggregates, and a
/// new predicate reported as one batch, compared with a new fetch.
@MainActor struct SectionsWorkload {
    let stage: Stage
    private static let times = 500

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var batches = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) { batches += 1 }

        /// Counts a batch reported in another form.
        func count() { batches += 1 }
    }

    private final class DifferenceListener: NSObject, NSFetchedResultsControllerDelegate {
        let counter: Listener
        init(_ counter: Listener) { self.counter = counter }
        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) { counter.count() }
    }

    func run() throws {
        let url = try stage.filledStore(stage.count)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: "UTC") ?? .current
        try measure("by value", .value("qualifyingZone"), url)
        try measure("by month", .month("founded", calendar: calendar), url)
        try measure("by letter", .firstLetter("teamName", locale: Locale(identifier: "en_US")), url)
    }

    func runRefetch() throws {
        let url = try stage.filledStore(stage.count)
        try refetch("reported as a batch", .value("qualifyingZone"), url)
        try refetch("of a list without sections, reported as a difference", nil, url)
    }

    private func list(
        _ stack: League.Stack, _ sectionBy: SectionBy?, cacheName: String? = nil, withAggregates: Bool = false
    ) -> NSFetchedResultsController<Team> {
        let controller = NSFetchedResultsController(
            fetchRequest: League.request(), managedObjectContext: stack.context, sectionNameKeyPath: nil,
            cacheName: cacheName)
        controller.sectionBy = sectionBy
        if withAggregates {
            controller.aggregates = [.sum("wins"), .average("wins"), .minimum("venue"), .maximum("founded")]
        }
        return controller
    }

    // MARK: Opening and changing

    private func measure(_ what: String, _ sectionBy: SectionBy, _ url: URL) throws {
        try open(what, sectionBy, url)
        // Both lists get the same changes alternately, to expose both to the same state of the machine.
        let lists = try [false, true].map { withAggregates in
            let stack = try League.Stack(url)
            let made = (stack, list(stack, sectionBy, withAggregates: withAggregates), Listener())
            made.1.delegate = made.2
            let fetching = try Clock.processor.time { try made.1.performFetch() }
            print("<!-- \(what): \(made.1.sections?.count ?? 0) sections, fetched in \(fetching) s -->")
            return made
        }
        var random = SeededRandom(seed: 22)
        var rounds = Rounds(0)
        while rounds.runs("1") < Self.times {
            let (section, row, wins) = (random.next(), random.next(), Int32(random.below(1_000)))
            for (place, (stack, controller, _)) in lists.enumerated() {
                let sections = controller.sections ?? []
                let index = Int(section % UInt64(sections.count))
                let path = IndexPath(row: Int(row % UInt64(sections[index].numberOfObjects)), section: index)
                let team = controller.object(at: path)
                guard team.wins != wins else { continue }
                let time = Clock.wall.time {
                    team.wins = wins
                    stack.context.processPendingChanges()
                }
                rounds.note("\(place)", time)
            }
        }
        precondition(lists.allSatisfy { $0.2.batches >= Self.times })
        let medians = ["0", "1"].map { rounds[$0].median }
        for (stack, _, _) in lists { try stack.close() }
        Line(
            number: 22, what: "one of \(stage.count) rows \(what) changes (median)", unit: .microseconds,
            figure: medians[0]
        ).report()
        Line(
            number: 22, what: "… cost of four aggregates", unit: .microseconds, figure: medians[1] - medians[0],
            target: .absolute(10e-6)
        ).report()
    }

    private func open(_ what: String, _ sectionBy: SectionBy, _ url: URL) throws {
        let rounds = try Rounds.run(max(5, stage.rounds), warmUp: true) { rounds in
            let stack = try League.Stack(url)
            rounds.note(
                "warm",
                try Clock.wall.time {
                    let controller = list(stack, sectionBy, cacheName: "sections")
                    try controller.performFetch()
                    _ = controller.sections?.count
                    for row in 0..<min(50, controller.sections?.first?.numberOfObjects ?? 0) {
                        _ = controller.object(at: IndexPath(row: row, section: 0)).teamName
                    }
                })
            // Lists are written on another queue.
            Thread.sleep(forTimeInterval: 0.5)
            try stack.close()
        }
        Line(
            number: 22, what: "open the list of \(stage.count) rows \(what), cache warm", unit: .milliseconds,
            figure: rounds["warm"].median, target: .absolute(4e-3)
        ).report()
    }

    // MARK: A new predicate

    /// Measures the longest turn of the main thread in processor time. It wakes up every millisecond.
    private final class Turns {
        var longest = 0.0
        private var last = Turns.now
        private var isOn = true

        static var now: Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }

        @MainActor func run() async {
            while isOn {
                try? await Task.sleep(for: .milliseconds(1))
                let now = Turns.now
                longest = max(longest, now - last)
                last = now
            }
        }

        func end() { isOn = false }
    }

    /// - Parameter sectionBy: Nil for a list without sections, whose delegate gets differences.
    private func refetch(_ what: String, _ sectionBy: SectionBy?, _ url: URL) throws {
        var longest: [Double] = []
        let rounds = try Rounds.run(stage.rounds) { rounds in
            let stack = try League.Stack(url)
            let controller = list(stack, sectionBy)
            let listener = Listener()
            let delegate: NSObject = sectionBy == nil ? DifferenceListener(listener) : listener
            controller.delegate = delegate as? any NSFetchedResultsControllerDelegate
            defer { withExtendedLifetime(delegate) {} }
            try controller.performFetch()
            controller.fetchRequest.predicate = NSPredicate(format: "wins >= 500")
            let turns = Turns()
            var isOver = false
            var failure: (any Error)?
            var end = 0.0
            let start = Clock.processor.now
            let wall = Clock.wall.now
            Task { @MainActor in await turns.run() }
            Task { @MainActor in
                do { try await controller.refetch() } catch { failure = error }
                end = Clock.wall.now
                turns.end()
                isOver = true
            }
            while !isOver { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005)) }
            if let failure { throw failure }
            precondition(listener.batches == 1, "\(listener.batches) batches were told")
            rounds.note("refetch", end - wall)
            rounds.note("processor", Clock.processor.now - start)
            longest.append(turns.longest)
            let fresh = list(stack, sectionBy)
            fresh.fetchRequest.predicate = NSPredicate(format: "wins >= 500")
            rounds.note("fresh", try Clock.wall.time { try fresh.performFetch() })
            precondition(fresh.fetchedObjects?.count == controller.fetchedObjects?.count)
            try stack.close()
        }
        Line(
            number: 22, what: "a new predicate on \(stage.count) rows \(what) (anchor: a fresh fetch)",
            unit: .milliseconds, figure: rounds["refetch"].median, anchor: rounds["fresh"].median, target: .ratio(2)
        ).report()
        Line(
            number: 22, what: "… longest turn of the main thread, processor time", unit: .milliseconds,
            figure: Timing(of: longest).median, target: .absolute(5e-3)
        ).report()
    }
}
