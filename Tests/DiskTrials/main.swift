import CSimulatedDisk
import Foundation

// Tests stores of the framework with power failures, failed calls and a clock that jumps, from a seed.
// `SimulatedDiskTests` runs it briefly and `Scripts/trials` at length. Prints the number of trials; status 1 after the
// first failure.

let usage = "usage: DiskTrials crash|fault|clock SEED COUNT [everything|pictures|journal]"
let arguments = Array(CommandLine.arguments.dropFirst())
guard (3...4).contains(arguments.count), let seed = UInt64(arguments[1]), let count = Int(arguments[2]),
    let focus = Walk.Focus(rawValue: arguments.count == 4 ? arguments[3] : "everything")
else {
    print(usage)
    exit(2)
}
guard disk_is_available() != 0 else {
    print("no trials under a sanitizer")
    exit(0)
}
guard faults_install() == 0 else {
    print("SQLite was used before its allocations could be replaced")
    exit(2)
}
let folders = try TrialFolders()
setenv("XDG_CACHE_HOME", folders.root.appendingPathComponent("cache").path, 1)
let start = ContinuousClock.now
var status: Int32 = 0
do {
    switch arguments[0] {
    case "crash":
        var trial = CrashTrial(seed: seed, focus: focus, folders: folders)
        defer {
            print(
                "\(trial.crashes) crashes, \(trial.losses) of them lost what may be lost, \(trial.openings) opened by the "
                    + "framework, \(trial.transactions) transactions")
        }
        try trial.run(count, perWalk: min(300, max(40, count / 8)))
    case "fault":
        var trial = FaultTrial(folders: folders)
        defer {
            print("\(trial.faults) runs with a fault, \(trial.calls) failed calls, \(trial.errors) errors came out")
        }
        try trial.run(count, seed: seed, isThorough: count >= 50_000)
    case "clock":
        // Limits a wait that never ends.
        alarm(1200 + UInt32(clamping: count))
        var trial = try ClockTrial(seed: seed, folders: folders)
        defer {
            print(
                "\(trial.commits) commits under a clock that was set, back \(trial.backwards) times; "
                    + "\(trial.removed) transactions removed by date")
        }
        try trial.run(count)
        try trial.waits()
    default:
        print(usage)
        status = 2
    }
} catch {
    print("WRONG: \(error)")
    status = 1
}
print("\(ContinuousClock.now - start)")
if getenv("DISK_TRIALS_KEEP") == nil { folders.remove() } else { print(folders.root.path) }
exit(status)
