import CoreData
import Foundation
import RosterCommands

/// Imports files of CSV, TSV and JSON into a store with a team, a player and a venue. An error leaves the store
/// unchanged. Otherwise the store gets one team per record, and an export in each format can be imported without loss.
final class RecordTarget: FuzzTarget {
    private let folder: URL
    private let model: NSManagedObjectModel
    private let whole: Data
    private let empty: Data
    private let before: [String: Int]
    private var store: URL
    private var number = 0

    init(folder: URL) throws {
        self.folder = folder
        guard let model = FuzzStore.model.copy() as? NSManagedObjectModel else {
            throw WrongAnswer(description: "a copy of the model is not a model")
        }
        // Records name a venue by its city. Teams lack a unique key, so each record makes a new one.
        model.entitiesByName["Venue"]?.uniquenessConstraints = [["city"]]
        self.model = model
        store = folder.appendingPathComponent("records 0.sqlite")
        whole = try Self.file(model, folder.appendingPathComponent("whole.sqlite"), teams: 1)
        empty = try Self.file(model, folder.appendingPathComponent("empty.sqlite"), teams: 0)
        try whole.write(to: store)
        before = try Self.counts(model, store)
        try WrongAnswer.unless(before == ["Team": 1, "Player": 1, "Venue": 1], "the store has \(before)")
    }

    /// Returns the bytes of a closed store.
    private static func file(_ model: NSManagedObjectModel, _ url: URL, teams: Int) throws -> Data {
        let context = try FuzzStore.context(
            of: model, type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        if teams > 0 { try FuzzStore.fill(context, count: teams) }
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
        return try Data(contentsOf: url)
    }

    private static func counts(_ model: NSManagedObjectModel, _ url: URL) throws -> [String: Int] {
        let context = try FuzzStore.context(
            of: model, type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let coordinator = context.persistentStoreCoordinator
        defer { for store in coordinator?.persistentStores ?? [] { try? coordinator?.remove(store) } }
        return try context.performAndWait {
            try model.entitiesByName.keys.reduce(into: [:]) { counts, name in
                counts[name] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
            }
        }
    }

    // MARK: Inputs

    var seeds: [[UInt8]] {
        let fields = "12,3.25,2022-12-18T18:00:00.5+03:00,true,2.5e-3,00112233-4455-6677-8899-AABBCCDDEEFF"
        let line = fields.replacingOccurrences(of: ",", with: "\t")
        return [
            "name,wins,price,founded,favorite,rating,code,site,badge,venue\r\n"
                + "\"Team \"\"A\"\", é😀\",\(fields),https://example.org/a,AQID,Rome\r\n\"two\nlines\",-3,,,,,,,,\r\n\"\",,,,,,,,,\r\n",
            "name,venue.city,wins,players\nA,Rome,1,\"[{\"\"name\"\":\"\"P\"\",\"\"goals\"\":3}]\"\n\nB,Oslo,2,[]\n",
            "\u{FEFF}name\r\nA\r\n\r\n\"B\"\r\n",
            "name\twins\tprice\tfounded\tfavorite\trating\tcode\tsite\tbadge\tvenue.city\n"
                + "A\\tb\\\\c\\n\t\(line)\thttps://example.org/a\tAQID\tRome\n\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n",
            """
            [{"name": "A \\u00e9 \\ud83d\\ude00 \\"q\\" \\\\ \\/ \\b\\f\\n\\r\\t", "wins": -9223372036854775808, "price": 1.50,
              "founded": "0001-01-01", "favorite": false, "rating": -1.7976931348623157e308, "site": "mailto:a@b.c", "badge": "",
              "venue": {"city": "Oslo"}, "players": [{"name": "P", "goals": 32767, "friends": [{"name": "F"}]}, {"goals": null}]},
             {"name": null, "venue": "Rome", "players": []}, {}]
            """,
            "{\"name\":\"A\",\"venue\":\"Venue/p1\"} {\"wins\":0}\n{\"founded\":\"9999-12-31T23:59:59Z\",\"venue.city\":\"Bern\"}\n",
        ].map { Array($0.utf8) }
    }

    var pieces: [String] {
        let words = [
            ",", "\t", "\n", "\r\n", "\r", "\"", "\"\"", "\\", "\\N", "\\N\t", "\\t", "\\u0000", "\\ud800", "\\u202e",
            "{", "}", "[", "]", "{}", "[]", ":", "null", "true", "NULL", "\0", "\u{FEFF}", "e\u{301}", "\u{2028}",
            "1e999",
            "-0", "-0.0", "00", "9223372036854775808", "0.1e-128", "99999999999999999999999999999999999999",
            "2022-02-30", "2022-12-18T24:00:00Z", "-0001-01-01", "12022-01-01T00:00:00.999999999Z", "nan", "inf",
            "name", "name,name", "wins", "venue", "venue.city", "venue.", ".city", "players", "players.name", "colors",
            "Rome", "Venue/p1", "Team/p1", "x-coredata://A/Team/p1", "\"venue\":{\"city\":\"Rome\"},",
            "\"name\":\"twice\",",
        ]
        // Nested deeper than the readers accept, and longer than their buffers.
        return words + [
            String(repeating: "[", count: 300), String(repeating: "{\"venue\":", count: 300),
            String(repeating: "{\"players\":[", count: 120), String(repeating: "x", count: 70_000),
            String(repeating: "7", count: 400), String(repeating: "k,", count: 2_000),
        ]
    }

    // MARK: Attack

    func read(_ bytes: [UInt8]) throws {
        let format = RecordCount.format(of: bytes)
        let output: String
        do { output = try load(bytes, as: format, into: store) } catch {
            let mark = error as? CommandError
            try WrongAnswer.unless(mark?.message.isEmpty == false, "an error of another kind: \(error)")
            try expectUntouched()
            throw error
        }
        defer { moveOn() }
        let expected = RecordCount.records(in: bytes, format)
        try expect(output, records: expected)
        let teams = try Self.counts(model, store)["Team"] ?? 0
        // Venues and players may contain further teams.
        let hasOthers = String(decoding: bytes, as: UTF8.self).contains("team")
        try WrongAnswer.unless(
            hasOthers ? teams > expected : teams == expected + 1, "\(expected) records made \(teams - 1) teams")
        try goThrough([.json, .csv, .tsv][bytes.count % 3], teams: teams)
    }

    private func load(_ bytes: [UInt8], as format: OutputFormat, into store: URL) throws -> String {
        let file = folder.appendingPathComponent("records.\(format.rawValue)")
        try Data(bytes).write(to: file)
        let surroundings = QuietSurroundings()
        try ImportCommand(
            store: StoreLocation(store: store.path), entity: "Team", file: file.path, format: format, batchSize: 1 << 30
        ).run(in: surroundings.command)
        return surroundings.text
    }

    private func expect(_ output: String, records: Int) throws {
        let text = "\(records) record\(records == 1 ? "" : "s"): \(records) new, 0 changed, 0 unchanged"
        try WrongAnswer.unless(output == "imported \(text)\n", "of \(records) records it says: \(output)")
    }

    private func expectUntouched() throws {
        let log = try? FileManager.default.attributesOfItem(atPath: store.path + "-wal")[.size] as? Int
        if try Data(contentsOf: store) == whole, log ?? 0 == 0 { return }
        let counts = try Self.counts(model, store)
        try WrongAnswer.unless(counts == before, "what was refused left \(counts) in the store")
    }

    /// Exports the teams, imports them into an empty store, and exports them again.
    private func goThrough(_ format: OutputFormat, teams: Int) throws {
        let copy = folder.appendingPathComponent("copy \(number).sqlite")
        try empty.write(to: copy)
        defer { Self.remove(copy) }
        do {
            let first = try export(store, format)
            try expect(load(Array(first.utf8), as: format, into: copy), records: teams)
            let second = try export(copy, format)
            try WrongAnswer.unless(first == second, "by \(format.rawValue) \(first)\n became \(second)")
        } catch let error where !(error is WrongAnswer) {
            throw WrongAnswer(description: "what was imported does not go through \(format.rawValue): \(error)")
        }
    }

    private func export(_ store: URL, _ format: OutputFormat) throws -> String {
        let surroundings = QuietSurroundings()
        try ExportCommand(
            store: StoreLocation(store: store.path), entity: "Team",
            columns: ["name", "wins", "price", "founded", "favorite", "rating", "code", "site", "badge"], format: format
        ).run(in: surroundings.command)
        return surroundings.text
    }

    /// Removes the store; the next records are imported into a new one.
    private func moveOn() {
        Self.remove(store)
        number += 1
        store = folder.appendingPathComponent("records \(number).sqlite")
        try? whole.write(to: store)
    }

    private static func remove(_ store: URL) {
        for suffix in ["", "-wal", "-shm"] { unlink(store.path + suffix) }
    }
}

/// Number of records in a file, determined only by separators. Exact for files without defects.
enum RecordCount {
    static func format(of bytes: [UInt8]) -> OutputFormat {
        let first = bytes.first { !isSpace($0) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .json }
        return bytes.prefix { $0 != 0x0A }.contains(0x09) ? .tsv : .csv
    }

    static func records(in bytes: [UInt8], _ format: OutputFormat) -> Int {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        return format == .json ? objects(in: text) : lines(in: text, format)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }

    /// Number of outermost opening braces.
    private static func objects(in text: ArraySlice<UInt8>) -> Int {
        var (count, depth, isInString, isEscaped) = (0, 0, false, false)
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"):
                if depth == 0 { count += 1 }
                depth += 1
            case UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return count
    }

    /// Number of lines after the first. Empty lines count if there is only one key.
    private static func lines(in text: ArraySlice<UInt8>, _ format: OutputFormat) -> Int {
        let separator = format == .csv ? UInt8(ascii: ",") : 0x09
        var (count, length, hasSeveralKeys, isHeader, isQuoted) = (0, 0, false, true, false)
        var last: UInt8 = 0
        func isEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
        func endLine() {
            if isHeader {
                if length > 0 { isHeader = false }
            } else if length > 0 || !hasSeveralKeys {
                count += 1
            }
            length = 0
        }
        for byte in text {
            defer { last = byte }
            if format == .csv, byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted || !isEnd(byte) {
                length += 1
                if !isQuoted, isHeader, byte == separator { hasSeveralKeys = true }
                continue
            }
            // The LF of a CRLF.
            if byte == 0x0A, last == 0x0D, length == 0 { continue }
            endLine()
        }
        if length > 0 { endLine() }
        return count
    }
}

/// Collects a command's output and displays nothing.
private final class QuietSurroundings: TextOutput, ProgressDisplay, Interruption {
    private(set) var text = ""

    func write(_ text: String) throws { self.text += text }
    func flush() throws {}
    func report(fraction: Double?, _ text: @autoclosure () -> String) {}
    func end() {}
    var isRaised: Bool { false }
    func wait(for time: Duration) {}
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {}

    var command: CommandSurroundings {
        CommandSurroundings(
            output: self, progress: self, interruption: self,
            textStyle: TextStyle(columns: nil, isEmphasized: false) { $0.utf8.count })
    }
}
