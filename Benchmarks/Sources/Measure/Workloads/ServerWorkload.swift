#if PostgreSQL
    import CoreData
    import CoreDataPostgreSQL
    import Foundation

    /// The server of a measurement.
    enum MeasuredServer {
        private static let variable = "ROSTER_MEASURE_SERVER"

        /// URL of the server's database for libpq.
        static func url() throws -> String {
            guard let url = ProcessInfo.processInfo.environment[variable] else {
                throw Options.Failure(description: "\(variable) is to name a server; Benchmarks/server starts one")
            }
            return url
        }

        /// URL of a store in its own schema.
        static func store(_ schema: String) throws -> URL {
            let text = try url()
            guard let url = URL(string: text + (text.contains("?") ? "&" : "?") + "schema=" + schema) else {
                throw Options.Failure(description: "\(text) is no URL")
            }
            return url
        }
    }

    /// 25: a store on a server, compared with libpq in the same run. Wall-clock time, because another process does most
    /// of the work. ROSTER_MEASURE_OPENS (20) is the number of times the list is opened.
    @MainActor struct ServerWorkload {
        let stage: Stage

        func run() throws {
            let raw = RawServer(try MeasuredServer.url())
            try save(raw)
            try fetch(raw)
            try follow(raw)
        }

        private func save(_ raw: RawServer) throws {
            let records = stage.records(stage.count)
            let rounds = try Rounds.run(stage.rounds) { rounds in
                raw.execute("DROP SCHEMA IF EXISTS raw CASCADE; CREATE SCHEMA raw; SET search_path = raw")
                raw.execute(RawServer.schema)
                rounds.note("raw", Clock.wall.time { raw.insert(records) })

                raw.execute("DROP SCHEMA IF EXISTS saved CASCADE")
                let stack = try League.Stack(MeasuredServer.store("saved"), keepsHistory: true)
                League.insert(records, into: stack.context)
                rounds.note("save", try Clock.wall.time { try stack.context.save() })
                try stack.close()
            }
            Line(
                number: 25, what: "save \(stage.count) objects to a server, with index and history",
                unit: .milliseconds,
                figure: rounds["save"].median, anchor: rounds["raw"].median, target: .ratio(1.5)
            ).report()
            raw.execute("DROP SCHEMA raw CASCADE")
        }

        private static let order = "\"qualifyingZone\" NULLS FIRST, wins DESC NULLS LAST, \"teamName\" NULLS FIRST, _id"

        private func fetch(_ raw: RawServer) throws {
            let stack = try League.Stack(MeasuredServer.store("saved"), keepsHistory: true)
            raw.execute("ANALYZE saved.\"Team\"")
            let rounds = try Rounds.run(stage.rounds, warmUp: true) { rounds in
                var keys: [Int64] = []
                let sql = "SELECT _id FROM saved.\"Team\" ORDER BY \(Self.order)"
                rounds.note("raw", Clock.wall.time { keys = raw.keys(sql) })
                precondition(keys.count == stage.count)
                let controller = NSFetchedResultsController(
                    fetchRequest: League.request(), managedObjectContext: stack.context, sectionNameKeyPath: nil,
                    cacheName: nil)
                rounds.note("list", try Clock.wall.time { try controller.performFetch() })
                check(controller, keys)
            }
            Line(
                number: 25, what: "fetch \(stage.count) keys in order from a server", unit: .milliseconds,
                figure: rounds["list"].median, anchor: rounds["raw"].median, target: .ratio(1.2)
            ).report()
            try stack.close()
        }

        /// Checks that the list has these keys, with a sample only: the list makes objects of accessed rows, whose
        /// release would count in the next fetch.
        private func check(_ list: NSFetchedResultsController<Team>, _ keys: [Int64]) {
            precondition(list.sections?.map(\.numberOfObjects) == [keys.count])
            for place in stride(from: 0, to: keys.count, by: max(1, keys.count / 100)) {
                let id = list.object(at: IndexPath(row: place, section: 0)).objectID
                precondition(id.uriRepresentation().lastPathComponent == "p\(keys[place])")
            }
        }

        // MARK: Following, and opening again

        private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
            var told: Double?
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
                told = Clock.wall.now
            }
        }

        private func follow(_ raw: RawServer) throws {
            let stack = try League.Stack(MeasuredServer.store("saved"), keepsHistory: true)
            stack.context.automaticallyMergesChangesFromParent = true
            let list = try stack.list(cacheName: "server")
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            let team = list.object(at: IndexPath(row: 0, section: 0))
            let other = try League.Stack(MeasuredServer.store("saved"), keepsHistory: false).container
            let writer = other.newBackgroundContext()
            let id = team.objectID.uriRepresentation()
            let same = try writer.performAndWait { () throws -> NSManagedObjectID in
                guard let id = other.persistentStoreCoordinator.managedObjectID(forURIRepresentation: id) else {
                    throw Options.Failure(description: "the row is not there")
                }
                return id
            }
            var rounds = Rounds(0)
            for number in 0..<200 {
                rounds.note("trip", Clock.wall.time { raw.execute("SELECT 1") })
                listener.told = nil
                var committed = 0.0
                try writer.performAndWait {
                    guard let team = try writer.existingObject(with: same) as? Team else { return }
                    team.venue = Int32(number)
                    try writer.save()
                    committed = Clock.wall.now
                }
                let end = Clock.wall.now + 5
                while listener.told == nil, Clock.wall.now < end {
                    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.0005))
                }
                guard let told = listener.told else { throw Options.Failure(description: "no change was told") }
                rounds.note("told", max(0, told - committed))
            }
            let trip = rounds["trip"].median
            Line(
                number: 25,
                what: "one changed row of \(stage.count), from the commit's answer to the delegate (median)",
                unit: .microseconds, figure: rounds["told"].median, anchor: trip,
                target: .absolute(1.5 * trip + 1e-3)
            ).report()
            Line(
                number: 25, what: "… 99th of 100", unit: .microseconds, figure: rounds["told"].percentile99,
                anchor: trip
            ).report()
            try stack.close()
            try open(trip)
        }

        private static let opens = Int(Options.setting("OPENS", 20))

        private func open(_ trip: Double) throws {
            let rounds = try Rounds.run(max(Self.opens, stage.rounds), warmUp: true) { rounds in
                let stack = try League.Stack(MeasuredServer.store("saved"), keepsHistory: true)
                rounds.note("warm", try Clock.wall.time { try OpenWorkload.showFirstScreen(stack) })
                // The first run writes the cache in the background.
                if rounds.runs("warm") < 2 { Thread.sleep(forTimeInterval: 0.5) }
                try stack.close()
            }
            Line(
                number: 25,
                what: "open the list of \(stage.count) on a server, section cache warm (anchor: a round trip)",
                unit: .microseconds, figure: rounds["warm"].median, anchor: trip, target: .ratio(3)
            ).report()
        }
    }
#endif
