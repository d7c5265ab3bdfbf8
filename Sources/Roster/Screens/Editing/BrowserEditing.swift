import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

// Edits of records. Every edit is one undo step, and nothing is written to the store before a save.

extension Browser {
    /// The reason why nothing can be changed; `nil` if the store is writable.
    var readOnlyReason: String? {
        guard let session, session.isReadOnly else { return nil }
        return session.model.isInferred
            ? "read-only, because the store has no model; start with --model FILE to edit"
            : "cannot edit: the store is open read-only"
    }

    /// Makes one edit as one undo step.
    ///
    /// - Parameter seen: the values that the user saw when deciding. For other records the current values count.
    func edit(
        _ name: String, seen: [SeenValues] = [], _ change: (NSManagedObjectContext) throws -> Void
    ) rethrows {
        guard let session else { return }
        let context = session.context
        context.processPendingChanges()
        context.undoManager?.beginUndoGrouping()
        context.undoManager?.setActionName(name)
        func note(_ changed: [NSManagedObject]) {
            context.undoManager?.endUndoGrouping()
            baseline.note(context, changed, seen: seen)
            noteContested(among: seen.lazy.map(\.object))
        }
        // Changes made before an error remain, as one undo step.
        var changed: [NSManagedObject] = []
        defer { note(changed) }
        try session.collecting(into: &changed) { try change(context) }
    }

    // MARK: Concurrent changes

    /// Updates `contested`, the records with an unsaved edit of a field that another program changed too.
    ///
    /// - Returns: the records that were added.
    @discardableResult
    func noteContested(among objects: some Sequence<NSManagedObject>) -> [NSManagedObject] {
        contested = contested.filter { baseline.conflict(of: $0) != nil }
        let new = objects.filter { !contested.contains($0) && baseline.conflict(of: $0) != nil }
        contested.formUnion(new)
        contestedRevision = session?.revision
        return new
    }

    /// Removes records from `contested` that were saved, undone or decided.
    func settleContested() {
        // Checking many records after each key would delay the keys.
        guard !contested.isEmpty, contestedRevision != session?.revision else { return }
        noteContested(among: EmptyCollection())
    }

    /// Shows a warning, once, that another program changed a field with an unsaved edit. The save will ask.
    func tellContested(changed ids: Set<NSManagedObjectID>) {
        guard let context = session?.context, !baseline.isEmpty else { return }
        let new = noteContested(among: ids.lazy.compactMap { context.registeredObject(for: $0) })
        guard let first = new.first else { return }
        if new.count == 1, let fields = baseline.conflict(of: first)?.fields {
            let named = fields.prefix(3).map { PropertyTitle.title($0.property.name) }.joined(separator: ", ")
            let (titles, name) = (named + (fields.count > 3 ? ", …" : ""), RecordName.short(first))
            say(
                sentence("another program also changed \(titles) of \(name); \(saveKey) asks which value to keep"),
                role: .warning)
        } else {
            let counted = CountedNoun.text(new.count, "record")
            say(
                sentence(
                    "another program also changed \(counted) that you edited; \(saveKey) asks which values to keep"),
                role: .warning)
        }
    }

    /// Shows that a record was changed, with a warning if another program changed it too.
    func sayChanged(_ text: String, _ object: NSManagedObject) {
        guard contested.contains(object) else { return say(text) }
        say(sentence("\(text); another program also changed it, \(saveKey) asks which value to keep"), role: .warning)
    }

    var saveKey: String { tables[ListScreen.self].label(of: "^S", in: ListCommands.table) ?? ":w" }

    func undo() {
        guard let manager = session?.context.undoManager, manager.canUndo else { return say("nothing to undo") }
        if let group = EditGroup(manager.undoActionName) { return stepBack(group) }
        step("undone", manager.undoActionName) { manager.undo() }
    }

    func redo() {
        guard let manager = session?.context.undoManager, manager.canRedo else { return say("nothing to redo") }
        if let group = EditGroup(manager.redoActionName) { return stepAgain(group) }
        step("redone", manager.redoActionName) { manager.redo() }
    }

    /// Performs an undo or redo step and reveals the changes.
    private func step(_ verb: String, _ name: String, _ body: () -> Void) {
        guard let session else { return }
        list?.revealingChanges {
            let changed = session.collecting(body)
            session.context.undoManager?.disableUndoRegistration()
            baseline.noteStep(session.context, changed)
            session.context.undoManager?.enableUndoRegistration()
        }
        settleContested()
        say(name.isEmpty ? verb : sentence("\(tr(verb)): \(name)"))
    }

    // MARK: Saving

    /// Saves all changes. Asks about conflicts and shows errors.
    ///
    /// - Parameter next: called when everything is saved, also after questions of the save.
    func save(then next: (() -> Void)? = nil) {
        afterSave = next
        save(preferring: nil, next: next ?? {})
    }

    func save(preferring preference: SaveAttempt.Preference?, next: @escaping () -> Void) {
        guard let session else { return }
        if !lostEdits.isEmpty {
            let lost = lostEdits
            lostEdits = []
            return ask(aboutLost: lost)
        }
        if let problem = session.fileProblem {
            waitingSave = nil
            return ask(aboutLostFile: problem, next: next)
        }
        let outcome = saving { attempt in
            preference.map { attempt.save(baseline: baseline, preferring: $0) } ?? attempt.save(baseline: baseline)
        }
        guard let outcome else { return }
        if case .locked = outcome { return waitToSave(preferring: preference, next: next) }
        waitingSave = nil
        finish(outcome, next: next)
    }

    private func finish(_ outcome: SaveAttempt.Outcome, next: @escaping () -> Void) {
        defer { noteContested(among: EmptyCollection()) }
        if case .gone = outcome {} else if case .conflicts = outcome {} else { afterSave = nil }
        switch outcome {
        case .locked: break
        case .nothingToSave:
            baseline.removeAll()
            say("nothing to save")
            next()
        case .stopped: say("stopped; nothing was saved", role: .warning)
        case .saved(let count):
            say(
                count == 0
                    ? tr("none of your changes were left to save")
                    : sentence("saved \(CountedNoun.text(count, "record"))")
            )
            next()
        case .conflicts(let conflicts): ask(about: conflicts, next: next)
        case .gone(let objects): takeOver(deletionsOf: objects, next: next)
        case .failed(let lines, _):
            let shown = lines.prefix(8).map { TextPane.Line($0, role: .error) }
            let more = GroupedNumber.text(lines.count - shown.count)
            var rest = lines.count > shown.count ? [TextPane.Line(sentence("and \(more) more"))] : []
            let nothing = "Nothing was saved"
            if !lines.contains(where: { $0.contains(nothing) }) { rest.append(TextPane.Line(nothing + ".")) }
            layers.push(
                Dialog(
                    title: "Not saved", lines: shown + rest,
                    choices: [Dialog.Choice("<Enter><Esc><Space>q", "back")]))
        }
    }

    private func ask(about conflicts: [RecordConflict], next: @escaping () -> Void) {
        layers.push(
            ConflictScreen(conflicts: conflicts, commands: tables[ConflictScreen.self]) { [unowned self] decision in
                decide(decision, about: conflicts, next: next)
            })
    }

    private func decide(
        _ decision: ConflictScreen.Decision, about conflicts: [RecordConflict], next: @escaping () -> Void
    ) {
        switch decision {
        case .mine: save(preferring: SaveAttempt.Preference(.mine, of: conflicts), next: next)
        case .theirs: save(preferring: SaveAttempt.Preference(.theirs, of: conflicts), next: next)
        case .notNow: afterSave = nil
        case .each(let choices):
            guard let session else { return }
            // Merge the others' values first: otherwise choosing the base value would not count as a change.
            let choices = choices.filter { !$0.object.isDeleted && $0.object.managedObjectContext != nil }
            for object in Set(choices.map(\.object)) { session.context.refresh(object, mergeChanges: true) }
            edit(tr("resolve conflicts")) { _ in
                for choice in choices {
                    choice.object.setValue(choice.value is NSNull ? nil : choice.value, forKey: choice.key)
                }
            }
            save(preferring: SaveAttempt.Preference(.mine, of: conflicts), next: next)
        }
    }

    // MARK: Deleting

    /// Asks whether to delete records of one entity. The question lists what the delete rules affect.
    func askToDelete(_ objects: [NSManagedObject], then next: @escaping () -> Void = {}) {
        if let readOnlyReason { return say(readOnlyReason, role: .warning) }
        var plan = DeletePlan(deleting: objects)
        let counted = CountedNoun.text(objects.count, objects.first?.entity.name ?? "record")
        do {
            try workPiecewise(sentence("checking \(counted)"), share: { plan.share }) {
                plan.advance(until: $0)
            } then: { [unowned self] in
                ask(about: plan, then: next)
            }
        } catch {
            complain(error)
        }
    }

    private func ask(about plan: DeletePlan, then next: @escaping () -> Void) {
        let objects = plan.objects
        guard plan.denied.isEmpty else {
            layers.push(
                Dialog(
                    title: "Cannot delete", lines: plan.lines, choices: [Dialog.Choice("<Enter><Esc><Space>q", "back")])
            )
            return
        }
        let name =
            objects.count == 1 ? RecordName.short(objects[0]) : CountedNoun.text(objects.count, "record")
        layers.push(
            Dialog(
                title: "Delete?", lines: plan.lines,
                choices: [
                    Dialog.Choice("y", "delete") { [unowned self] in
                        editMany(
                            sentence("delete \(name)"), doing: sentence("deleting \(name)"), count: objects.count,
                            {
                                // Skip records that others, or delete rules of earlier ones, have deleted.
                                guard !objects[$1].isDeleted, objects[$1].managedObjectContext != nil else { return }
                                $0.delete(objects[$1])
                            },
                            then: { [unowned self] in
                                say(sentence("deleted \(name); u undoes it"))
                                next()
                            })
                    },
                    Dialog.Choice("n", "keep"),
                ]))
    }
}
