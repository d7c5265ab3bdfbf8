import CoreData
import Foundation

/// A process that changes rows of a store file, or follows a list of it.
struct FollowPart {
    static let argument = "--follow-part"
    static let idleSeconds = 10.0

    enum Role: String { case writer, follower }

    let role: Role
    let url: URL
    let number: Int
    let seconds: Double
    /// Transactions per second; 0 for no limit.
    let rate: Double

    init(role: Role, url: URL, number: Int, seconds: Double, rate: Double) {
        self.role = role
        self.url = url
        self.number = number
        self.seconds = seconds
        self.rate = rate
    }

    init(_ rest: inout ArraySlice<String>) throws {
        guard let role = rest.popFirst().flatMap(Role.init), let path = rest.popFirst(),
            let number = rest.popFirst().flatMap({ Int($0) }), let seconds = rest.popFirst().flatMap({ Double($0) }),
            let rate = rest.popFirst().flatMap({ Double($0) })
        else {
            throw Options.Failure(description: "\(Self.argument) wants a role, a store, a number, seconds and a rate")
        }
        self.init(role: role, url: URL(fileURLWithPath: path), number: number, seconds: seconds, rate: rate)
    }

    /// Starts the process. Its output is written to the returned file.
    func start() throws -> (process: Process, output: URL) {
        let output = url.deletingLastPathComponent().appendingPathComponent("\(role)-\(number).txt")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.argument, role.rawValue, url.path, "\(number)", "\(seconds)", "\(rate)"]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        return (process, output)
    }

    @MainActor func run() throws { try role == .writer ? write() : follow() }

    /// Prints the text and time of each commit. Each commit moves one from a team's venue to another's, which moves
    /// both in the list.
    @MainActor private func write() throws {
        let stack = try League.Stack(url, keepsHistory: true)
        let context = stack.context
        var random = SeededRandom(seed: UInt64(number + 1))
        let teams = try context.fetch(League.request(batchSize: 0))
        let start = Clock.wall.now
        var lines: [String] = []
        var conflicts = 0
        while Clock.wall.now < start + seconds {
            let pair = (0..<2).map { _ in teams[random.below(teams.count)] }
            guard pair[0] !== pair[1] else { continue }
            if rate > 0 {
                let wait = start + Double(lines.count) / rate - Clock.wall.now
                if wait > 0 { Thread.sleep(forTimeInterval: wait) }
            }
            for (team, step) in zip(pair, [Int32(1), -1]) {
                context.refresh(team, mergeChanges: false)
                team.venue += step
                team.wins = Int32(random.below(1_000))
            }
            let mark = "\(number).\(lines.count)"
            pair[0].teamName = mark
            do {
                try context.save()
                lines.append("\(mark) \(Clock.wall.now)")
            } catch let error as NSError where [133020, 133021].contains(error.code) {
                conflicts += 1
                context.rollback()
            }
        }
        print((lines + ["conflicts \(conflicts)", "seconds \(Clock.wall.now - start)"]).joined(separator: "\n"))
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var seen: [String: Double] = [:]
        var last = 0.0

        func controller(
            _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange object: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            last = Clock.wall.now
            guard let name = (object as? Team)?.teamName, seen[name] == nil else { return }
            seen[name] = last
        }
    }

    /// Prints the processor use while idle, the memory during the run, and the seen texts with their times.
    @MainActor private func follow() throws {
        let stack = try League.Stack(url, keepsHistory: true)
        stack.context.automaticallyMergesChangesFromParent = true
        let list = try stack.list()
        let listener = Listener()
        list.delegate = listener
        try list.performFetch()
        func run(until end: Double) {
            while Clock.wall.now < end { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.5)) }
        }
        let start = Clock.wall.now
        run(until: start + 1)
        let idle = Clock.processor.now
        run(until: start + Self.idleSeconds)
        print("idle \((Clock.processor.now - idle) / (Clock.wall.now - start - 1) * 100)")
        for part in 1...10 {
            run(until: start + Self.idleSeconds + seconds * Double(part) / 10)
            print("memory \(Memory.resident) heap \(Memory.heap) seen \(listener.seen.count)")
        }
        // Waits up to 30 seconds, because a busy follower may be late.
        let limit = Clock.wall.now + 30
        while Clock.wall.now < limit, Clock.wall.now < max(listener.last, start + Self.idleSeconds + seconds) + 3 {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
        }
        for (name, time) in listener.seen { print("\(name) \(time)") }
        stack.context.refreshAllObjects()
        let fresh = try stack.list()
        try fresh.performFetch()
        let isSame = (list.fetchedObjects ?? []).map(\.objectID) == (fresh.fetchedObjects ?? []).map(\.objectID)
        let names = (list.sections ?? []).map { "\($0.name) \($0.numberOfObjects)" }
        let isSameInSections = names == (fresh.sections ?? []).map { "\($0.name) \($0.numberOfObjects)" }
        print("same \(isSame && isSameInSections ? 1 : 0)")
    }
}

/// 22 and 24: processes write to a store file while others follow a sectioned list of it. ROSTER_MEASURE_SECONDS (60),
/// ROSTER_MEASURE_WRITERS (1), ROSTER_MEASURE_FOLLOWERS (1) and ROSTER_MEASURE_RATE (200 transactions per second and
/// writer; 0 for no limit).
@MainActor struct FollowWorkload {
    let stage: Stage

    func run() throws {
        let seconds = Options.setting("SECONDS", 60)
        let writers = Int(Options.setting("WRITERS", 1))
        let url = try stage.copy(of: stage.filledStore(stage.count, keepsHistory: true), named: "follow")
        let database = RawDatabase(path: url.path)
        let sum = RawTeams.keys("SELECT sum(ZVENUE) FROM ZTEAM", from: database)
        let rate = Options.setting("RATE", 200)
        func part(_ role: FollowPart.Role, _ number: Int) -> FollowPart {
            FollowPart(role: role, url: url, number: number, seconds: seconds, rate: rate)
        }
        let followers = try (0..<Int(Options.setting("FOLLOWERS", 1))).map { try part(.follower, $0).start() }
        Thread.sleep(forTimeInterval: FollowPart.idleSeconds + 1)
        let writing = try (0..<writers).map { try part(.writer, $0).start() }
        var commits: [String: Double] = [:]
        for (process, output) in writing {
            process.waitUntilExit()
            precondition(process.terminationStatus == 0, "a writer ended with \(process.terminationStatus)")
            let words = try Self.lines(output)
            for line in words where line.count == 2 && line[0].contains(".") { commits[line[0]] = Double(line[1]) }
            print("<!-- writer: \(words.suffix(2).map { $0.joined(separator: " ") }.joined(separator: ", ")) -->")
        }
        for (number, (process, output)) in followers.enumerated() {
            process.waitUntilExit()
            precondition(process.terminationStatus == 0, "a follower ended with \(process.terminationStatus)")
            try report(try Self.lines(output), commits, number)
        }
        let now = RawTeams.keys("SELECT sum(ZVENUE) FROM ZTEAM", from: database)
        precondition(now == sum, "the sum is another one")
        let changes = RawTeams.keys("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 1", from: database)
        precondition(changes == [Int64(2 * commits.count)], "\(changes) changes of \(commits.count) commits")
        print("<!-- \(commits.count) commits in \(seconds) s, each in the history once; sum right -->")
    }

    private static func lines(_ file: URL) throws -> [[String]] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
    }

    private func report(_ lines: [[String]], _ commits: [String: Double], _ number: Int) throws {
        let isSame = lines.contains(["same", "1"])
        precondition(isSame, "follower \(number): the list that followed is not that of a fetch")
        var delays: [Double] = []
        for line in lines {
            if line[0] == "idle" { print("<!-- follower \(number): idle \(line[1]) % of a core -->") }
            if line[0] == "memory" { print("<!-- follower \(number): \(line.joined(separator: " ")) -->") }
            guard line.count == 2, line[0].contains("."), let seen = Double(line[1]), let done = commits[line[0]]
            else { continue }
            delays.append(max(0, seen - done))
        }
        print("<!-- follower \(number): \(delays.count) of \(commits.count) seen by their text -->")
        let timing = Timing(of: delays)
        Line(
            number: 22, what: "follower \(number) of \(stage.count) rows: commit to delegate (median)",
            unit: .milliseconds, figure: timing.median
        ).report()
        Line(
            number: 22, what: "… 99th of 100", unit: .milliseconds, figure: timing.percentile99, target: .absolute(0.3)
        ).report()
    }
}
