import CSimulatedDisk
import CoreData
import Foundation
import RosterCommands

/// Sets the wall clock forwards and back between commits and during waits. A follower of the history misses and repeats
/// no transaction, dates keep their values, and waits take the requested time.
struct ClockTrial {
    private let url: URL
    private let model = Self.makeModel()
    private var dice: Dice
    private let writers: [Stack]
    private var followers: [Follower]
    /// The date set on each row.
    private var given: [Date] = []
    /// Transactions that were not removed.
    private var history: [(number: Int64, time: Date)] = []
    private(set) var commits = 0
    private(set) var backwards = 0
    private(set) var removed = 0

    init(seed: UInt64, folders: TrialFolders) throws {
        dice = Dice(seed)
        url = folders.root.appendingPathComponent("clock.sqlite")
        let model = model, url = url
        writers = try (0..<2).map { _ in try Stack(url, model, pragmas: [:]) }
        followers = try (0..<2).map { _ in Follower(try Stack(url, model, pragmas: [:])) }
    }

    /// Teams with the attributes that `roster simulate` requires.
    private static func makeModel() -> NSManagedObjectModel {
        let team = NSEntityDescription()
        team.name = "Team"
        let numbers = ["wins", "draws", "losses", "goalsFor", "goalsAgainst"].map {
            ($0, NSAttributeType.integer64AttributeType)
        }
        let kinds: [(String, NSAttributeType)] = [("name", .stringAttributeType), ("founded", .dateAttributeType)]
        team.properties = (kinds + numbers).map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [team]
        return model
    }

    mutating func run(_ count: Int) throws {
        defer { clock_set_off(0) }
        while commits < count {
            setClock()
            try commit()
            for number in followers.indices where dice.roll(3) == 0 { try follow(number) }
            if commits.isMultiple(of: 25) { try remove() }
            if commits.isMultiple(of: 10) { try lookAfterDate() }
        }
        for number in followers.indices { try follow(number) }
        try lookAtRows()
        guard count < 20 || backwards > count / 10 else { throw Wrong("the clock went back only \(backwards) times") }
    }

    private mutating func setClock() {
        let longest: [Double] = [0.5, 90, 86_400, 30 * 365 * 86_400]
        clock_set_off((Double(dice.roll(2_000_001)) / 1_000_000 - 1) * longest[dice.roll(4)])
    }

    private mutating func commit() throws {
        let stack = writers[dice.roll(2)]
        let now = Date()
        given.append(now)
        try stack.context.performAndWait {
            let team = NSEntityDescription.insertNewObject(forEntityName: "Team", into: stack.context)
            team.setValuesForKeys(["name": "\(commits)", "founded": now])
            try stack.context.save()
        }
        commits += 1
    }

    private mutating func follow(_ number: Int) throws {
        let transactions = try followers[number].follow()
        let names = transactions.flatMap(\.names)
        let first = commits - names.count
        guard names == (first..<commits).map(String.init), followers[number].seen + names.count == commits else {
            throw Wrong("after \(followers[number].seen) of \(commits) rows a follower saw \(names)")
        }
        for (index, transaction) in transactions.enumerated() {
            let said = given[first + index]
            guard abs(transaction.time.timeIntervalSince(said)) < 120 else {
                throw Wrong("a transaction of \(said) is of \(transaction.time)")
            }
            guard transaction.number > history.last?.number ?? 0 else { continue }
            if let last = history.last, transaction.time < last.time { backwards += 1 }
            history.append((transaction.number, transaction.time))
        }
        followers[number].seen = commits
    }

    /// Fetches the history after a date and expects all later transactions.
    private mutating func lookAfterDate() throws {
        try follow(0)
        guard !history.isEmpty else { return }
        let date = history[dice.roll(history.count)].time
        let wanted = history.filter { $0.time > date }.map(\.number)
        let found = try followers[1].numbers(.fetchHistory(after: date))
        guard found == wanted else { throw Wrong("after \(date) are \(found) instead of \(wanted)") }
    }

    private mutating func remove() throws {
        for number in followers.indices { try follow(number) }
        let date = Date()
        let keeps = history.firstIndex { $0.time >= date } ?? history.count
        try followers[0].remove(.deleteHistory(before: date))
        removed += keeps
        history.removeFirst(keeps)
        let found = try followers[1].numbers(.fetchHistory(after: nil as NSPersistentHistoryToken?))
        guard found == history.map(\.number) else {
            throw Wrong("before \(date) was removed: \(found) are left instead of \(history.map(\.number))")
        }
    }

    private func lookAtRows() throws {
        let stack = try Stack(url, model, pragmas: [:], isReadOnly: true)
        try stack.context.performAndWait {
            let teams = try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            guard teams.count == commits else { throw Wrong("\(teams.count) rows of \(commits)") }
            for team in teams {
                let number = (team.value(forKey: "name") as? String).flatMap(Int.init)
                guard let number, team.value(forKey: "founded") as? Date == given[number] else {
                    throw Wrong("row \(number ?? -1) has another date")
                }
            }
        }
        try stack.close()
    }

    // MARK: Waits

    /// Sets the clock off by up to a day while `watch` waits and between the matches of `simulate`.
    @MainActor
    func waits() throws {
        let location = StoreLocation(store: url.path)
        let jumps = Jumps()
        defer { jumps.end() }
        var start = ContinuousClock.now
        try WatchCommand(store: location, entity: "Team", timeout: 1.5).run(in: jumps.surroundings)
        try expect(1.5, since: start, of: "watch")
        start = .now
        try SimulateCommand(store: location, rate: 10, count: 10).run(in: jumps.surroundings)
        try expect(0.9, since: start, of: "simulate")
    }

    private func expect(_ least: Double, since start: ContinuousClock.Instant, of what: String) throws {
        let taken = (ContinuousClock.now - start) / .seconds(1)
        guard taken >= least, taken < 600 else { throw Wrong("\(what) of \(least) s took \(taken) s") }
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}

/// A program that reads the history from its last position, with a token stored as bytes.
private struct Follower {
    struct Transaction {
        let number: Int64
        let time: Date
        let names: [String]
    }

    private let stack: Stack
    private var token: Data?
    var seen = 0

    init(_ stack: Stack) { self.stack = stack }

    mutating func follow() throws -> [Transaction] {
        let token = try token.flatMap {
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: $0)
        }
        let (made, last) = try stack.context.performAndWait {
            let transactions = try ask(.fetchHistory(after: token))
            return (
                try transactions.map { transaction in
                    let names = try (transaction.changes ?? []).compactMap {
                        try stack.context.existingObject(with: $0.changedObjectID).value(forKey: "name") as? String
                    }
                    return Transaction(
                        number: transaction.transactionNumber, time: transaction.timestamp, names: names)
                },
                try transactions.last.map {
                    try NSKeyedArchiver.archivedData(withRootObject: $0.token, requiringSecureCoding: true)
                }
            )
        }
        if let last { self.token = last }
        return made
    }

    func numbers(_ request: NSPersistentHistoryChangeRequest) throws -> [Int64] {
        try stack.context.performAndWait { try ask(request).map(\.transactionNumber) }
    }

    func remove(_ request: NSPersistentHistoryChangeRequest) throws {
        _ = try stack.context.performAndWait { try stack.context.execute(request) }
    }

    private func ask(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
        let result = try stack.context.execute(request) as? NSPersistentHistoryResult
        return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }
}

/// Sets the clock on its own thread. Also the output, progress and interruption of a command.
// SAFETY: The lock guards the state shared by the threads; commands call it on one thread.
private final class Jumps: TextOutput, ProgressDisplay, Interruption, @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false

    init() {
        Thread.detachNewThread { [self] in
            var number = 0
            while !lock.withLock({ isOver }) {
                Thread.sleep(forTimeInterval: 0.35)
                number += 1
                clock_set_off([-3_600, 3_600, 0, -86_400][number % 4])
            }
            clock_set_off(0)
        }
    }

    func end() { lock.withLock { isOver = true } }

    func write(_ text: String) throws {}
    func flush() throws {}
    func report(fraction: Double?, _ text: @autoclosure () -> String) {}
    var isRaised: Bool { false }
    func wait(for time: Duration) { Thread.sleep(forTimeInterval: max(0, time / .seconds(1))) }
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {}

    var surroundings: CommandSurroundings {
        CommandSurroundings(
            output: self, progress: self, interruption: self,
            textStyle: TextStyle(columns: nil, isEmphasized: false) { $0.utf8.count })
    }
}
