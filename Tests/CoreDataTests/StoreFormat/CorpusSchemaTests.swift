import Foundation
import SQLiteAccess
import Testing

@testable import CoreData

/// A new store for each model of the corpus has the tables, columns, indexes and triggers of the store by Apple's
/// framework.
@Suite(.enabled(if: ModelCorpus.isPresent, "set ROSTER_CORPUS to the folder with Apple's stores"))
struct CorpusSchemaTests {
    /// Since this framework version, indexes and triggers have their current names and text.
    private static let namedAsToday = 847

    @Test(arguments: CorpusCopy.all) func aNewStoreHasTheSchemaOfApples(_ stored: CorpusCopy.Source) throws {
        let theirs = try CorpusCopy(stored)
        let ours = try StoreHarness(theirs.harness.model)
        let keepsHistory = try !theirs.harness.sql("SELECT 1 FROM sqlite_master WHERE name = 'ACHANGE'").isEmpty
        let open = try ours.open(keepsHistory ? StoreHarness.history : nil)
        let version = theirs.open.store.metadata["NSPersistenceFrameworkVersion"] as? Int ?? 0
        let wasMigrated = CorpusStoreTests.migrated.contains(stored.name)
        var differences: [String] = []
        func compare<Element: Hashable & Comparable>(_ what: String, _ left: Set<Element>, _ right: Set<Element>) {
            differences += left.subtracting(right).sorted().map { "only Apple's \(what): \($0)" }
            differences += right.subtracting(left).sorted().map { "only our \(what): \($0)" }
        }
        let (theirTables, ourTables) = (try tables(theirs.harness), try tables(ours))
        compare("table", Set(theirTables.keys), Set(ourTables.keys))
        for (name, columns) in theirTables {
            guard let planned = ourTables[name] else { continue }
            if wasMigrated || columns.count(where: { $0.hasPrefix("Z_FOK_") }) > 1 {
                compare("column of \(name)", Set(columns), Set(planned))
            } else if columns != planned {
                differences.append("\(name): \(columns) ≠ \(planned)")
            }
        }
        compare("index", try indexes(theirs.harness, Array(theirTables.keys)), try indexes(ours, Array(ourTables.keys)))
        if version >= Self.namedAsToday {
            compare("statement", try statements(theirs.harness), try statements(ours))
        }
        let unexpected = differences.filter { !isKnown($0, stored.name, version) }
        for difference in unexpected { Issue.record("\(stored.name): \(difference)") }
        print("schema: \(stored.name): \(theirTables.count) tables, \(differences.count) known differences")
        try open.close()
    }

    /// The differences that `DIVERGENCES.md` lists.
    private func isKnown(_ difference: String, _ store: String, _ version: Int) -> Bool {
        // Stores of old frameworks contain no model and lack this table.
        if difference == "only our table: Z_MODELCACHE", version < 637 { return true }
        // A library that was migrated in place for years: indexes with old numbers, and counters that only Apple's own
        // applications request in user info.
        return CorpusStoreTests.migrated.contains(store)
            && ["Apple's index", "Apple's statement", "our index", "our statement"].contains {
                difference.hasPrefix("only \($0)")
            }
    }

    // MARK: Contents of a file

    /// Table → columns with their types.
    private func tables(_ store: StoreHarness) throws -> [String: [String]] {
        let sql = """
            SELECT m.name, c.name || ' ' || c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND m.name NOT LIKE 'sqlite_%'
            AND m.name NOT LIKE 'Z_RT_%' ORDER BY m.name, c.cid
            """
        var result: [String: [String]] = [:]
        for row in try store.sql(sql) {
            if case .text(let table) = row[0], case .text(let column) = row[1] {
                result[table, default: []].append(column)
            }
        }
        return result
    }

    /// Each index by its columns, regardless of its name. Constraints of a table are indexes, too.
    private func indexes(_ store: StoreHarness, _ tables: [String]) throws -> Set<String> {
        let sql = """
            SELECT l.name, l."unique", l.origin, (SELECT group_concat(name || CASE "desc" WHEN 1 THEN ' DESC' ELSE '' END, ', ')
            FROM pragma_index_xinfo(l.name) WHERE key = 1) FROM pragma_index_list(?) AS l
            """
        var result: Set<String> = []
        for table in tables {
            for row in try store.sql(sql, [.text(table)]) {
                guard case .text(let columns) = row[3], row[2] != .text("pk") else { continue }
                result.insert("\(table) (\(columns))\(row[1] == .integer(1) ? " UNIQUE" : "")")
            }
        }
        return result
    }

    /// The statements of indexes and triggers, with white space normalised.
    private func statements(_ store: StoreHarness) throws -> Set<String> {
        let rows = try store.sql(
            "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND (type IN ('index', 'trigger') OR sql LIKE 'CREATE VIRTUAL%')"
        )
        return Set(
            rows.compactMap { row in
                guard case .text(let text) = row[0] else { return nil }
                return text.replacing(" ,", with: ",").split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    .replacing(",NEW", with: ", NEW")
            })
    }
}
