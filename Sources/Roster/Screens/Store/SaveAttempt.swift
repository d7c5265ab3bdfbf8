import CoreData
import Foundation
import RosterCommands
import Translation

/// Saves the context and reports why it failed.
struct SaveAttempt {
    enum Outcome {
        case saved(Int)
        case nothingToSave
        /// Another context or process changed the same properties. Nothing was saved.
        case conflicts([RecordConflict])
        /// Another context or process deleted records that are changed here. Nothing was saved.
        case gone([NSManagedObject])
        /// Another program has locked the store. Nothing was saved.
        case locked
        /// The user stopped the save. Nothing was saved.
        case stopped
        /// Lines that describe the errors. Nothing was saved.
        case failed([String], object: NSManagedObject?)
    }

    /// The user's decision about conflicts: the side whose values are kept.
    nonisolated struct Preference {
        nonisolated enum Side {
            case mine
            case theirs
        }

        let side: Side
        /// The shown fields by record. Records that the user deleted have an empty set.
        private let shown: [NSManagedObject: Set<String>]

        init(_ side: Side, of conflicts: [RecordConflict]) {
            self.side = side
            shown = Dictionary(conflicts.map { ($0.object, Set($0.fields.map(\.property.name))) }) { $0.union($1) }
        }

        /// True if the user saw all fields of the conflict. Others may have changed more since the question.
        func settles(_ conflict: RecordConflict) -> Bool {
            guard let keys = shown[conflict.object] else { return false }
            return conflict.fields.allSatisfy { keys.contains($0.property.name) }
        }
    }

    /// Thrown if others changed what the user changed.
    private struct Contested: Error {}

    let session: StoreSession
    /// The running save of many records, to which progress is reported.
    var running: RunningSave?

    /// Saves unless another context or process changed what the user changed.
    func save(baseline: EditBaseline) -> Outcome {
        // Examining many records takes time, so it is done when the store's lock is held.
        if running != nil { return save(lookingAt: baseline) }
        guard let conflicts = try? conflicts(baseline) else { return .stopped }
        return conflicts.isEmpty ? save() : .conflicts(conflicts)
    }

    private func conflicts(_ baseline: EditBaseline) throws -> [RecordConflict] {
        try baseline.conflicts { try running?.step(.looking, $0, of: $1) }
    }

    /// Saves after the user decided about conflicts: with all of theirs, or with the current values of the records.
    /// Asks again about newer conflicts.
    func save(baseline: EditBaseline, preferring preference: Preference) -> Outcome {
        // In a long save, conflicts are searched for later, with the store's lock held. If theirs are taken, it is done
        // first, because that changes the values to save.
        let looksLater = running != nil && preference.side == .mine
        if !looksLater {
            guard let conflicts = try? conflicts(baseline) else { return .stopped }
            guard conflicts.allSatisfy(preference.settles) else { return .conflicts(conflicts) }
            if preference.side == .theirs { takeTheirs(conflicts) }
        }
        let context = session.context
        let policy = context.mergePolicy
        let asking = AskingPolicy(preference)
        context.mergePolicy = asking
        defer { context.mergePolicy = policy }
        let outcome = save(lookingAt: looksLater ? baseline : nil, preferring: preference)
        guard case .conflicts(let found) = outcome, !found.isEmpty, asking.hasAsked else { return outcome }
        // Ask one question about all conflicts, because the answer applies to all.
        let known = Set(found.map(\.object))
        return .conflicts(found + baseline.conflicts({ _, _ in }).filter { !known.contains($0.object) })
    }

    /// Sets fields in conflict to the others' values, as one undo step.
    private func takeTheirs(_ conflicts: [RecordConflict]) {
        let context = session.context
        guard !conflicts.isEmpty else { return }
        context.processPendingChanges()
        context.undoManager?.beginUndoGrouping()
        context.undoManager?.setActionName(
            sentence("keep their values of \(CountedNoun.text(conflicts.count, "record"))"))
        for conflict in conflicts {
            for field in conflict.fields {
                conflict.object.setValue(field.theirs is NSNull ? nil : field.theirs, forKey: field.property.name)
            }
        }
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
    }

    /// - Parameter baseline: edits to examine for conflicts at the beginning of a long save; `nil` for none.
    private func save(lookingAt baseline: EditBaseline? = nil, preferring preference: Preference? = nil) -> Outcome {
        let count = session.unsavedCount
        guard session.context.hasChanges else { return .nothingToSave }
        var conflicts: [RecordConflict] = []
        do {
            if let running {
                var baseline = baseline
                try session.context.save(reporting: {
                    if let edits = baseline {
                        baseline = nil
                        conflicts = try self.conflicts(edits)
                        if !conflicts.allSatisfy({ preference?.settles($0) ?? false }) { throw Contested() }
                    }
                    try running.note(.saving, $0.fraction, canStop: $0.canStop)
                })
            } else {
                try session.context.save()
            }
            return .saved(count)
        } catch is RunningSave.Stopped {
            return .stopped
        } catch is Contested {
            return .conflicts(conflicts)
        } catch {
            return outcome(of: error as NSError)
        }
    }

    private func outcome(of error: NSError) -> Outcome {
        if let list = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict], !list.isEmpty {
            let gone = list.filter(AskingPolicy.isGone).map(\.sourceObject)
            return gone.isEmpty ? .conflicts(list.map(RecordConflict.init(of:))) : .gone(gone)
        }
        if StoreLock.isReason(for: error) { return .locked }
        let several = (error.userInfo[NSDetailedErrorsKey] as? [any Error])?.map { $0 as NSError } ?? [error]
        let lines = several.map { error in
            let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
            let text = CommandError.line(for: error)
            return object.map { "\(RecordName.text($0)): \(text)" } ?? text
        }
        return .failed(lines, object: several.first?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)
    }
}

/// Resolves conflicts by the user's decision. Leaves edits of deleted records and newer conflicts to the user.
// SAFETY: its one mutable property is set and read on the main thread, where the context saves and asks it.
private nonisolated final class AskingPolicy: NSMergePolicy, @unchecked Sendable {
    private let preference: SaveAttempt.Preference
    /// True if a conflict was left to the user.
    private(set) var hasAsked = false

    init(_ preference: SaveAttempt.Preference) {
        self.preference = preference
        super.init(
            merge: preference.side == .mine
                ? .mergeByPropertyObjectTrumpMergePolicyType : .mergeByPropertyStoreTrumpMergePolicyType)
    }

    static func isGone(_ conflict: NSMergeConflict) -> Bool { conflict.persistedSnapshot == nil }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        // Records that both deleted are not in conflict.
        let gone = list.filter { Self.isGone($0) && !$0.sourceObject.isDeleted }
        guard gone.isEmpty else { throw asking(about: gone) }
        let contested = list.filter { !Self.isGone($0) }.map { ($0, RecordConflict(of: $0).contested) }
            .filter { $0.sourceObject.isDeleted || !$1.fields.isEmpty }
        guard contested.allSatisfy({ preference.settles($1) }) else { throw asking(about: contested.map(\.0)) }
        try super.resolve(optimisticLockingConflicts: list)
    }

    private func asking(about conflicts: [NSMergeConflict]) -> any Error {
        hasAsked = true
        return CocoaError(.managedObjectMerge, userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }
}
