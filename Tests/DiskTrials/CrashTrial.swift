import CSimulatedDisk
import CoreData
import Foundation

/// One walk with power failures during it.
struct CrashTrial {
    /// Durability of commits.
    enum Durability: String, CaseIterable {
        /// A commit that returned survives a power failure.
        case full
        /// The default of a store without options. The last transactions may be lost, each as a whole.
        case normal
        /// Rollback journal instead of a write-ahead log.
        case journal

        var pragmas: [String: String] {
            switch self {
            case .full: ["synchronous": "FULL"]
            case .normal: [:]
            case .journal: ["synchronous": "EXTRA", "journal_mode": "DELETE"]
            }
        }
    }

    let seed: UInt64
    let folders: TrialFolders
    var crashes = 0
    /// Number of states that were also opened with the framework.
    var openings = 0
    /// Number of distinct states between transactions in all walks.
    var transactions = 0
    /// Number of crashes that lost transactions whose durability was not promised.
    var losses = 0
    private var states: [(position: Int, digest: UInt64)] = []
    private var isComplete = false

    private let focus: Walk.Focus

    init(seed: UInt64, focus: Walk.Focus, folders: TrialFolders) {
        self.focus = focus
        self.seed = seed
        self.folders = folders
    }

    /// Runs walks until there were `wanted` crashes. Some walks begin with the files left by a crash.
    mutating func run(_ wanted: Int, perWalk: Int) throws {
        var walk = seed
        var hasBase = false
        var isMigrated = false
        while crashes < wanted {
            var dice = Dice(walk)
            let keepsBase = hasBase && (focus == .journal ? walk % 2 == 0 : dice.roll(2) == 0)
            if !keepsBase {
                try folders.empty(folders.work)
                isMigrated = false
            }
            let durability: Durability =
                switch focus {
                case .everything: Durability.allCases[dice.roll(5) % 3]
                case .pictures: .normal
                case .journal: keepsBase ? .journal : .normal
                }
            do {
                isMigrated = try trial(
                    walk, durability, dice: &dice, isMigrated: isMigrated, count: min(perWalk, wanted - crashes))
            } catch {
                throw Wrong("walk \(walk) (\(durability)): \(error)")
            }
            hasBase = true
            walk += 1
        }
    }

    private mutating func trial(
        _ number: UInt64, _ durability: Durability, dice: inout Dice, isMigrated: Bool, count: Int
    ) throws -> Bool {
        var pragmas = durability.pragmas
        // A small limit, to copy pages into the main file during a walk.
        pragmas["wal_autocheckpoint"] = ["8", "40", "1000"][dice.roll(3)]
        if dice.roll(3) == 0 { pragmas["cache_size"] = "10" }
        let walk = Walk(
            folders.store, seed: number, pragmas: pragmas, isMigrated: isMigrated, focus: focus)
        disk_begin(folders.work.path)
        defer { disk_end() }
        let migrated = try walk.run(steps: 3 + dice.roll(8), mayMigrate: focus == .everything)
        disk_end()
        try findStates()
        transactions += states.count - 1
        let positions = (0..<count).map { _ in dice.roll(disk_length() + 1) }.sorted()
        for position in positions {
            let seed = dice.next()
            do {
                try crash(at: position, seed, walk, durability)
                if dice.roll(24) == 0 { try open(seed, pragmas) }
            } catch {
                let step = walk.steps.last { $0.position <= position }?.name ?? "the beginning"
                throw Wrong(
                    "\(error)\n  at operation \(position) of \(disk_length()) "
                        + "(\(String(cString: disk_operation(position)))), during: \(step)\n"
                        + "  left:\(String(cString: disk_choice()))\n  seed \(seed), \(pragmas)")
            }
        }
        // The next walk may begin with the files left by a crash.
        if let last = positions.last {
            disk_seek(last)
            let seed = dice.next()
            disk_write_crashed(folders.crashed.path, seed)
            let isSecond = try hasSecondModel(folders.crashedStore)
            disk_write_crashed(folders.crashed.path, seed)
            try FileManager.default.removeItem(at: folders.work)
            try FileManager.default.moveItem(at: folders.crashed, to: folders.work)
            return isSecond
        }
        return migrated
    }

    // MARK: States

    /// Records the state left by a killed program, at each moment at which a transaction may have ended.
    private mutating func findStates(all: Bool = false) throws {
        states = []
        isComplete = all
        for position in 0...disk_length() {
            guard all || position == 0 || position == disk_length() || disk_may_commit(position) != 0 else { continue }
            disk_seek(position)
            disk_write_whole(folders.whole.path)
            let digest = try look(folders.wholeStore, "killed after operation \(position)")
            if states.last?.digest != digest { states.append((position, digest)) }
        }
    }

    private func look(_ url: URL, _ what: String) throws -> UInt64 {
        var digest: UInt64 = 0
        var text = [CChar](repeating: 0, count: 512)
        guard look_at_store(url.path, &digest, &text, Int32(text.count)) == 0 else {
            throw Wrong(
                "\(what): \(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))")
        }
        return digest
    }

    private func index(at position: Int) -> Int { states.lastIndex { $0.position <= position } ?? 0 }

    // MARK: Crashes

    private mutating func crash(at position: Int, _ seed: UInt64, _ walk: Walk, _ durability: Durability) throws {
        disk_seek(position)
        disk_write_crashed(folders.crashed.path, seed)
        crashes += 1
        let digest = try look(folders.crashedStore, "after a crash")
        if isAllowed(digest, position, walk, durability) { return }
        if !isComplete {
            let choice = String(cString: disk_choice())
            try findStates(all: true)
            if isAllowed(digest, position, walk, durability) { return }
            throw Wrong("a state that never was, or that is too old: \(places(of: digest, position, walk)); \(choice)")
        }
        throw Wrong("a state that never was, or that is too old: \(places(of: digest, position, walk))")
    }

    /// Index of the oldest state that a crash may leave.
    private func oldest(_ position: Int, _ walk: Walk, _ durability: Durability) -> Int {
        if durability != .normal { return index(at: disk_marked_before(position)) }
        return walk.closings.last { $0 <= position }.map(index) ?? 0
    }

    private mutating func isAllowed(
        _ digest: UInt64, _ position: Int, _ walk: Walk, _ durability: Durability
    ) -> Bool {
        let newest = index(at: position)
        guard let found = states[oldest(position, walk, durability)...newest].last(where: { $0.digest == digest })
        else { return false }
        if found.position < states[newest].position { losses += 1 }
        return true
    }

    private func places(of digest: UInt64, _ position: Int, _ walk: Walk) -> String {
        let found = states.indices.filter { states[$0].digest == digest }
        return "states \(found) of \(states.count), \(index(at: position)) at the crash, "
            + "\(index(at: disk_marked_before(position))) at the last save"
    }

    /// Opens the remaining files with the framework, checks the contents, and works with them.
    private mutating func open(_ seed: UInt64, _ pragmas: [String: String]) throws {
        let hasStore = try look(folders.crashedStore, "after a crash") != 0
        let isSecond = try hasSecondModel(folders.crashedStore)
        disk_write_crashed(folders.crashed.path, seed)
        openings += 1
        let model = isSecond ? TrialModel.second : TrialModel.first
        if hasStore, seed % 3 == 0 {
            let reader = try Stack(folders.crashedStore, model, pragmas: [:], isReadOnly: true)
            if let wrong = try reader.check() { throw Wrong("a reader after a crash: \(wrong)") }
            try reader.close()
            return
        }
        let stack = try Stack(folders.crashedStore, model, pragmas: pragmas)
        if let wrong = try stack.check() { throw Wrong("the framework after a crash: \(wrong)") }
        try stack.context.performAndWait {
            stack.makeTeam("after", players: 2, pictureSize: 104_000, seed: seed)
            try stack.context.save()
        }
        try stack.close()
        _ = try look(folders.crashedStore, "after the framework went on")
    }

    private func hasSecondModel(_ url: URL) throws -> Bool {
        guard FileManager.default.fileExists(atPath: url.path) else { return false }
        return try PlainStore.rows(url, "SELECT 1 FROM pragma_table_info('ZTEAM') WHERE name = 'ZTITLE'") == ["1"]
    }
}
