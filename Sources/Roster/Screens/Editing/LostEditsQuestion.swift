import CoreData
import TerminalKit
import Translation

/// The question on the screen about unsaved edits of records that another program deleted.
struct LostQuestion {
    let dialog: Dialog
    let edits: [LostEdit]
}

// Records with unsaved edits that another program deleted.

extension Browser {
    /// Merges deletions that a save found, and asks about the edits lost with them. If no edits are lost, continues the
    /// save.
    func takeOver(deletionsOf objects: [NSManagedObject], next: @escaping () -> Void) {
        guard let context = session?.context else { return }
        lossesTold = 0
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSDeletedObjectIDsKey: objects.map(\.objectID)], into: [context])
        context.processPendingChanges()
        let isTold = lossesTold != 0
        lossesTold = nil
        // Each access builds a new set, so read both once.
        let (updated, deleted) = (context.updatedObjects, context.deletedObjects)
        let isLeft = objects.contains { updated.contains($0) || deleted.contains($0) }
        if !isTold, !isLeft { save(preferring: nil, next: next) }
    }

    /// Asks about edits of records that another program has deleted.
    func askAboutLostEdits() {
        guard let session else { return }
        for layer in layers.layers { (layer as? ConflictScreen)?.forgetDeleted() }
        layers.removeFinished()
        let lost = baseline.takeLostEdits(in: session)
        if isTyping, lossesTold == nil { keep(lost) } else { ask(aboutLost: lost) }
        let targets = baseline.takeLostTargets(in: session.context)
        guard let first = targets.first else { return }
        let title = PropertyTitle.title(first.key)
        let name = RecordName.short(first.object)
        edit(sentence("restore \(title) of \(name)")) { _ in targets.forEach { $0.restore() } }
        let target = RecordName.short(RecordName.lastKnown(first.target))
        lossesTold? += 1
        say(
            targets.count == 1
                ? sentence("another program deleted \(target); your edit of \(title) of \(name) was undone")
                : sentence(
                    "another program deleted \(target); your edits of \(targets.count) relationships were undone"),
            role: .warning)
    }

    /// True if the user is typing text. The next keys would answer a question that appears now.
    var isTyping: Bool { layers.top.map { !$0.isFinished && $0.acceptsText } ?? false }

    /// Postpones the question to the next save.
    private func keep(_ lost: [LostEdit]) {
        guard let first = lost.first else { return }
        lostEdits += lost
        let name = lost.count == 1 ? RecordName.short(first.name) : CountedNoun.text(lost.count, "record")
        say(
            sentence("another program deleted \(name), which you edited; \(saveKey) asks whether to keep your edits"),
            role: .warning)
    }

    /// Asks what to do with edits of deleted records, in one question for all of them.
    func ask(aboutLost new: [LostEdit]) {
        guard !new.isEmpty else { return }
        var lost = new
        if let question = lostQuestion, layers.layers.contains(where: { $0 === question.dialog }) {
            lost = question.edits + new
            layers.remove(question.dialog)
        }
        var lines = [TextPane.Line("Another program deleted a record that has your unsaved edits.")]
        if lossesTold != nil {
            lines.append(TextPane.Line("Nothing was saved yet.", role: .warning))
            lossesTold? += 1
        }
        for edit in lost.prefix(5) {
            lines.append(TextPane.Line(RecordName.short(edit.name), role: .heading))
            lines.append(TextPane.Line("  " + edit.fields))
        }
        let more = lost.count - 5
        if more == 1 { lines.append(TextPane.Line("and 1 more record")) }
        if more > 1 { lines.append(TextPane.Line(sentence("and \(GroupedNumber.text(more)) more records"))) }
        let one = lost.count == 1
        let dialog = Dialog(
            title: one ? "The record with your edits was deleted" : "Records with your edits were deleted",
            lines: lines,
            choices: [
                Dialog.Choice("r", one ? "recreate it with your edits" : "recreate them with your edits") {
                    [unowned self] in recreate(lost)
                },
                Dialog.Choice("d", "drop your edits") { [unowned self] in
                    lostQuestion = nil
                    guard !goOnSaving() else { return }
                    say(
                        unsavedCount == 0
                            ? tr("dropped your edits") : sentence("dropped your edits; \(saveKey) saves the rest"))
                },
                Dialog.Choice("<Esc>", "not now") { [unowned self] in
                    lostQuestion = nil
                    afterSave = nil
                    lostEdits += lost
                    say("your edits are kept; the next save asks again")
                },
            ])
        lostQuestion = LostQuestion(dialog: dialog, edits: lost)
        layers.push(dialog)
        needsDisplay = true
    }

    /// Continues the save that asked the question. Returns false if no action is to follow it.
    private func goOnSaving() -> Bool {
        guard let next = afterSave else { return false }
        save(then: next)
        return true
    }

    private func recreate(_ lost: [LostEdit]) {
        lostQuestion = nil
        var made: [NSManagedObject] = []
        edit(sentence("recreate \(RecordName.short(lost[0].name))")) { context in
            made = lost.map { $0.recreate(in: context) }
        }
        if let first = made.first { list?.moveCursor(to: first) }
        guard !goOnSaving() else { return }
        let empty = made.count == 1 ? LostEdit.emptyRelationships(of: made[0]) : ""
        say(
            empty.isEmpty
                ? tr("recreated, not saved yet; ^S saves")
                : sentence("recreated without \(empty), not saved yet; ^S saves"))
    }
}
