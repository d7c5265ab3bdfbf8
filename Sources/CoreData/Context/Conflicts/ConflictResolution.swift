/// Applies a merge policy to one conflict.
struct ConflictResolution {
    let conflict: NSMergeConflict
    let type: NSMergePolicyType

    func apply() {
        let object = conflict.sourceObject
        guard let context = object.managedObjectContext else { return }
        if let row = conflict.currentRow {
            if object.isDeleted {
                resolveDeletion(of: object, row, context)
            } else {
                resolveChange(of: object, row, context)
            }
        } else {
            resolveMissingRow(of: object, context)
        }
    }

    private var keepsObject: Bool {
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
    }

    // MARK: Cases

    private func resolveChange(of object: NSManagedObject, _ row: RowSnapshot, _ context: NSManagedObjectContext) {
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType: replacing(object) { letStoreWin(object, row) }
        case .mergeByPropertyObjectTrumpMergePolicyType: context.refresher.rebase(object, on: row)
        case .overwriteMergePolicyType:
            replacing(object) {
                object.values = object.currentValues
                object.snapshot = row
            }
            // An object that was only moved in a list, or marked for conflict detection, now has something to save.
            if ChangedValues.differsFromSaved(object) { context.changes.noteUnsaved(object) }
        case .rollbackMergePolicyType:
            context.refresher.takeBackRelationships(of: object)
            replacing(object) { dropChanges(object, row) }
            context.changes.forgetUpdate(object)
        case .errorMergePolicyType: return
        }
        object.awake(fromSnapshotEvents: .mergePolicy)
        context.changes.noteRefresh(object)
    }

    /// Replaces an object's row or values and updates the inverses of its relationships.
    private func replacing(_ object: NSManagedObject, _ replace: () -> Void) {
        let farEnds = InverseReconciler(before: object)
        replace()
        farEnds?.follow()
    }

    private func resolveDeletion(of object: NSManagedObject, _ row: RowSnapshot, _ context: NSManagedObjectContext) {
        guard keepsObject else {
            dropChanges(object, row)
            context.changes.noteRevival(object)
            InverseReconciler.takeBackDeletion(of: object, context)
            object.awake(fromSnapshotEvents: .mergePolicy)
            return
        }
        // Others may have added references to it since it was deleted here; its delete rules must reach them too.
        if object.hasOwnValues, let base = object.snapshot {
            for slot in object.layout.attributeCount..<object.layout.slots.count
            where ChangedValues.same(object.currentValue(slot), base.values[slot], object) {
                object.write(row.values[slot], slot: slot)
            }
        }
        object.snapshot = row
        for (number, state) in object.touchedToMany where state.isLoaded {
            object.changing(.toMany(number)) { state.turnIntoFault() }
        }
    }

    private func resolveMissingRow(of object: NSManagedObject, _ context: NSManagedObjectContext) {
        if object.isDeleted {
            // The object was deleted in this context, and its row by another one.
            object.flags.insert(.inaccessible)
        } else if keepsObject {
            context.changes.turnIntoInsertion(object)
        } else {
            context.refresher.rowWasDeleted(object)
        }
    }

    // MARK: Values

    /// Takes the store's values where the store changed, and the object's where only the object did.
    private func letStoreWin(_ object: NSManagedObject, _ row: RowSnapshot) {
        if object.hasOwnValues, let base = object.snapshot {
            let isTransient = object.layout.traits.isTransient
            for slot in isTransient.indices where !isTransient[slot] {
                let storeChanged = row.values[slot] != base.values[slot]
                let objectChanged = !ChangedValues.same(object.currentValue(slot), base.values[slot], object)
                if storeChanged || !objectChanged { object.write(row.values[slot], slot: slot) }
            }
        }
        object.snapshot = row
    }

    private func dropChanges(_ object: NSManagedObject, _ row: RowSnapshot) {
        object.settle(on: row)
        for (_, state) in object.touchedToMany { state.revert() }
    }
}
