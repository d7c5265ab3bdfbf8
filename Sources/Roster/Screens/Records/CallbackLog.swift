import CoreData
import Foundation
import TerminalKit

/// Log of the results controller's delegate callbacks, for the pane that shows them.
struct CallbackLog {
    static let limit = 500

    private enum Entry {
        case line(TextPane.Line)
        /// A record whose name is read when the line is shown. Thousands of changes must not read every record.
        case record(TextPane.Line, NSManagedObject)
    }

    private var entries: [Entry] = []

    /// The last lines, oldest first.
    mutating func lines(_ limit: Int) -> [TextPane.Line] {
        let first = max(0, entries.count - limit)
        for index in first..<entries.count {
            guard case .record(var line, let object) = entries[index] else { continue }
            line.runs.append((RecordName.lastKnown(object), .text))
            entries[index] = .line(line)
        }
        return entries[first...].map { entry in
            switch entry {
            case .line(let line), .record(let line, _): line
            }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    mutating func removeAll() { entries = [] }

    /// Number of batches of changes.
    private(set) var batch = 0

    mutating func willChange() {
        batch += 1
        add([("#\(batch) ", .muted), ("willChangeContent", .muted)])
    }

    mutating func section(_ name: String, index: Int, type: NSFetchedResultsChangeType) {
        add([
            ("   ", .text), (type == .insert ? "insert" : "delete", type == .insert ? .inserted : .error),
            (" section \(index)  \(name)", .text),
        ])
    }

    mutating func object(
        _ object: NSManagedObject, type: NSFetchedResultsChangeType, from old: IndexPath?, to new: IndexPath?
    ) {
        let (word, role): (String, Role) =
            switch type {
            case .insert: ("insert", .inserted)
            case .delete: ("delete", .error)
            case .move: ("move  ", .moved)
            default: ("update", .updated)
            }
        let runs: [(String, Role)] = [
            ("   ", .text), (word, role), (" \(Self.text(old)) → \(Self.text(new))  ", .text),
        ]
        // The name of a deleted record can only be read now.
        if type == .delete {
            add(runs + [(RecordName.lastKnown(object), .text)])
        } else {
            add(.record(TextPane.Line(runs: runs), object))
        }
    }

    mutating func didChange(sections: Int, objects: Int) {
        let counted = "\(CountedNoun.text(sections, "section")), \(CountedNoun.text(objects, "record"))"
        add([("   ", .text), ("didChangeContent  \(counted)", .muted)])
    }

    static func text(_ path: IndexPath?) -> String { path.map { "[\($0.section), \($0.row)]" } ?? "nil" }

    private mutating func add(_ runs: [(String, Role)]) {
        add(.line(TextPane.Line(runs: runs)))
    }

    private mutating func add(_ entry: Entry) {
        entries.append(entry)
        // Remove many at once, because each removal moves all other entries.
        if entries.count > 2 * Self.limit { entries.removeFirst(entries.count - Self.limit) }
    }
}
