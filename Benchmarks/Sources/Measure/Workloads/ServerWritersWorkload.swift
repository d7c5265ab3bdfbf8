#if PostgreSQL
    import CoreData
    import CoreDataPostgreSQL
    import Foundation

    /// A process that changes rows of a store on a server, at a rate or without a limit.
    struct ServerWriter {
        static let argument = "--write"
        static let isReady = "ready"
        let number: Int
        let seconds: Double
        /// Commits per second; 0 for no limit.
        let rate: Double

        init(number: Int, seconds: Double, rate: Double) {
            self.number = number
            self.seconds = seconds
            self.rate = rate
        }

        init(_ rest: inout ArraySlice<String>) throws {
            guard let number = rest.popFirst().flatMap({ Int($0) }),
                let seconds = rest.popFirst().flatMap({ Double($0) }),
                let rate = rest.popFirst().flatMap({ Double($0) })
            else { throw Options.Failure(description: "\(Self.argument) wants a number, seconds and a rate") }
            self.init(number: number, seconds: seconds, rate: rate)
        }

        var arguments: [String] { [Self.argument, "\(number)", "\(seconds)", "\(rate)"] }

        /// Reports that it has read the store, waits for a line, and prints the text and time of each commit. Each
        /// commit moves one from a team's venue to another's, which moves both in the list.
        @MainActor func run() throws {
            let stack = try League.Stack(MeasuredServer.store("written"), keepsHistory: false)
            let context = stack.context
            var random = SeededRandom(seed: UInt64(number + 1))
            let ids = try context.fetch(Self.allIDs())
            FileHandle.standardOutput.write(Data((Self.isReady + "\n").utf8))
            _ = readLine()
            let start = Clock.wall.now
            var lines: [String] = []
            var conflicts = 0
            while Clock.wall.now < start + seconds {
                if rate > 0 {
                    let wait = start + Double(lines.count) / rate - Clock.wall.now
                    if wait > 0 { Thread.sleep(forTimeInterval: wait) }
                }
                let pair = (0..<2).map { _ in ids[random.below(ids.count)] }
                guard pair[0] != pair[1] else { continue }
                let request = NSFetchRequest<Team>(entityName: "Team")
                request.predicate = NSPredicate(format: "self IN %@", pair)
                let teams = try context.fetch(request)
                guard teams.count == 2 else { continue }
                teams[0].venue += 1
                teams[1].venue -= 1
                for team in teams { team.wins = Int32(random.below(1_000)) }
                let mark = "\(number).\(lines.count)"
                teams[0].founded = Date(timeIntervalSinceReferenceDate: Clock.wall.now)
                teams[0].teamName = mark
                do {
                    try context.save()
                    lines.append("\(mark) \(Clock.wall.now)")
                } catch let error as NSError where error.code == 133020 {
                    conflicts += 1
                    context.rollback()
                }
                context.refreshAllObjects()
            }
            print((lines + ["conflicts \(conflicts)"]).joined(separator: "\n"))
        }

        private static func allIDs() -> NSFetchRequest<NSManagedObjectID> {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Team")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "teamName", ascending: true)]
            return request
        }
    }

    /// 25: twenty processes write to one store, one follows a sectioned list of it. ROSTER_MEASURE_SECONDS (60) and
    /// ROSTER_MEASURE_RATE (0; transactions per second and writer, 0 for no limit).
    @MainActor struct ServerWritersWorkload {
        let stage: Stage
        private static let writers = 20
        private static let seconds = Options.setting("SECONDS", 60)
        /// Commits per second and writer; 0 for no limit.
        private static let rate = Options.setting("RATE", 0)

        private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
            var seen: [String: Double] = [:]
            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange object: Any,
                at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
            ) {
                guard let name = (object as? Team)?.teamName, seen[name] == nil else { return }
                seen[name] = Clock.wall.now
            }
        }

        func run() throws {
            let raw = RawServer(try MeasuredServer.url())
            raw.execute("DROP SCHEMA IF EXISTS written CASCADE")
            let stack = try League.Stack(MeasuredServer.store("written"), keepsHistory: true)
            var rest = stage.records(stage.count)[...]
            while !rest.isEmpty {
                League.insert(rest.prefix(100_000), into: stack.context)
                try stack.context.save()
                stack.context.reset()
                rest = rest.dropFirst(100_000)
            }
            raw.execute("ANALYZE written.\"Team\"")
            let sum = raw.keys("SELECT sum(venue) FROM written.\"Team\"")
            stack.context.automaticallyMergesChangesFromParent = true
            let list = try stack.list()
            let listener = Listener()
            list.delegate = listener
            try list.performFetch()
            let lines = try follow(listener)
            try check(stack, list, sum, raw, lines, listener)
        }

        /// A running writer, with the file of its output and the pipe that starts it.
        private struct Part {
            let process = Process()
            let output: URL
            let start = Pipe()

            @MainActor init(_ number: Int, in folder: URL) throws {
                output = folder.appendingPathComponent("writer-\(number).txt")
                _ = FileManager.default.createFile(atPath: output.path, contents: nil)
                process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
                process.arguments =
                    ServerWriter(
                        number: number, seconds: ServerWritersWorkload.seconds, rate: ServerWritersWorkload.rate
                    ).arguments
                process.standardOutput = try FileHandle(forWritingTo: output)
                process.standardInput = start
                try process.run()
            }

            var lines: [Substring] {
                get throws { try String(contentsOf: output, encoding: .utf8).split(separator: "\n") }
            }
        }

        /// Starts the writers, lets them write once all have read the store, and follows until all commits are seen.
        private func follow(_ listener: Listener) throws -> [String: Double] {
            let parts = try (0..<Self.writers).map { try Part($0, in: stage.folder) }
            while try !parts.allSatisfy({ try !$0.lines.isEmpty }) {
                precondition(parts.allSatisfy { $0.process.isRunning }, "a writer ended before it wrote")
                _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
            }
            for part in parts { try part.start.fileHandleForWriting.write(contentsOf: Data("go\n".utf8)) }
            while parts.contains(where: { $0.process.isRunning }) {
                _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
            }
            var commits: [String: Double] = [:]
            var conflicts = 0
            for part in parts {
                precondition(part.process.terminationStatus == 0, "a writer: status \(part.process.terminationStatus)")
                for line in try part.lines {
                    let words = line.split(separator: " ")
                    guard words.count == 2, let time = Double(words[1]) else { continue }
                    if words[0] == "conflicts" { conflicts += Int(time) } else { commits[String(words[0])] = time }
                }
            }
            let end = Clock.wall.now + 30
            while Clock.wall.now < end, !commits.keys.allSatisfy({ listener.seen[$0] != nil }) {
                _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
            }
            print("<!-- \(commits.count) commits in \(Self.seconds) s, \(conflicts) conflicts -->")
            return commits
        }

        private func check(
            _ stack: League.Stack, _ list: NSFetchedResultsController<Team>, _ sum: [Int64], _ raw: RawServer,
            _ commits: [String: Double], _ listener: Listener
        ) throws {
            // If a row was written again before it was seen, only its last text is seen.
            let delays = commits.compactMap { name, time in listener.seen[name].map { max(0, $0 - time) } }
            precondition(raw.keys("SELECT sum(venue) FROM written.\"Team\"") == sum, "the sum is another one")
            let fresh = try stack.list()
            try fresh.performFetch()
            let isSame = (list.fetchedObjects ?? []).map(\.objectID) == (fresh.fetchedObjects ?? []).map(\.objectID)
            precondition(isSame, "the list that followed is not that of a fetch")
            print("<!-- \(delays.count) of \(commits.count) seen by their text -->")
            let timing = Timing(of: delays)
            let pace = Self.rate > 0 ? " \(Int(Self.rate)) times a second each" : ""
            let what = "\(Self.writers) processes write to \(stage.count) rows\(pace), commit to delegate"
            Line(number: 25, what: "\(what) (median)", unit: .milliseconds, figure: timing.median).report()
            let sorted = delays.sorted()
            let parts = [0.75, 0.9, 0.95, 0.99, 0.999].map { part in
                "\(part): \(Int(1_000 * sorted[Int(Double(sorted.count - 1) * part)])) ms"
            }
            print("<!-- \(parts.joined(separator: ", ")) -->")
            Line(
                number: 25, what: "… 99th of 100", unit: .milliseconds, figure: timing.percentile99,
                target: .absolute(0.2)
            ).report()
            try stack.close()
        }
    }
#endif
