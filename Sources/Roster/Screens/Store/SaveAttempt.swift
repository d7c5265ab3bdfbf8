import CoreData
import Foundation
import RosterCommands
import Translation

/// Saves the context, and says what prevented it.
struct SaveAttempt {
    enum Outcome {
        case saved(Int)
        case nothingToSave
        /// Another context or process changed the same properties; nothing was saved.
        case conflicts([RecordConflict])
        /// Another program has locked the store; nothing was saved yet.
        case locked
        /// The user stopped it; nothing was saved.
        case stopped
        /// What is wrong, line by line; nothing was saved.
        case failed([String], object: NSManagedObject?)
    }

    /// Whose values win where both changed the same.
    enum Preference {
        case mine
        case theirs
    }

    let session: StoreSession
    /// A save of very many records, which is told how far it is.
    var running: RunningSave?

    /// Saves unless another context or process changed what the user changed.
    func save(baseline: EditBaseline) -> Outcome {
        guard let conflicts = try? conflicts(baseline) else { return .stopped }
        if !conflicts.isEmpty { return .conflicts(conflicts) }
        return save()
    }

    private func conflicts(_ baseline: EditBaseline) throws -> [RecordConflict] {
        try baseline.conflicts { try running?.step(.looking, $0, of: $1) }
    }

    /// Saves after the user decided about each field in conflict: the records hold what was decided.
    func saveAsDecided() -> Outcome {
        let context = session.context
        let policy = context.mergePolicy
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        defer { context.mergePolicy = policy }
        return save()
    }

    /// Saves after the user decided about conflicts.
    func save(baseline: EditBaseline, preferring preference: Preference) -> Outcome {
        let context = session.context
        if preference == .theirs {
            guard let conflicts = try? conflicts(baseline) else { return .stopped }
            takeTheirs(conflicts)
        }
        let policy = context.mergePolicy
        context.mergePolicy =
            preference == .mine ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.mergeByPropertyStoreTrump
        defer { context.mergePolicy = policy }
        return save()
    }

    /// Gives the fields in conflict what others wrote, as one step for undo.
    private func takeTheirs(_ conflicts: [RecordConflict]) {
        let context = session.context
        guard !conflicts.isEmpty else { return }
        context.processPendingChanges()
        context.undoManager?.beginUndoGrouping()
        context.undoManager?.setActionName(
            sentence("keep theirs of \(DeletePlan.counted(conflicts.count, "record"))"))
        for conflict in conflicts {
            for field in conflict.fields {
                conflict.object.setValue(field.theirs is NSNull ? nil : field.theirs, forKey: field.property.name)
            }
        }
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
    }

    private func save() -> Outcome {
        let count = session.unsavedCount
        guard session.context.hasChanges else { return .nothingToSave }
        do {
            if let running {
                try session.context.save(reporting: {
                    try running.note(.saving, $0.fraction, canStop: $0.canStop)
                })
            } else {
                try session.context.save()
            }
            return .saved(count)
        } catch is RunningSave.Stopped {
            return .stopped
        } catch {
            return outcome(of: error as NSError)
        }
    }

    private func outcome(of error: NSError) -> Outcome {
        if let list = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict], !list.isEmpty {
            return .conflicts(list.map(Self.conflict))
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

    private static func conflict(_ conflict: NSMergeConflict) -> RecordConflict {
        let object = conflict.sourceObject
        let theirs = conflict.persistedSnapshot ?? conflict.cachedSnapshot ?? [:]
        let fields = object.changedValues().sorted { $0.key < $1.key }.compactMap { key, mine in
            object.entity.propertiesByName[key].map {
                RecordConflict.Field(
                    property: $0, base: conflict.objectSnapshot?[key], mine: mine, theirs: theirs[key])
            }
        }
        return RecordConflict(object: object, fields: fields)
    }
}
