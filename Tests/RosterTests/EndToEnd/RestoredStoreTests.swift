import CoreData
import Foundation
import SQLiteAccess
import TestSupport
import Testing

/// A backup of the main file is restored over a store whose log was left behind: the store has the contents of the
/// backup, or it is refused with the command to type; never a mixture or the previous contents.
@Suite(.needs(.process)) struct RestoredStoreTests {
    enum Backup: CaseIterable {
        case older, newer, other
    }

    enum Log: CaseIterable {
        case empty, small, whole, journal
        /// Of another program, which does not record the state of the file for which the log was written.
        case foreign
    }

    enum End: CaseIterable {
        case killed, closed
    }

    enum Restoring: CaseIterable {
        case over, overWithTimes, renamed
    }

    /// Ways to copy the store's folder before it is opened.
    enum Way: String, CaseIterable {
        case inPlace = "true"
        case plainCopy = "cp -r \"$1\" \"$2\""
        case fullCopy = "cp -a \"$1\" \"$2\""
        case archive = "mkdir \"$2\" && tar -C \"$1\" -cf - . | tar -C \"$2\" -xf -"
        case synchronized = "mkdir \"$2\" && cp -r --preserve=timestamps \"$1/.\" \"$2\""
    }

    private let sample: SampleFolder
    private let backup: String

    init() throws {
        sample = try SampleFolder()
        backup = sample.path("Backup.sqlite")
    }

    private func shell(_ line: String, _ arguments: String...) throws {
        let outcome = try RosterProcess.shell(line, arguments)
        try #require(outcome.status == 0, "\(line): \(outcome.errors)")
    }

    /// The backup: made before the store was changed further, changed since, or of another store with other rows.
    private func makeBackup(_ kind: Backup, isSame: Bool = true) throws {
        try shell("cp -p \"$1\" \"$2\"", sample.store, backup)
        switch kind {
        case .older:
            // The store went on from there and was closed, before the program that was killed. With this seed the matches have winners.
            if !isSame { try shell("\"$roster\" simulate \"$1\" --count 2 --seed 1", sample.store) }
        case .newer:
            try teams(in: backup, readOnly: false, setting: 7)
        case .other:
            let connection = try Connection(path: backup, access: .readWrite)
            try connection.execute("UPDATE Z_METADATA SET Z_UUID = ?", [.text(UUID().uuidString)])
            try connection.execute("DELETE FROM ZTEAM WHERE Z_PK % 2 = 0")
            // Otherwise `check` reports the deleted rows, which the history does not mention.
            for table in ["ACHANGE", "ATRANSACTION"] { try connection.execute("DELETE FROM \(table)") }
            try connection.execute("UPDATE ZTEAM SET ZWINS = 3")
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            try teams(in: backup, readOnly: false, setting: 4)
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: backup + suffix) }
    }

    /// Lets a program write to the store and end.
    private func run(_ log: Log, _ end: End) throws {
        if log == .journal { return try runWithJournal(end) }
        if log == .foreign {
            let killed = end == .killed ? "echo '.shell kill -9 $PPID'" : "true"
            return try shell(
                "(echo 'UPDATE ZTEAM SET ZDRAWS = 77 WHERE Z_PK < 9;'; \(killed)) | sqlite3 \"$1\" || true",
                sample.store)
        }
        let matches = [.empty: 0, .small: 3, .whole: 60][log] ?? 0
        if end == .closed { return try shell("\"$roster\" simulate \"$1\" --count \(matches)", sample.store) }
        let arguments =
            log == .empty ? ["watch", sample.store, "Team"] : ["simulate", sample.store, "--count", "100000"]
        let writer = try LiveProcess(roster: arguments)
        #expect(writer.wait(60) { $0.count >= max(matches, 1) })
        writer.killAtOnce()
        writer.waitForEnd()
    }

    /// Another program with a rollback journal. Most of its changes are in the file when it is killed.
    private func runWithJournal(_ end: End) throws {
        let killed = "echo '.shell kill -9 $PPID'"
        try shell(
            """
            (echo 'PRAGMA journal_mode=delete; PRAGMA cache_size=1; BEGIN; UPDATE ZTEAM SET ZWINS = 99;'
            echo 'UPDATE ZVENUE SET ZNAME = ZNAME || hex(zeroblob(3000));'
            \(end == .killed ? killed : "echo 'COMMIT;'")) | sqlite3 "$1" >/dev/null || true
            """, sample.store)
        #expect(FileManager.default.fileExists(atPath: sample.store + "-journal") == (end == .killed))
    }

    private func restore(_ how: Restoring) throws {
        switch how {
        case .over: try shell("cp \"$1\" \"$2\"", backup, sample.store)
        case .overWithTimes: try shell("cp -p \"$1\" \"$2\"", backup, sample.store)
        case .renamed: try shell("cp -p \"$1\" \"$2.new\" && mv \"$2.new\" \"$2\"", backup, sample.store)
        }
    }

    /// The contents of all files in the store's folder.
    private func contents(beside store: String) throws -> [String: Data] {
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent()
        return try Dictionary(
            uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                ($0, try Data(contentsOf: folder.appendingPathComponent($0)))
            })
    }

    private func changes(_ before: [String: Data], beside store: String) throws -> [String] {
        let now = try contents(beside: store)
        return Set(before.keys).union(now.keys).filter { before[$0] != now[$0] }.sorted()
    }

    /// The teams, with all values that a match changes, as the framework reads them. The last value is wins, which can
    /// be set, because three matches may all be draws.
    @discardableResult
    private func teams(in store: String, readOnly: Bool = true, setting wins: Int? = nil) throws -> [String] {
        let url = URL(fileURLWithPath: store)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url))
        let opened = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: readOnly])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let lines = try context.performAndWait {
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Team"))
            if let wins { for team in found { team.setValue(wins, forKey: "wins") } }
            try context.save()
            let keys = ["teamName", "draws", "losses", "goalsFor", "goalsAgainst", "wins"]
            return found.map { team in keys.map { "\(team.value(forKey: $0) ?? "")" }.joined(separator: " ") }.sorted()
        }
        try coordinator.remove(opened)
        return lines
    }

    private func expectSound(_ kind: String, _ store: String? = nil) throws {
        let store = store ?? sample.store
        try teams(in: store, readOnly: false, setting: 11)
        #expect(try teams(in: store).allSatisfy { $0.hasSuffix(" 11") }, "\(kind)")
        let connection = try Connection(path: store, access: .readWrite)
        #expect(try connection.value("PRAGMA integrity_check") == .text("ok"), "\(kind)")
        connection.close()
    }

    private static let isLong = ProcessInfo.processInfo.environment["ROSTER_LONG_TESTS"] != nil

    private struct Case {
        let (backup, log, end, restoring, way): (Backup, Log, End, Restoring, Way)
        /// True if the store was not changed between the backup and the program that is killed.
        var isSame = false
        var name: String { "\(backup) \(log) \(end) \(restoring) \(way) \(isSame)" }
    }

    /// All cases with `ROSTER_LONG_TESTS`, else those that differ most.
    private static let cases: [Case] = {
        let all = Backup.allCases.flatMap { backup in
            Log.allCases.flatMap { log in
                End.allCases.flatMap { end in
                    Restoring.allCases.flatMap { how in
                        Way.allCases.flatMap { way in
                            [false, true].map {
                                Case(backup: backup, log: log, end: end, restoring: how, way: way, isSame: $0)
                            }
                        }
                    }
                }
            }
        }.filter { $0.backup == .older || !$0.isSame }
        let few: [(Backup, Log, End, Restoring, Way, Bool)] = [
            (.older, .small, .killed, .over, .inPlace, true), (.newer, .small, .killed, .over, .inPlace, false),
            (.other, .small, .killed, .over, .inPlace, false), (.older, .small, .killed, .over, .plainCopy, false),
            (.newer, .whole, .killed, .renamed, .fullCopy, false), (.other, .small, .killed, .over, .archive, false),
            (.newer, .small, .killed, .overWithTimes, .synchronized, false),
            (.older, .journal, .killed, .over, .inPlace, false), (.newer, .journal, .killed, .over, .plainCopy, false),
            (.older, .small, .closed, .over, .inPlace, true), (.newer, .foreign, .killed, .over, .inPlace, false),
            (.older, .foreign, .killed, .over, .plainCopy, true), (.older, .foreign, .killed, .over, .plainCopy, false),
            (.older, .small, .killed, .over, .plainCopy, true),
        ]
        return isLong
            ? all : few.map { Case(backup: $0, log: $1, end: $2, restoring: $3, way: $4, isSame: $5) }
    }()

    /// The store's path after its folder was copied.
    private func carry(_ way: Way) throws -> String {
        try? FileManager.default.removeItem(atPath: copiedFolder)
        if way == .inPlace { return sample.store }
        try shell(way.rawValue, sample.url.path, copiedFolder)
        return copiedFolder + "/WorldCup.sqlite"
    }

    private var copiedFolder: String { sample.url.path + ".copy" }

    @Test func aLeftLogIsRecognisedAfterEveryRestore() throws {
        defer { try? FileManager.default.removeItem(atPath: copiedFolder) }
        var counts = (refused: 0, played: 0)
        for trial in Self.cases {
            let name = trial.name
            for left in ["-wal.old", "-journal.old"] {
                try? FileManager.default.removeItem(atPath: sample.store + left)
            }
            try sample.restore()
            try makeBackup(trial.backup, isSame: trial.isSame)
            let wanted = try teams(in: backup)
            let base = try Data(contentsOf: URL(fileURLWithPath: sample.store))
            try run(trial.log, trial.end)
            let left = try trial.log == .foreign ? teams(in: sample.store) : []
            try restore(trial.restoring)
            let isBase = try Data(contentsOf: URL(fileURLWithPath: sample.store)) == base
            let store = try carry(trial.way)
            let files = try contents(beside: store)
            let outcome = try RosterProcess.run(["count", store, "Team"])
            let checked = try RosterProcess.run(["check", store])
            #expect(checked.status == outcome.status, "\(name): \(checked)")
            let found = try? teams(in: store)
            #expect(try changes(files, beside: store) == [], "\(name)")
            if outcome.status == 1 {
                #expect(trial.end == .killed && trial.log != .empty, "\(name): \(outcome)")
                #expect(outcome.errorLines.count == 1, "\(name): \(outcome)")
                #expect(throws: (any Error).self, "\(name)") { try teams(in: store, readOnly: false) }
                #expect(try changes(files, beside: store) == [], "\(name)")
                // Runs the command in the error message, which moves the log away.
                let command = try #require(outcome.errors.firstMatch(of: /(mv -n '[^']*' '[^']*')/)?.1, "\(outcome)")
                try shell(String(command))
                counts.refused += 1
            } else if trial.end == .killed, [.small, .whole, .foreign].contains(trial.log), found != wanted {
                // The file has the bytes for which the log was written: a killed program's folder looks the same. In
                // place the times tell, unless the backup kept its own.
                let keepsTimes = trial.log == .foreign && trial.restoring != .over
                #expect(isBase && (trial.way != .inPlace || keepsTimes), "\(name): \(outcome)")
                #expect(trial.log != .foreign || found == left, "\(name)")
                counts.played += 1
                try expectSound(name, store)
                continue
            }
            #expect(try teams(in: store) == wanted, "\(name)")
            try expectSound(name, store)
        }
        print(
            "restores over stores with a log: \(Self.cases.count), \(counts.refused) refused, \(counts.played) the log's own file"
        )
    }

    /// A killed program's folder is a store with its log, wherever it is copied and whatever its times are.
    @Test(arguments: isLong ? Way.allCases : [.plainCopy, .archive]) func anOwnLogIsPlayedInEveryCopy(_ way: Way) throws
    {
        defer { try? FileManager.default.removeItem(atPath: copiedFolder) }
        for log in [Log.small, .whole, .journal] {
            try sample.restore()
            let before = try teams(in: sample.store)
            try run(log, .killed)
            let store = try carry(way)
            let outcome = try RosterProcess.run(["count", store, "Team"])
            #expect(outcome.status == 0, "\(way) \(log): \(outcome)")
            #expect(try (teams(in: store) == before) == (log == .journal), "\(way) \(log)")
            try expectSound("\(way) \(log)", store)
        }
    }

    /// Another program's log without the first page, whose pages fit the backup: only the times of the two files differ.
    @Test func aLogThatOnlyTimesContradictIsRefused() throws {
        try makeBackup(.older)
        let wanted = try teams(in: backup)
        // With this seed both matches are drawn: no index of the backup differs.
        try shell("\"$roster\" simulate \"$1\" --count 2 --seed 2", sample.store)
        try run(.foreign, .killed)
        try restore(.over)
        let outcome = try RosterProcess.run(["count", sample.store, "Team"])
        #expect(outcome.status == 1, "\(outcome)")
        let command = try #require(outcome.errors.firstMatch(of: /(mv -n '[^']*' '[^']*')/)?.1, "\(outcome)")
        try shell(String(command))
        #expect(try teams(in: sample.store) == wanted)
    }

    /// A user who says that the log is the file's own is believed.
    @Test func aTouchedLogIsPlayed() throws {
        try makeBackup(.older)
        let before = try teams(in: sample.store)
        try run(.small, .killed)
        try restore(.over)
        #expect(throws: (any Error).self) { try teams(in: sample.store) }
        try shell("touch \"$1-wal\"", sample.store)
        #expect(try teams(in: sample.store) != before)
        try expectSound("touched")
    }

    /// Other operations on a store whose writer was killed: the log still belongs to it.
    @Test(arguments: [
        "true", "chmod 600 \"$1\"", "mkdir \"$2/b\" && mv \"$1\"* \"$2/b\" && mv \"$2/b/\"* \"$2\"",
        // Copied together, in either order, and put in place of the old files.
        "mkdir \"$2/b\" && cp \"$1-wal\" \"$2/b\" && cp \"$1\" \"$2/b\" && rm \"$1\"* && mv \"$2/b/\"* \"$2\"",
        "mkdir \"$2/b\" && cp \"$1\" \"$2/b\" && cp \"$1-wal\" \"$2/b\" && rm \"$1\"* && mv \"$2/b/\"* \"$2\"",
        "cp -a \"$2\" \"$2.b\" && rm -r \"$2\" && mv \"$2.b\" \"$2\"", "ln \"$1\" \"$2/link\"",
        "rm \"$1-shm\"", "chown $(id -u) \"$1-wal\" \"$1\"",
    ])
    func anOwnLogIsPlayed(_ line: String) throws {
        let before = try teams(in: sample.store)
        try run(.small, .killed)
        // Notes of the log are not written this long after a commit.
        usleep(150_000)
        try shell(line, sample.store, sample.url.path)
        let now = try teams(in: sample.store)
        #expect(now != before && now.count == before.count, "\(line)")
        try expectSound(line)
    }

    /// A killed writer's folder is copied, and the file in the copy is replaced by an older state.
    @Test(arguments: [
        "cp \"$2\" \"$1\"", "cp -p \"$2\" \"$1\"", "mv \"$2\" \"$1\"", "rm \"$1\" && cp \"$2\" \"$1\"",
    ])
    func aRestoreInACopyOfTheFolderIsRecognised(_ line: String) throws {
        // An old store, because copies on other file systems compare times with a tolerance of two seconds.
        try shell("touch -d '-2 hours' \"$1\"", sample.store)
        try makeBackup(.newer)
        try shell("touch -d '-1 hour' \"$1\"", backup)
        let wanted = try teams(in: backup)
        try run(.small, .killed)
        let folder = sample.url.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try shell("cp -a \"$1\" \"$2\"", sample.url.path, folder)
        let store = folder + "/" + URL(fileURLWithPath: sample.store).lastPathComponent
        try shell(line, store, folder + "/" + URL(fileURLWithPath: backup).lastPathComponent)
        let outcome = try RosterProcess.run(["count", store, "Team"])
        #expect(outcome.status == 1 && outcome.errors.contains("PRAGMA wal_checkpoint"), "\(outcome)")
        let command = try #require(outcome.errors.firstMatch(of: /(mv -n '[^']*' '[^']*')/)?.1)
        try shell(String(command))
        #expect(try teams(in: store) == wanted)
        // Setting times does not make the log of another state valid.
        try shell("mv \"$1-wal.old\" \"$1-wal\" && touch \"$1-wal\"", store)
        #expect(try RosterProcess.run(["count", store, "Team"]).status == 1)
    }

    /// For a log without a note, times that can have other reasons prove nothing: the log is played.
    @Test(arguments: ["chmod 640 \"$1\"", "ln \"$1\" \"$1.link\"", "cp -a \"$1\" \"$1.old\""])
    func theLogOfAnotherProgramIsPlayed(_ line: String) throws {
        try shell(
            """
            (echo 'PRAGMA journal_mode=wal; UPDATE ZTEAM SET ZWINS = 9 WHERE Z_PK < 9;'; sleep 3
            echo 'UPDATE ZTEAM SET ZWINS = 77 WHERE Z_PK < 9;'; sleep 1; echo '.shell kill -9 $PPID') | sqlite3 "$1" || true
            """, sample.store)
        try shell(line, sample.store)
        let outcome = try RosterProcess.run(["count", sample.store, "Team", "--where", "wins == 77"])
        #expect(outcome.status == 0 && outcome.output.contains("8"), "\(outcome)")
    }

    /// A copy of the folder is a store with its log, whether times are kept or not.
    @Test(arguments: ["true", "touch \"$1\" && touch \"$1-wal\"", "chmod 640 \"$1\""])
    func aCopyOfTheFolderIsTheStore(_ line: String) throws {
        let before = try teams(in: sample.store)
        try run(.small, .killed)
        let folder = sample.url.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try shell("cp -a \"$1\" \"$2\"", sample.url.path, folder)
        let store = folder + "/" + URL(fileURLWithPath: sample.store).lastPathComponent
        try shell(line, store)
        let outcome = try RosterProcess.run(["count", store, "Team"])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try teams(in: store) != before)
    }

    /// Notes and file times can be any number: the store is opened or refused without a crash.
    @Test(
        arguments: [Int64.min, .max], ["true", "touch -d '1600-01-01' \"$1-wal\"", "touch -d '2300-01-01' \"$1-wal\""])
    func timesOfAnySizeStopNothing(_ time: Int64, _ line: String) throws {
        try run(.small, .killed)
        let folder = sample.url.path + ".copy"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try shell("cp -a \"$1\" \"$2\"", sample.url.path, folder)
        for place in [sample.url.path, folder] {
            let store = place + "/" + URL(fileURLWithPath: sample.store).lastPathComponent
            let name = "user.coredata.log"
            if let note = FileNotes.read(name, of: store + "-wal") {
                var parts = note.split(separator: " ").map(String.init)
                parts[5] = "\(time)"
                FileNotes.write(parts.joined(separator: " "), name, of: store + "-wal")
            }
            try shell(line, store)
            let outcome = try RosterProcess.run(["count", store, "Team"])
            #expect([0, 1].contains(outcome.status) && outcome.errorLines.count == Int(outcome.status), "\(outcome)")
        }
    }
}
