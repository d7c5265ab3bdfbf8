import CoreData
import Foundation
import TerminalKit
import Translation

/// One of the groups of records into which a change of very many is divided.
///
/// Each group is a group of the undo manager too, so that taking the change back, and making it again, can be done piece by
/// piece as well. The manager knows nothing of the change as a whole: the names of its groups say to which they belong.
struct EditGroup {
    /// What the whole change is called.
    let name: String
    /// Which change it is, and which of its groups, counted from 0.
    let edit: Int
    let number: Int

    private static let separator: Character = "\u{1F}"

    init(name: String, edit: Int, number: Int) { (self.name, self.edit, self.number) = (name, edit, number) }

    /// The group with an action name; `nil` for one that is a change by itself.
    init?(_ actionName: String) {
        let parts = actionName.split(separator: Self.separator, omittingEmptySubsequences: false)
        guard parts.count == 3, let edit = Int(parts[1]), let number = Int(parts[2]) else { return nil }
        self.init(name: String(parts[0]), edit: edit, number: number)
    }

    var actionName: String { "\(name)\(Self.separator)\(edit)\(Self.separator)\(number)" }
}

/// How many changes of very many records were begun, and how many groups each has.
struct EditGroupCounts {
    private var counts: [Int] = []

    mutating func begin(_ groups: Int) -> Int {
        counts.append(groups)
        return counts.count - 1
    }

    subscript(edit: Int) -> Int { max(1, counts[edit]) }
}

// Changes of very many records: made, taken back and made again between the keys.

extension Browser {
    /// Changes one record after the other; the keys do not wait for very many. Esc takes back what was done.
    ///
    /// - Parameters:
    ///   - name: what the change is called, for undo.
    ///   - doing: the same while it is done.
    ///   - seen: as in `edit(_:seen:_:)`; of each record, in that order, or of none.
    ///   - change: changes the record with that number.
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
                goThroughGroups(of: edit, .undo, tr("taking back")) { [unowned self] in
                    forgetRedo()
                    say(sentence("stopped \(doing): everything is as it was"))
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

    /// What is looked at once at the end, and not for each group.
    private func settleMany() {
        settleContested()
        list?.forgetDeletedMarks()
    }

    // MARK: Undo and redo

    private enum Direction {
        case undo, redo
    }

    /// Takes a change of very many records back.
    func stepBack(_ group: EditGroup) { step(group, .undo, sentence("undoing: \(group.name)"), tr("undone")) }

    /// Makes it again.
    func stepAgain(_ group: EditGroup) { step(group, .redo, sentence("doing again: \(group.name)"), tr("done again")) }

    private func step(_ group: EditGroup, _ direction: Direction, _ doing: String, _ verb: String) {
        goThroughGroups(of: group.edit, direction, doing) { [unowned self] in
            goThroughGroups(of: group.edit, direction == .undo ? .redo : .undo, tr("taking back")) { [unowned self] in
                say(sentence("stopped \(doing): everything is as it was"))
            }
        } then: { [unowned self] in
            say(sentence("\(verb): \(group.name)"))
        }
    }

    /// Takes back all groups of a change, or makes them again.
    ///
    /// - Parameter stop: called when the user stops it; `nil` where that cannot be.
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
                // The cursor goes to the first of them.
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

    /// Nothing is left to do again: a part of a change is none that the user made.
    private func forgetRedo() {
        guard let manager = session?.context.undoManager else { return }
        manager.beginUndoGrouping()
        manager.registerUndo(withTarget: manager) { _ in }
        manager.endUndoGrouping()
        manager.undo()
    }
}
