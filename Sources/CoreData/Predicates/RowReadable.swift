import Foundation

/// An object that predicates and orderings read by key: a managed object or a dictionary.
package protocol KeyValueReadable {
    /// The value of `key`; `nil` for an unset value and an unknown key.
    func value(forKey key: String) -> Any?
}

/// An object that compiled predicates and orderings read by slot, without boxing.
///
/// Called on the queue of the object's context. Reading may fire a fault; if the row was deleted, every slot is
/// `null`.
package protocol RowReadable: AnyObject, KeyValueReadable {
    /// The layout of the object's concrete entity.
    var rowLayout: EntityLayout { get }
    /// True if `layout` is the one of the object's concrete entity.
    func has(_ layout: EntityLayout) -> Bool
    var objectID: NSManagedObjectID { get }
    /// The value in `slot` of the layout, including unsaved changes.
    func slotValue(_ slot: Int) -> SlotValue
    /// The value of a resolved property of `SELF`; `null` if the object's entity does not have it.
    func slotValue(at access: SlotAccess) -> SlotValue
    /// The destination of the to-one relationship in `slot`.
    func toOneDestination(_ slot: Int) -> (any RowReadable)?
    /// The destinations of the layout's to-many relationship `number`, ordered if the relationship is.
    func toManyDestinations(_ number: Int) -> [any RowReadable]
}

extension RowReadable {
    func has(_ layout: EntityLayout) -> Bool { rowLayout === layout }

    func slotValue(at access: SlotAccess) -> SlotValue {
        let slot = access.slot(in: rowLayout)
        return slot < 0 ? .null : slotValue(slot)
    }
}
