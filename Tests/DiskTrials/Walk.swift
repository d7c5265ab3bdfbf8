import CSimulatedDisk
import CoreData
import Foundation

/// A program that changes a store at random, from a seed. It marks the disk after each save.
final class Walk {
    private let url: URL
    private let pragmas: [String: String]
    private var dice: Dice
    private var stacks: [Stack] = []
    private var isMigrated: Bool
    private var names = 0
    private let seed: UInt64
    private let focus: Focus
    /// Positions at which no connection is open and everything is saved with any setting.
    private(set) var closings: [Int] = []
    private(set) var steps: [(position: Int, name: String)] = []

    /// The kind of work that a program does most.
    enum Focus: String {
        case everything
        /// Sets and replaces values stored in external files.
        case pictures
        /// Opens a store with a rollback journal that has a write-ahead log.
        case journal
    }

    init(_ url: URL, seed: UInt64, pragmas: [String: String], isMigrated: Bool, focus: Focus) {
        self.focus = focus
        self.url = url
        self.pragmas = pragmas
        self.seed = seed
        self.isMigrated = isMigrated
        dice = Dice(seed)
    }

    /// Some walks restore an earlier copy of the store, some end with a migration, and some destroy the store and
    /// create another.
    ///
    /// - Returns: True if the store now has the second model.
    func run(steps count: Int, mayMigrate: Bool) throws -> Bool {
        try open()
        for _ in 0..<count { try step() }
        try close()
        if focus == .everything, dice.roll(4) == 0 { try goBack() }
        if mayMigrate, !isMigrated, dice.roll(3) == 0 {
            isMigrated = true
            note("migration")
            try open()
            for _ in 0..<2 { try step() }
            try close()
        }
        if focus == .everything, dice.roll(4) == 0 {
            note("destroy")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrialModel.first)
            try coordinator.destroyPersistentStore(at: url, type: .sqlite)
            disk_mark()
            isMigrated = false
            try open()
            for _ in 0..<3 { try step() }
            try close()
        }
        return isMigrated
    }

    /// Copies the store, changes it, and replaces it with the copy.
    private func goBack() throws {
        let backup = url.deletingLastPathComponent().appendingPathComponent("Backup.sqlite")
        try replace(backup, with: url)
        try open()
        for _ in 0..<3 { try step() }
        try close()
        try replace(url, with: backup)
        disk_mark()
        closings.append(disk_length())
        try open()
        for _ in 0..<2 { try step() }
        try close()
    }

    private func replace(_ destination: URL, with source: URL) throws {
        note("replace \(destination.lastPathComponent)")
        let model = isMigrated ? TrialModel.second : TrialModel.first
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: destination, withPersistentStoreFrom: source, type: .sqlite)
    }

    private func note(_ name: String) { steps.append((disk_length(), name)) }

    private func open() throws {
        note("open")
        stacks.append(try Stack(url, isMigrated ? TrialModel.second : TrialModel.first, pragmas: pragmas))
        disk_mark()
    }

    private func close() throws {
        note("close")
        for stack in stacks { try stack.close() }
        stacks = []
        disk_mark()
        closings.append(disk_length())
    }

    private func newName() -> String {
        names += 1
        return "\(seed)-\(names)"
    }

    private func size() -> Int {
        [0, 300, 5_000, 103_000, 120_000][focus == .pictures ? 3 + dice.roll(2) : dice.roll(5)]
    }

    private func step() throws {
        let stack = stacks[dice.roll(stacks.count)]
        let context = stack.context
        let kind = focus == .pictures ? [0, 4, 5][dice.roll(3)] : dice.roll(14)
        switch kind {
        case 0..<7:
            note("save \(kind)")
            try context.performAndWait {
                try change(stack, kind)
                try context.save()
            }
        case 7..<10:
            note("batch \(kind)")
            try context.performAndWait { try batch(stack, kind) }
        case 10:
            note("history")
            _ = try context.performAndWait {
                try context.execute(
                    NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: -0.005)))
            }
        case 11:
            if stacks.count < 2 { try open() }
        case 12:
            try close()
            try open()
        default:
            note("read")
            if let wrong = try stack.check() { throw Wrong("while the program runs: \(wrong)") }
            context.performAndWait { if dice.roll(2) == 0 { context.reset() } }
        }
        disk_mark()
    }

    private func change(_ stack: Stack, _ kind: Int) throws {
        let teams = try stack.all("Team")
        switch teams.count < 3 ? 0 : teams.count > 14 ? 3 : kind {
        case 0, 1:
            for _ in 0...dice.roll(3) {
                stack.makeTeam(newName(), players: dice.roll(5), pictureSize: size(), seed: dice.next())
            }
        case 2:
            // Enough rows for more than one page.
            for _ in 0..<12 { stack.makeTeam(newName(), players: 3) }
        case 3:
            for team in teams.shuffled(using: &dice).prefix(max(1, teams.count - 8)) { stack.context.delete(team) }
        case 4, 5:
            for team in teams.shuffled(using: &dice).prefix(3) {
                if stack.isFirst {
                    let size = size()
                    team.setValue(
                        size == 0 ? nil : TrialModel.picture(size, seed: dice.next()), forKey: "picture")
                    team.setValue(dice.roll(1000), forKey: "number")
                } else {
                    team.setValue(dice.roll(1000), forKey: "rank")
                }
                for player in team.value(forKey: "players") as? Set<NSManagedObject> ?? [] where dice.roll(3) == 0 {
                    player.setValue(teams[dice.roll(teams.count)], forKey: "team")
                }
            }
        default:
            let tag = stack.make("Tag", newName())
            tag.setValue(Set(teams.shuffled(using: &dice).prefix(4)), forKey: "teams")
        }
    }

    private func batch(_ stack: Stack, _ kind: Int) throws {
        let context = stack.context
        switch kind {
        case 7:
            let objects = (0..<10).map { ["name": newName(), "goals": $0] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: "Player", objects: objects))
        case 8:
            let request = NSBatchUpdateRequest(entityName: "Player")
            request.propertiesToUpdate = ["goals": dice.roll(100)]
            request.predicate = NSPredicate(format: "goals > %d", dice.roll(4))
            try context.execute(request)
        default:
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: dice.roll(2) == 0 ? "Player" : "Team")
            if fetch.entityName == "Player" {
                fetch.predicate = NSPredicate(format: "team == nil OR goals == 2")
            } else {
                fetch.predicate = NSPredicate(format: "players.@count == %d", dice.roll(4))
            }
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        }
        context.reset()
    }
}

/// A violated expectation.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
