import Synchronization

/// An entity compiled once: which property stands in which slot of a row.
///
/// Slots are numbered attributes first (inherited before own, each group by name), then to-one relationships in the same
/// order. To-many relationships have no slot; they are numbered by themselves. A parent's attributes are therefore not at
/// the same slots as its children's: always go through the layout of the object's own entity.
// SAFETY: immutable but for atomics, and for the class in use, which the lock of `ManagedObjectClasses` guards.
final class EntityLayout: @unchecked Sendable {
    /// Where a property's value lives.
    enum Place: Hashable, Sendable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
        case fetched(Int)
    }

    unowned let entity: NSEntityDescription
    /// The entity's place in the model's list of entities sorted by name: a small number for compact keys.
    let index: Int
    /// The property in each slot: an `NSAttributeDescription` or a to-one `NSRelationshipDescription`.
    let slots: [NSPropertyDescription]
    /// How many of the slots are attributes; the rest are to-one relationships.
    let attributeCount: Int
    /// The types of the attributes, by slot: asking the descriptions at every access would cost more than the access.
    let attributeTypes: [NSAttributeType]
    let toManyRelationships: [NSRelationshipDescription]
    let fetchedProperties: [NSPropertyDescription]
    private let places: PropertyPlaces
    /// What the managed objects work out from the layout, once.
    let attachment = AtomicLazyReference<AnyObject>()
    /// The address of the attachment, once it is there: reading it is a plain load.
    let attachmentAddress = Atomic<UInt>(0)

    /// The class of the entity's objects as it was found last, and by which state of the program's classes. Both are
    /// guarded by the lock of `ManagedObjectClasses`, which alone uses them.
    var objectClass: AnyClass?
    var objectClassGeneration = 0

    init(entity: NSEntityDescription, index: Int) {
        self.entity = entity
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

    /// Where the value of `key` lives, or `nil` if the entity has no such property. One hash look-up.
    func place(of key: String) -> Place? { places[key] }

    /// The property that lives at a place.
    func property(at place: Place) -> NSPropertyDescription {
        switch place {
        case .attribute(let slot), .toOne(let slot): slots[slot]
        case .toMany(let number): toManyRelationships[number]
        case .fetched(let number): fetchedProperties[number]
        }
    }

    /// The name of the property that lives at a place.
    func name(of place: Place) -> String { property(at: place).name }

    /// Where a slot's value lives, seen as a property.
    func place(ofSlot slot: Int) -> Place { slot < attributeCount ? .attribute(slot) : .toOne(slot) }

    /// The attribute in `slot`; `nil` where a to-one relationship stands.
    func attribute(at slot: Int) -> NSAttributeDescription? { slots[slot] as? NSAttributeDescription }
}
