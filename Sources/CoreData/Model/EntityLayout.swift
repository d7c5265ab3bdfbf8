import Synchronization

/// The compiled form of an entity: the slot of each property in a row.
///
/// Attributes have the first slots (inherited before own, each group by name), followed by to-one relationships in
/// the same order. To-many relationships have no slots and are numbered separately. A parent's attributes may have
/// other slots in its children, so always use the layout of the object's own entity.
// SAFETY: immutable except for atomics, and for the class in use, which the lock of `ManagedObjectClasses` guards.
package final class EntityLayout: @unchecked Sendable {
    /// The location of a property's value.
    package enum Place: Hashable, Sendable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
        case fetched(Int)
    }

    unowned let entity: NSEntityDescription
    /// The entity without reference counting.
    // SAFETY: used by those that retain the entity.
    let entityReference: Unretained<NSEntityDescription>
    /// The entity's index in the model's entities sorted by name: a small number for compact keys.
    package let index: Int
    /// The property in each slot: an `NSAttributeDescription` or a to-one `NSRelationshipDescription`.
    package let slots: [NSPropertyDescription]
    /// The number of attribute slots; the other slots are to-one relationships.
    let attributeCount: Int
    /// The attribute types by slot. Asking the descriptions would cost more than the access itself.
    let attributeTypes: [NSAttributeType]
    package let toManyRelationships: [NSRelationshipDescription]
    let fetchedProperties: [NSPropertyDescription]
    private let places: PropertyPlaces
    /// Values that managed objects derive from the layout once.
    let attachment = AtomicLazyReference<AnyObject>()
    /// The address of the attachment once it is set. Reading it is a plain load.
    let attachmentAddress = Atomic<UInt>(0)
    /// True if managed objects have derived values from the layout.
    var hasAttachment: Bool { attachmentAddress.load(ordering: .acquiring) != 0 }

    /// The class of the entity's objects as last found, and the generation of the program's classes at that time.
    /// Both are used only under the lock of `ManagedObjectClasses`.
    var objectClass: AnyClass?
    var objectClassGeneration = 0

    init(entity: NSEntityDescription, index: Int) {
        self.entity = entity
        entityReference = Unretained(entity)
        self.index = index
        let inherited = entity.superentity?.layout
        var attributes = (inherited?.slots.prefix(inherited?.attributeCount ?? 0)).map(Array.init) ?? []
        var toOnes = (inherited?.slots.dropFirst(inherited?.attributeCount ?? 0)).map(Array.init) ?? []
        var toManys = inherited?.toManyRelationships ?? []
        var fetched = inherited?.fetchedProperties ?? []
        for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) {
            switch property {
            case is NSAttributeDescription: attributes.append(property)
            case let relationship as NSRelationshipDescription where relationship.isToMany:
                toManys.append(relationship)
            case is NSRelationshipDescription: toOnes.append(property)
            default: fetched.append(property)
            }
        }
        self.slots = attributes + toOnes
        self.attributeCount = attributes.count
        self.attributeTypes = attributes.map {
            ($0 as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType
        }
        self.toManyRelationships = toManys
        self.fetchedProperties = fetched
        var places: [String: Place] = [:]
        for (slot, property) in slots.enumerated() {
            places[property.name] = slot < attributeCount ? .attribute(slot) : .toOne(slot)
        }
        for (number, relationship) in toManys.enumerated() { places[relationship.name] = .toMany(number) }
        for (number, property) in fetched.enumerated() { places[property.name] = .fetched(number) }
        self.places = PropertyPlaces(places)
    }

    /// The place of `key`; `nil` if the entity has no such property. One hash lookup.
    package func place(of key: String) -> Place? { places[key] }

    /// The property at a place.
    func property(at place: Place) -> NSPropertyDescription {
        switch place {
        case .attribute(let slot), .toOne(let slot): slots[slot]
        case .toMany(let number): toManyRelationships[number]
        case .fetched(let number): fetchedProperties[number]
        }
    }

    /// The name of the property at a place.
    func name(of place: Place) -> String { property(at: place).name }

    /// The place of a slot.
    func place(ofSlot slot: Int) -> Place { slot < attributeCount ? .attribute(slot) : .toOne(slot) }

    /// The attribute in `slot`; `nil` for a to-one relationship.
    package func attribute(at slot: Int) -> NSAttributeDescription? { slots[slot] as? NSAttributeDescription }
}
