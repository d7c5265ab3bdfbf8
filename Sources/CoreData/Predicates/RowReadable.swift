import Foundation

/// An object that predicates and orderings can read by key. Managed objects and dictionaries are.
protocol KeyValueReadable {
    /// The value under `key`; `nil` for an unset value and for a key that the object does not have.
    func value(forKey key: String) -> Any?
}

/// An object as compiled predicates and orderings read it: by slot, without boxing values.
///
/// Called on the queue of the object's context. Reading may fire a fault; where the row is gone, every slot is `null`.
protocol RowReadable: AnyObject, KeyValueReadable {
    /// The layout of the object's own, concrete entity.
    var rowLayout: EntityLayout { get }
    var objectID: NSManagedObjectID { get }
    /// The value in `slot` of the layout: the pending one, where the object was changed.
    func slotValue(_ slot: Int) -> SlotValue
    /// The value of a property of `SELF` that was looked up beforehand; `null` where the object's entity does not have it.
    func slotValue(at access: SlotAccess) -> SlotValue
    /// The object at the far end of the to-one relationship in `slot`.
    func toOneDestination(_ slot: Int) -> (any RowReadable)?
    /// The objects of the layout's to-many relationship `number`, in its order if it has one.
    func toManyDestinations(_ number: Int) -> [any RowReadable]
}

extension RowReadable {
    func slotValue(at access: SlotAccess) -> SlotValue {
        let slot = access.slot(in: rowLayout)
        return slot < 0 ? .null : slotValue(slot)
    }
}
