/// Calls of `willChangeValue(forKey:)` and `didChangeValue(forKey:)` around a primitive write.
///
/// Between the two calls, the old destinations of a relationship are kept in order to update the inverses.
enum ManualChanges {
    static func willChange(_ object: NSManagedObject, _ key: String) {
        object.willChange()
        if object.flags.contains(.observed), object.layout.place(of: key) != nil {
            _ = ObservedObjects.willChange(object, [key])
        }
        guard let context = object.managedObjectContext else { return }
        switch object.layout.place(of: key) {
        case .toOne(let slot):
            context.manualChanges[Change(object: object, key: key)] = .toOne(object.toOneTarget(slot))
        case .toMany(let number):
            let members = object.loadedToManyState(number).memberSet
            context.manualChanges[Change(object: object, key: key)] = .toMany(members)
        default: break
        }
    }

    static func didChange(_ object: NSManagedObject, _ key: String) {
        if object.flags.contains(.observed), object.layout.place(of: key) != nil {
            ObservedObjects.didChange(object, key)
        }
        guard let context = object.managedObjectContext,
            let before = context.manualChanges.removeValue(forKey: Change(object: object, key: key)),
            !object.flags.contains(.awakening)
        else { return }
        switch (before, object.layout.place(of: key)) {
        case (.toOne(let old), .toOne(let slot)):
            InverseUpkeep.reconcile(object, slot: slot, from: old, to: object.toOneTarget(slot))
        case (.toMany(let old), .toMany(let number)): InverseUpkeep.reconcile(object, number: number, from: old)
        default: break
        }
    }

    /// Retains the object: another one at the same address would be mistaken for it.
    struct Change: Hashable {
        let object: NSManagedObject
        let key: String
    }

    enum Before {
        case toOne(NSManagedObject?)
        case toMany(Set<NSManagedObject>)
    }
}
