import CoreData
import TerminalKit
import Translation

/// The marked records in the order of the list, or else the one under the cursor, handed on piece by piece.
///
/// A few are sorted by their places. Of very many the list is gone through instead: the first of them are there at once, and
/// the keys do not wait for the last. What moves meanwhile is handed on once all the same, and what is deleted not at all.
struct ChosenRecords {
    private let records: RecordList
    private let context: NSManagedObjectContext
    /// The records whose order is known, and how many of them were handed on.
    private var ready: [NSManagedObject]
    private var done = 0
    /// The marked records that were not come upon yet, and the row of the list that is looked at next.
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

    /// How much was gone through, from 0 to 1.
    var share: Double {
        let (part, whole) = awaited.isEmpty ? (done, ready.count) : (row, records.objectCount)
        return whole == 0 ? 1 : min(1, Double(part) / Double(whole))
    }

    /// Hands records on until a time, or until `body` answers that it wants no more. Answers whether it was the latter, or all
    /// were handed on.
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
                // What the list went past while others moved it, and what it does not show.
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
    /// Finds the chosen records, and calls `next` with them in the order of the list, if there are any; the keys do not wait
    /// for very many.
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

    /// Says why there is nothing to do: a filter may hide all that are marked.
    func sayNothingChosen() {
        let reason = marks.isEmpty ? "no record under the cursor" : tr("no marked record is in the list")
        browser.say(reason, role: .warning)
    }
}
