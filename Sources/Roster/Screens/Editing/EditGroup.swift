import CoreData
import Foundation
import TerminalKit
import Translation

/// One of the groups into which an edit of many records is divided.
///
/// Each is also an undo group: undo and redo of the edit can be done in pieces too. The undo manager does not know the
/// whole edit, so the action name of each group identifies it.
struct EditGroup {
    /// The name of the whole edit.
    let name: String
    /// The number of the edit, and of the group within it, both counted from 0.
    let edit: Int
    let number: Int

    private static let separator: Character = "\u{1F}"

    init(name: String, edit: Int, number: Int) { (self.name, self.edit, self.number) = (name, edit, number) }

    /// Parses the group from an action name; `nil` for an edit without groups.
    init?(_ actionName: String) {
        let parts = actionName.split(separator: Self.separator, omittingEmptySubsequences: false)
        guard parts.count == 3, let edit = Int(parts[1]), let number = Int(parts[2]) else { return nil }
        self.init(name: String(parts[0]), edit: edit, number: number)
    }

    var actionName: String { "\(name)\(Self.separator)\(edit)\(Self.separator)\(number)" }
}

/// The number of groups of each edit of many records.
struct EditGroupCounts {
    private var counts: [Int] = []

    mutating func begin(_ groups: Int) -> Int {
        counts.append(groups)
        return counts.count - 1
    }

    subscript(edit: Int) -> Int { max(1, counts[edit]) }
}

// Edits of many records, done, undone and redone in pieces between which keys are handled.

extension Browser {
    /// Edits `count` records one by one, in pieces if there are many. Esc undoes what was done.
    ///
    /// - Parameters:
    ///   - name: the name of the edit, for undo.
    ///   - doing: the text shown while the edit runs.
    ///   - seen: as in `edit(_:seen:_:)`, for each record in order, or empty.
    ///   - change: edits the record with the given index.
    func editMany(
        _ name: String, doing: String, count: Int, seen: [SeenValues] = [],
        _ change: @escaping (NSManagedObjectContext, Int) -> Void, then next: @escaping () -> Void
    ) {
        guard let session else { return }
        let size = limits.editGroup
        guard count > size else {
            edit(name, seen: seen) { context in for index in 0..<count { change(context, index) } }
            return next()
        }
        let groups = (count + size - 1) / size
        let edit = editGroups.begin(groups)
        var done = 0
        do {
            try workPiecewise(doing, share: { Double(done) / Double(groups) }) { [unowned self] deadline in
                repeat {
                    let range = (done * size)..<min(count, (done + 1) * size)
                    let seen = seen.isEmpty ? [] : seen[range]
                    makeGroup(EditGroup(name: name, edit: edit, number: done), seen: seen, session) { context in
                        for index in range { change(context, index) }
                    }
                    done += 1
                } while done < groups && ContinuousClock.now < deadline
                return done == groups
            } onStop: { [unowned self] in
                goThroughGroups(of: edit, .undo, tr("undoing")) { [unowned self] in
                    forgetRedo()
                    say(sentence("stopped \(doing); nothing was changed"))
                }
            } then: { [unowned self] in
                settleMany()
                next()
            }
        } catch {
            complain(error)
        }
    }

    private func makeGroup(
        _ group: EditGroup, seen: ArraySlice<SeenValues>, _ session: StoreSession,
        _ change: (NSManagedObjectContext) -> Void
    ) {
        let context = session.context
        context.processPendingChanges()
        let noted = session.noting {
            context.undoManager?.beginUndoGrouping()
            context.undoManager?.setActionName(group.actionName)
            change(context)
            context.processPendingChanges()
            context.undoManager?.endUndoGrouping()
        }
        baseline.note(context, noted, seen: seen)
        noteContested(among: seen.lazy.map(\.object))
    }

    /// Updates that are done once at the end and not for each group.
    private func settleMany() {
        settleContested()
        list?.forgetDeletedMarks()
    }

    // MARK: Undo and redo

    private enum Direction {
        case undo, redo
    }

    /// Undoes an edit of many records.
    func stepBack(_ group: EditGroup) { step(group, .undo, sentence("undoing: \(group.name)"), tr("undone")) }

    /// Redoes an edit of many records.
    func stepAgain(_ group: EditGroup) { step(group, .redo, sentence("redoing: \(group.name)"), tr("redone")) }

    private func step(_ group: EditGroup, _ direction: Direction, _ doing: String, _ verb: String) {
        goThroughGroups(of: group.edit, direction, doing) { [unowned self] in
            goThroughGroups(of: group.edit, direction == .undo ? .redo : .undo, tr("undoing")) { [unowned self] in
                say(sentence("stopped \(doing); nothing was changed"))
            }
        } then: { [unowned self] in
            say(sentence("\(verb): \(group.name)"))
        }
    }

    /// Undoes or redoes all groups of an edit.
    ///
    /// - Parameter stop: called when the user stops the work; `nil` if it cannot be stopped.
    private func goThroughGroups(
        of edit: Int, _ direction: Direction, _ doing: String, onStop stop: (() -> Void)? = nil,
        then next: @escaping () -> Void
    ) {
        guard let session, let manager = session.context.undoManager else { return }
        let reveals = layers.top === list
        var current: EditGroup? {
            EditGroup(direction == .undo ? manager.undoActionName : manager.redoActionName)
                .flatMap { $0.edit == edit ? $0 : nil }
        }
        let groups = editGroups[edit]
        let first = current?.number ?? 0
        let whole = direction == .undo ? first + 1 : groups - first
        func share() -> Double {
            guard let number = current?.number else { return 1 }
            return Double(abs(first - number)) / Double(max(1, whole))
        }
        func piece(until deadline: ContinuousClock.Instant) -> Bool {
            while let group = current {
                // Reveal only the first group: the cursor moves to its records.
                list?.revealingChanges(reveals && group.number == 0) {
                    let noted = session.noting { if direction == .undo { manager.undo() } else { manager.redo() } }
                    manager.disableUndoRegistration()
                    baseline.noteStep(session.context, noted)
                    manager.enableUndoRegistration()
                }
                if ContinuousClock.now >= deadline { break }
            }
            return current == nil
        }
        let end = { [unowned self] in
            settleMany()
            next()
        }
        guard let stop else { return finishPiecewise(doing, share: share, piece, then: end) }
        do {
            try workPiecewise(doing, share: share, { piece(until: $0) }, onStop: stop, then: end)
        } catch {
            complain(error)
        }
    }

    /// Clears the redo stack, because part of an edit must not be redone.
    private func forgetRedo() {
        guard let manager = session?.context.undoManager else { return }
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: manager) { _ in }
        manager.endUndoGrouping()
        manager.undo()
    }
}
