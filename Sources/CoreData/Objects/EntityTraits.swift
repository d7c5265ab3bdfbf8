import Foundation
import Synchronization

/// What objects need to know of their entity, worked out once and kept with its layout.
// SAFETY: immutable but for `classInUse`, an atomic, and `knownPlaces`, which has a mutex of its own.
package final class EntityTraits: @unchecked Sendable {
    /// The row of a new object: the default values, version 0.
    package let startingRow: RowSnapshot
    /// Where objects are that no context ever had.
    let home: ObjectHome
    /// For each slot whether its value lives in memory only.
    let isTransient: [Bool]
    let hasTransient: Bool
    /// What the slots that live in memory only hold in an object that was read: their default values. Null elsewhere.
    package let transientStart: [SlotValue]
    /// The number of to-one relationships: where to-many states begin in ``RelationPlaces``.
    let toOneCount: Int
    /// Where the results of fetched properties begin there.
    let fetchedStart: Int
    let relationCount: Int
    /// The slots whose values the store derives.
    package let derivedSlots: [Int]
    /// Whether each slot is in its store as it is in the object: none is derived, none lives in memory only.
    let hasPlainSlots: Bool
    /// The inverses of the to-one relationships, in the order of their slots, and of the to-many ones: to ask the
    /// descriptions at each change would take longer than the change.
    let toOneInverses: [NSRelationshipDescription?]
    let toManyInverses: [NSRelationshipDescription?]
    /// Whether the members of some ordered to-many relationship keep their places in their own rows.
    let hasListsOfPlaces: Bool
    /// Whether some to-many relationship is not told by the rows of its members alone.
    let hasPairs: Bool
    /// The slots of to-one relationships whose inverse is to-one, too.
    let oneToOneSlots: [Int]
    /// The checks that a save makes of each property.
    let rules: [PropertyRule]
    /// The same as references that `rules` holds: every object of a save asks for all.
    // SAFETY: `rules`, which never changes, holds them.
    let heldRules: [Unretained<PropertyRule>]
    /// Whether reading by name looks at the queue first: asked for at each reading, where a global would be looked for.
    let checksQueue = ConcurrencyChecking.isOn
    /// Where the properties of the entity's class live, for its accessors.
    let knownPlaces = KnownPlaces()
    /// The class that the last object of the entity was made of, as a number.
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
        // SAFETY: `rules`, which never changes, holds them.
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
    /// Made at the first use, on any thread.
    package var traits: EntityTraits { withTraits { $0 } }

    /// The traits for what is asked of every object: without retaining them, as they stay as long as the layout does.
    // SAFETY: the address is that of the attachment, which `makeTraits` alone sets, and which the layout holds until it
    // goes away.
    @inline(__always)
    func withTraits<Result>(_ body: (EntityTraits) throws -> Result) rethrows -> Result {
        guard let address = UnsafeRawPointer(bitPattern: attachmentAddress.load(ordering: .acquiring)) else {
            return try body(makeTraits())
        }
        return try Unretained<EntityTraits>(address: address).with(body)
    }

    // SAFETY: nothing but traits is ever attached; see `withTraits`.
    private func makeTraits() -> EntityTraits {
        // Nothing else is ever attached, and what is attached stays as long as the layout does.
        let made = unsafeDowncast(attachment.storeIfNil(EntityTraits(self)), to: EntityTraits.self)
        attachmentAddress.store(UInt(bitPattern: Unretained(made).address), ordering: .releasing)
        return made
    }
}
