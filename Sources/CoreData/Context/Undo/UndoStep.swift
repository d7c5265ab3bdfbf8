/// The effect of one event on one object: a part of an undo action.
struct UndoStep {
    enum Presence {
        case unchanged
        case came
        case went
    }

    struct ToMany {
        let number: Int
        let added: ObjectSet
        var removed: ObjectSet
        let oldOrder: [NSManagedObject]?
    }

    let object: NSManagedObject
    let presence: Presence
    /// The changed slots and their old values.
    var slots: [(slot: Int, old: SlotValue)]
    var toMany: [ToMany]
}

// MARK: Changes that others made since

extension UndoStep {
    /// The steps that can still be undone. Excludes steps of objects whose rows were deleted by others. If the deletion
    /// of an object was saved, and another context or process restored it with its own relationships, its steps and
    /// references to it are excluded.
    ///
    /// Cost: one query for all objects whose deletion was saved; none if there are none.
    static func standing(_ steps: [UndoStep], in context: NSManagedObjectContext) -> [UndoStep] {
        let known = steps.filter { $0.presence == .went || $0.object.managedObjectContext === context }
        let back = broughtBack(known, context)
        guard !back.isEmpty else { return known }
        return known.filter { !back.contains($0.object.objectID) }.map { $0.leavingAlone(back) }
    }

    private static func broughtBack(_ steps: [UndoStep], _ context: NSManagedObjectContext) -> Set<NSManagedObjectID> {
        guard let source = context.source else { return [] }
        let ids = steps.filter { $0.object.managedObjectContext == nil }.map(\.object.objectID).filter(source.mayHold)
        // If the store does not respond, the save detects it.
        guard !ids.isEmpty, let rows = try? source.rows(for: ids) else { return [] }
        return Set(ids.filter { rows[$0] != nil })
    }

    private func leavingAlone(_ back: Set<NSManagedObjectID>) -> UndoStep {
        var step = self
        step.slots.removeAll { change in
            if case .reference(let id) = change.old { back.contains(id) || back.contains(id.latest) } else { false }
        }
        for index in toMany.indices {
            for member in toMany[index].removed where back.contains(member.objectID) {
                step.toMany[index].removed.remove(member)
            }
        }
        step.toMany.removeAll { $0.added.isEmpty && $0.removed.isEmpty }
        return step
    }
}
