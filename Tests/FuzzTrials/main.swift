import Foundation

// Reads damaged input of one kind, from a seed, in one process. `FuzzTests` runs it briefly and `Scripts/trials` at
// length. Each input is read or refused with an error. A trap or a timeout ends the program; the input is then in the
// file `input` of the folder printed first. Status 1 after the first wrong answer.

let usage =
    "usage: FuzzTrials KIND SEED COUNT [FILE…]\nkinds: \(FuzzKind.allCases.map(\.rawValue).joined(separator: " "))"
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3, let kind = FuzzKind(rawValue: arguments[0]), let seed = UInt64(arguments[1]),
    let count = Int(arguments[2]), count > 0
else {
    print(usage)
    exit(2)
}
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
setenv("XDG_CACHE_HOME", folder.appendingPathComponent("cache").path, 1)
print(folder.path)
fflush(nil)
let start = ContinuousClock.now
do {
    let files = try arguments.dropFirst(3).map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) }
    let target = try kind.target(in: folder)
    let run = FuzzRun(target: target, seeds: target.seeds + files, input: folder.appendingPathComponent("input"))
    let outcome = try run.attack(count, seed: seed)
    print("\(count) mutated \(kind.rawValue), seed \(seed): \(outcome), \(ContinuousClock.now - start)")
} catch {
    print("WRONG: \(error)")
    exit(1)
}
try? FileManager.default.removeItem(at: folder)
