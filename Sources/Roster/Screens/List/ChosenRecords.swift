import CoreData
import TerminalKit
import Translation

/// Passes on the marked records in list order, or the record under the cursor, in pieces.
///
/// A few records are sorted by position. For many, the list is iterated: the first are available at once, and keys are
/// handled in between. Records that move during the iteration are passed on once, deleted ones are skipped.
struct ChosenRecords {
    private let records: RecordList
    private let context: NSManagedObjectContext
    /// The records whose order is known, and the number passed on so far.
    private var ready: [NSManagedObject]
    private var done = 0
    /// The marked records not found yet, and the next row of the list to examine.
    private var awaited: Set<NSManagedObject>
    private var row = 0
    private var piece: [NSManagedObjectID] = []
    private var pieceStart = 0

    private let rowsAtOnce: Int

    init(of screen: ListScreen) {
        (records, context) = (screen.records, screen.session.context)
        rowsAtOnce = screen.session.limits.rowsAtOnce
        let areFew = screen.marks.objects.count <= screen.session.limits.markedAtOnce
        ready = areFew ? screen.chosenRecords : []
        awaited = areFew ? [] : screen.marks.objects
    }

    /// The completed fraction, from 0 to 1.
    var share: Double {
        let (part, whole) = awaited.isEmpty ? (done, ready.count) : (row, records.objectCount)
        return whole == 0 ? 1 : min(1, Double(part) / Double(whole))
    }

    /// Passes records to `body` until the deadline or until `body` returns false. Returns true if `body` returned false
    /// or all records were passed on.
    mutating func handOn(
        until deadline: ContinuousClock.Instant, to body: (NSManagedObject) throws -> Bool
    ) rethrows -> Bool {
        var steps = 0
        while true {
            steps += 1
            if steps.isMultiple(of: 16), ContinuousClock.now >= deadline { return false }
            if done < ready.count {
                let object = ready[done]
                done += 1
                guard !object.isDeleted, object.managedObjectContext != nil else { continue }
                if try !body(object) { return true }
            } else if row < records.objectCount, !awaited.isEmpty {
                lookAtNextRow()
            } else if awaited.isEmpty {
                return true
            } else {
                // Records that others moved during the iteration. Those not in the list are dropped.
                (ready, done, awaited) = (awaited.filter { records.path(of: $0) != nil }, 0, [])
            }
        }
    }

    private mutating func lookAtNextRow() {
        if !(pieceStart..<(pieceStart + piece.count)).contains(row) {
            pieceStart = row
            piece = records.controller.objectIDs(at: row..<min(row + rowsAtOnce, records.objectCount))
        }
        let id = piece[row - pieceStart]
        row += 1
        guard let object = context.registeredObject(for: id), awaited.remove(object) != nil else { return }
        (ready, done) = ([object], 0)
    }
}

extension ListScreen {
    /// Collects the chosen records and passes them to `next` in list order, if there are any. Many are collected in
    /// pieces, between which keys are handled.
    func withChosen(_ next: @escaping ([NSManagedObject]) -> Void) {
        let next = { [unowned self] (found: [NSManagedObject]) in
            if found.isEmpty { sayNothingChosen() } else { next(found) }
        }
        guard marks.objects.count > session.limits.markedAtOnce else { return next(chosenRecords) }
        var chosen = ChosenRecords(of: self)
        var found: [NSManagedObject] = []
        let counted = CountedNoun.text(marks.objects.count, entity.name ?? "record")
        do {
            try browser.workPiecewise(sentence("gathering \(counted)"), share: { chosen.share }) { deadline in
                chosen.handOn(until: deadline) {
                    found.append($0)
                    return true
                }
            } then: {
                next(found)
            }
        } catch {
            browser.complain(error)
        }
    }

    /// Shows why nothing is chosen. A filter may hide all marked records.
    func sayNothingChosen() {
        let reason = marks.isEmpty ? "no record under the cursor" : tr("no marked record is in the list")
        browser.say(reason, role: .warning)
    }
}
