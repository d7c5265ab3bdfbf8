import CSimulatedDisk
import CoreData
import Foundation

/// Makes one call fail, or all calls from one on, and checks that no data is lost.
struct FaultTrial {
    let folders: TrialFolders
    /// Number of runs in which a call failed.
    var faults = 0
    /// Number of calls that failed in these runs.
    var calls = 0
    /// Number of these runs that reported an error.
    var errors = 0
    private var contents: [String: (before: String, after: String)] = [:]
    private var lengths: [String: Int] = [:]

    init(folders: TrialFolders) { self.folders = folders }

    /// The calls that fail in a run.
    struct Fault {
        let allocations: Bool
        let nth: Int
        let lasts: Bool
        let seed: UInt64

        var kinds: UInt32 {
            let all = UInt32(fault_outside) | (UInt32(fault_allocation) - 1)
            return allocations ? UInt32(fault_allocation) : all
        }
    }

    /// - Parameter isThorough: True to let every call fail in turn, false to choose some at random.
    mutating func run(_ wanted: Int, seed: UInt64, isThorough: Bool) throws {
        _ = UnreadCount.shared
        try FaultScenario.makeTemplates(folders)
        let scenarios = FaultScenario.all()
        var dice = Dice(seed)
        guard isThorough else {
            while faults < wanted {
                let scenario = scenarios[dice.roll(scenarios.count)]
                let allocations = dice.roll(3) == 0
                try learn(scenario)
                let length = lengths["\(scenario.name), \(allocations)"] ?? 1
                try check(
                    scenario,
                    Fault(
                        allocations: allocations, nth: 1 + dice.roll(length), lasts: dice.roll(4) == 0,
                        seed: dice.next()))
            }
            return
        }
        while true {
            for scenario in scenarios {
                try learn(scenario)
                for (allocations, lasts) in [(false, false), (false, true), (true, false), (true, true)] {
                    var nth = 1
                    while try check(
                        scenario, Fault(allocations: allocations, nth: nth, lasts: lasts, seed: dice.next()))
                    {
                        if faults >= wanted { return }
                        nth += 1
                    }
                }
                print("\(scenario.name): \(faults) faults so far")
                fflush(nil)
            }
        }
    }

    /// Records the store's contents before and after the scenario, and the number of its calls.
    private mutating func learn(_ scenario: FaultScenario) throws {
        if contents[scenario.name] != nil { return }
        try begin(scenario)
        let before = try content(folders.store)
        let run = try attempt(scenario, nil)
        if let error = run.error { throw Wrong("\(scenario.name) without a fault: \(error)") }
        contents[scenario.name] = (before, try content(folders.store))
        for allocations in [false, true] {
            let fault = Fault(allocations: allocations, nth: 0, lasts: false, seed: 0)
            lengths["\(scenario.name), \(allocations)"] = try attempt(scenario, fault).calls
        }
    }

    private func begin(_ scenario: FaultScenario) throws {
        switch scenario.beginning {
        case .nothing: try folders.empty(folders.work)
        case .store:
            try FaultScenario.copy(
                folders.template.appendingPathComponent("store"), to: folders.work, withIndex: false)
        case .killed:
            try FaultScenario.copy(
                folders.template.appendingPathComponent("killed"), to: folders.work, withIndex: false)
        }
    }

    /// - Returns: True if a call failed.
    @discardableResult
    private mutating func check(_ scenario: FaultScenario, _ fault: Fault) throws -> Bool {
        let run: Run
        do { run = try attempt(scenario, fault) } catch {
            _ = faults_disarm()
            throw Wrong(
                "\(scenario.name): \(error)\n  first fault: \(String(cString: faults_first())), lasting: \(fault.lasts), "
                    + "seed \(fault.seed)")
        }
        guard run.hits > 0 else { return false }
        faults += 1
        calls += run.hits
        if run.error != nil { errors += 1 }
        return true
    }

    private struct Run {
        var error: (any Error)?
        var hits = 0
        var calls = 0
        /// True if the changes in memory were made without an unreadable fault.
        var hasChanged = false
    }

    private func attempt(_ scenario: FaultScenario, _ fault: Fault?) throws -> Run {
        try begin(scenario)
        if let fault {
            faults_arm(folders.work.path, fault.kinds, fault.nth, fault.lasts ? 1 : 0, fault.seed)
        }
        var run = Run()
        var stack: Stack?
        do { stack = try work(scenario, &run) } catch let error as Wrong { throw error }
        if let error = run.error {
            let code = error as NSError
            guard code.domain == NSCocoaErrorDomain, !code.localizedDescription.isEmpty else {
                throw Wrong("no CocoaError comes out: \(code)")
            }
        }
        run.hits = faults_hits()
        if run.error != nil {
            // The same as if the program had been killed now.
            let calls = faults_disarm()
            try FaultScenario.copy(folders.work, to: folders.crashed, withIndex: false)
            try expect(scenario, folders.crashedStore, "killed after \(describe(run.error))")
            run.calls = calls
            try retry(scenario, &stack, run)
        }
        do { try stack?.close() } catch {
            guard (error as NSError).domain == NSCocoaErrorDomain else { throw Wrong("closing: \(error)") }
        }
        stack = nil
        if run.error == nil {
            run.hits = faults_hits()
            run.calls = faults_disarm()
        }
        if contents[scenario.name] != nil { try expect(scenario, folders.store, "at the end", isAfter: true) }
        return run
    }

    /// Does the work; stores the error in `run` if it fails.
    private func work(_ scenario: FaultScenario, _ run: inout Run) throws -> Stack? {
        var stack: Stack?
        do {
            if let alone = scenario.alone {
                try alone(folders.store)
                return nil
            }
            let opened = try open(scenario)
            stack = opened
            try opened.context.performAndWait {
                let unread = UnreadCount.shared.count
                try scenario.change(opened)
                guard UnreadCount.shared.count == unread else { throw CocoaError(.fileReadUnknown) }
                run.hasChanged = true
                try scenario.commit(opened)
            }
        } catch let error as Wrong {
            throw error
        } catch {
            run.error = error
        }
        return stack
    }

    private func open(_ scenario: FaultScenario) throws -> Stack {
        try Stack(
            folders.store, scenario.isSecond ? TrialModel.second : TrialModel.first, pragmas: scenario.pragmas)
    }

    /// Repeats the work without faults. All changes that are still in memory have to be saved.
    private func retry(_ scenario: FaultScenario, _ stack: inout Stack?, _ run: Run) throws {
        do {
            if let alone = scenario.alone { return try alone(folders.store) }
            let opened = try stack ?? open(scenario)
            stack = opened
            try opened.context.performAndWait {
                if !run.hasChanged {
                    opened.context.reset()
                    try scenario.change(opened)
                }
                try scenario.commit(opened)
            }
        } catch let wrong as Wrong {
            throw wrong
        } catch let second {
            throw Wrong(
                "the second time, without a fault: \(describe(second)); the first error: \(describe(run.error))")
        }
    }

    private func describe(_ error: (any Error)?) -> String {
        guard let error = error as NSError? else { return "no error" }
        return "\(error.domain) \(error.code) \(error.localizedDescription)"
    }

    // MARK: Contents

    private func expect(_ scenario: FaultScenario, _ url: URL, _ what: String, isAfter: Bool = false) throws {
        var digest: UInt64 = 0
        var text = [CChar](repeating: 0, count: 512)
        guard look_at_store(url.path, &digest, &text, Int32(text.count)) == 0 else {
            let wrong = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw Wrong("\(what): \(wrong)")
        }
        guard let known = contents[scenario.name] else { return }
        let found = try content(url)
        if found == known.after || (!isAfter && found == known.before) { return }
        throw Wrong("\(what): the store holds\n\(found)\n  and not\n\(known.after)\n  before it was\n\(known.before)")
    }

    /// Contents of a store without dates, keys and file names, which differ from run to run.
    private func content(_ url: URL) throws -> String {
        guard FileManager.default.fileExists(atPath: url.path),
            try !PlainStore.rows(url, "SELECT 1 FROM sqlite_master WHERE name = 'ZTEAM'").isEmpty
        else { return "none" }
        let columns = try PlainStore.rows(url, "SELECT name FROM pragma_table_info('ZTEAM')")
        let name = columns.contains("ZTITLE") ? "ZTITLE" : "ZNAME"
        let own = columns.contains("ZTITLE") ? "ZRANK" : "ZNUMBER, length(ZPICTURE)"
        let pairs = try PlainStore.rows(
            url, "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
        let queries = [
            "SELECT \(name), \(own), ZPLAYERCOUNT, Z_OPT FROM ZTEAM ORDER BY 1",
            "SELECT p.ZNAME, p.ZGOALS, t.\(name), p.Z_OPT FROM ZPLAYER p LEFT JOIN ZTEAM t ON t.Z_PK = p.ZTEAM ORDER BY 1",
            "SELECT ZNAME, Z_OPT FROM ZTAG ORDER BY 1", "SELECT count(*) FROM ATRANSACTION",
            "SELECT ZCHANGETYPE, ZENTITY, count(*) FROM ACHANGE GROUP BY 1, 2 ORDER BY 1, 2",
        ]
        return try (queries + pairs.map { "SELECT count(*) FROM \($0)" }).map {
            try PlainStore.rows(url, $0).joined(separator: "; ")
        }.joined(separator: "\n")
    }
}
