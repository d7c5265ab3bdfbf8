import CoreData
import Foundation
import TerminalKit

/// The callbacks of the results controller's delegate as they came, for the pane that shows them.
struct CallbackLog {
    static let limit = 500

    private(set) var lines: [TextPane.Line] = []
    /// How many batches of changes came.
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
        _ name: String, type: NSFetchedResultsChangeType, from old: IndexPath?, to new: IndexPath?
    ) {
        let (word, role): (String, Role) =
            switch type {
            case .insert: ("insert", .inserted)
            case .delete: ("delete", .error)
            case .move: ("move  ", .moved)
            default: ("update", .updated)
            }
        add([("   ", .text), (word, role), (" \(Self.text(old)) → \(Self.text(new))  ", .text), (name, .text)])
    }

    mutating func didChange(sections: Int, objects: Int) {
        let counted = "\(DeletePlan.counted(sections, "section")), \(DeletePlan.counted(objects, "record"))"
        add([("   ", .text), ("didChangeContent  \(counted)", .muted)])
    }

    static func text(_ path: IndexPath?) -> String { path.map { "[\($0.section), \($0.row)]" } ?? "nil" }

    private mutating func add(_ runs: [(String, Role)]) {
        lines.append(TextPane.Line(runs: runs))
        if lines.count > Self.limit { lines.removeFirst(lines.count - Self.limit) }
    }
}
