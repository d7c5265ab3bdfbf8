import Foundation
import Synchronization

/// Data that objects derive from their entity, computed once and stored with its layout.
// SAFETY: immutable except `classInUse`, an atomic, and `knownPlaces`, which has its own mutex.
package final class EntityTraits: @unchecked Sendable {
    /// The row of a new object: the default values, version 0.
    package let startingRow: RowSnapshot
    /// The home of objects that were never in a context.
    let home: ObjectHome
    /// For each slot, true if its value is transient (held in memory only).
    let isTransient: [Bool]
    let hasTransient: Bool
    /// Initial values of the transient slots of a fetched object: their defaults. Null in all other slots.
    package let transientStart: [SlotValue]
    /// The number of to-one relationships, which is the index of the first to-many state in ``RelationPlaces``.
    let toOneCount: Int
    /// The index of the first fetched property in ``RelationPlaces``.
    let fetchedStart: Int
    let relationCount: Int
    /// The slots whose values the store derives.
    package let derivedSlots: [Int]
    /// True if the store has each slot exactly as the object has it: no slot is derived or transient.
    let hasPlainSlots: Bool
    /// The inverses of the to-one relationships in slot order, and of the to-many ones. Cached because reading the
    /// descriptions at each change would cost more than the change.
    let toOneInverses: [NSRelationshipDescription?]
    let toManyInverses: [NSRelationshipDescription?]
    /// True if, for some ordered to-many relationship, each member's row contains its position.
    let hasListsOfPlaces: Bool
    /// True if some to-many relationship cannot be read from the rows of its members alone.
    let hasPairs: Bool
    /// The slots of to-one relationships whose inverse is to-one too.
    let oneToOneSlots: [Int]
    /// The validation rules that a save applies to the properties.
    let rules: [PropertyRule]
    /// Unowned references to `rules`, which avoid reference counting: every saved object reads all rules.
    // SAFETY: `rules`, which is immutable, retains them.
    let heldRules: [Unretained<PropertyRule>]
    /// True if access by key checks the queue first. Cached because each read by key uses it, and a global is slower.
    let checksQueue = ConcurrencyChecking.isOn
    /// The places of the properties of the entity's class, for its accessors.
    let knownPlaces = KnownPlaces()
    /// The class of the entity's most recently created object, as a number.
    let classInUse = Atomic<UInt>(0)

    init(_ layout: EntityLayout) {
        startingRow = .make(layout.slots.map(Self.startingValue), version: 0)
        home = ObjectHome(of: layout, knownPlaces.reader)
        isTransient = layout.slots.map(\.isTransient)
        transientStart = zip(startingRow.values, isTransient).map { $1 ? $0 : .null }
        hasTransient = isTransient.contains(true)
        toOneCount = layout.slots.count - layout.attributeCount
        fetchedStart = toOneCount + layout.toManyRelationships.count
        relationCount = fetchedStart + layout.fetchedProperties.count
        derivedSlots = layout.slots.indices.filter {
            layout.slots[$0] is NSDerivedAttributeDescription && !layout.slots[$0].isTransient
        }
        hasPlainSlots = derivedSlots.isEmpty && !hasTransient
        toOneInverses = layout.slots.dropFirst(layout.attributeCount).map {
            ($0 as? NSRelationshipDescription)?.inverseRelationship
        }
        toManyInverses = layout.toManyRelationships.map(\.inverseRelationship)
        oneToOneSlots = layout.slots.indices.filter {
            (layout.slots[$0] as? NSRelationshipDescription)?.inverseRelationship?.isToMany == false
        }
        let isToldByMembers = toManyInverses.map { $0?.isToMany == false }
        hasListsOfPlaces = zip(layout.toManyRelationships, isToldByMembers).contains { $0.isOrdered && $1 }
        hasPairs = isToldByMembers.contains(false)
        rules = PropertyRule.rules(of: layout)
        // SAFETY: `rules`, which is immutable, retains them.
        heldRules = rules.map { Unretained($0) }
    }

    private static func startingValue(of property: NSPropertyDescription) -> SlotValue {
        guard let attribute = property as? NSAttributeDescription, let value = attribute.defaultValue else {
            return .null
        }
        return AttributeCoercion.unvalidatedSlotValue(value, type: attribute.attributeType) ?? .null
    }
}

extension EntityLayout {
    /// The traits of the entity, created at first use. Any thread.
    package var traits: EntityTraits { withTraits { $0 } }

    /// Passes the traits without retaining them, for code that runs per object. They live as long as the layout.
    // SAFETY: the address is that of the attachment, which only `makeTraits` sets and which the layout retains until it
    // is deallocated.
    @inline(__always)
    func withTraits<Result>(_ body: (EntityTraits) throws -> Result) rethrows -> Result {
        guard let address = UnsafeRawPointer(bitPattern: attachmentAddress.load(ordering: .acquiring)) else {
            return try body(makeTraits())
        }
        return try Unretained<EntityTraits>(address: address).with(body)
    }

    // SAFETY: only traits are ever attached; see `withTraits`.
    private func makeTraits() -> EntityTraits {
        let made = unsafeDowncast(attachment.storeIfNil(EntityTraits(self)), to: EntityTraits.self)
        attachmentAddress.store(UInt(bitPattern: Unretained(made).address), ordering: .releasing)
        return made
    }
}
