import Foundation

// usage: Measure [TEAMS [ZONES [TIMES]]]
let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let league = League(teams: arguments.first ?? 100_000, zones: arguments.dropFirst().first ?? 5_000)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-measure-\(getpid())")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
try Measurements(
    league: league, folder: folder, records: league.records(), times: arguments.dropFirst(2).first ?? 5
).run()
