/// The requests of objects to their context, forwarded to its collaborators.
extension NSManagedObjectContext: ObjectOwner {
    func ownedObject(_ id: NSManagedObjectID) -> NSManagedObject { registry.object(for: id) }

    func knownObject(_ id: NSManagedObjectID) -> NSManagedObject? { registry.registered(id) }

    func fire(_ object: NSManagedObject, for place: EntityLayout.Place?) { faults.fire(object, for: place) }

    func loadMembers(of object: NSManagedObject, number: Int) { faults.load([object], number: number) }

    @inline(__always)
    func noteChange(of object: NSManagedObject) { changes.noteChange(object) }

    func slotsSet(inUnread object: NSManagedObject) -> [Int] { faults.unread.slots(of: object) }

    func unreadValue(_ slot: Int, of object: NSManagedObject) -> SlotValue { faults.unread.value(slot, of: object) }

    func setUnread(_ value: SlotValue, _ slot: Int, of object: NSManagedObject) {
        faults.unread.set(value, slot, of: object)
    }

    func noteReplacement(inUnread owner: NSManagedObject, number: Int) {
        faults.unread.didReplace(owner, number: number)
    }
}
