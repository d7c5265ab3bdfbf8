import Foundation
import Testing

/// A line of `watch --format json`.
struct WatchEvent {
    let fields: [String: Any]

    init(_ line: String) throws {
        fields = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }

    var event: String { fields["event"] as? String ?? "" }
    var type: String { fields["type"] as? String ?? "" }
    func path(_ key: String) -> [Int]? { fields[key] as? [Int] }
    var values: [String: Any] { fields["values"] as? [String: Any] ?? [:] }
}

/// A list of names in sections to which batches of changes are applied as in a table view: deletions at old positions,
/// insertions at new ones, a move as both.
struct WatchReplay {
    private(set) var sections: [[String]]

    init(names: [String], counts: [Int]) {
        var rest = names[...]
        sections = counts.map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }

    var names: [String] { sections.flatMap { $0 } }

    /// Applies the complete batches that begin at line `applied`, and sets it to the line after the last one.
    mutating func apply(_ lines: [String], from applied: inout Int) throws {
        while let end = lines.dropFirst(applied).firstIndex(where: { $0.hasPrefix(#"{"event":"didChange""#) }) {
            apply(try lines[applied...end].map(WatchEvent.init))
            applied = end + 1
        }
    }

    mutating func apply(_ batch: [WatchEvent]) {
        let objects = batch.filter { $0.event == "object" && $0.type != "update" }
        let removed = objects.compactMap { $0.type == "insert" ? nil : $0.path("indexPath") }
        for place in removed.sorted(by: { $0.lexicographicallyPrecedes($1) }).reversed() {
            sections[place[0]].remove(at: place[1])
        }
        for place in sectionPlaces(batch, "delete").reversed() { sections.remove(at: place) }
        for place in sectionPlaces(batch, "insert") { sections.insert([], at: place) }
        let added = objects.filter { $0.type != "delete" }.compactMap { change in
            change.path("newIndexPath").map { (place: $0, name: change.values["teamName"] as? String ?? "") }
        }
        for change in added.sorted(by: { $0.place.lexicographicallyPrecedes($1.place) }) {
            sections[change.place[0]].insert(change.name, at: change.place[1])
        }
    }

    private func sectionPlaces(_ batch: [WatchEvent], _ type: String) -> [Int] {
        batch.filter { $0.event == "section" && $0.type == type }.compactMap { $0.fields["index"] as? Int }.sorted()
    }
}
