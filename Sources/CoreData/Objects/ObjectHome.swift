/// Data that an object shares with the other objects of its entity in its context, or outside of contexts: its layout,
/// its context and the family of its ID. An object needs one word for it, which saves 16 MB in a list of a million.
///
/// There are four kinds of homes:
/// - one per layout, for objects that were never in a context, each of which keeps the entity and so the layout alive;
/// - one per context and family of IDs;
/// - one for each of these, for the objects that left the context;
/// - homes of single objects whose ID was requested.
///
/// A context owns the homes of its objects, and all objects leave before it releases the homes. An object owns a share
/// in every other home. Any thread may request an object's ID and so give it a home of its own; therefore a home
/// retains the one it replaced, which another thread may be reading.
// SAFETY: immutable except `context` and `left`, which only the context's queue changes.
// SAFETY: `kept` retains the layout, or, if the home is that of a layout, each object retains the entity, which keeps
// its layouts. All objects leave a context before its handle is deallocated, so `context` is not dereferenced later. A
// `Word` refers to a home that the context owns, or owns a share that is released once.
final class ObjectHome: @unchecked Sendable {
    private let layoutReference: Unretained<EntityLayout>
    /// The layout or the replaced home, which has to live as long as this one. `nil` for the home of a layout.
    private let kept: AnyObject?
    /// The places of the properties of the objects' class, as far as they are known.
    let places: KnownPlaces.Reader
    /// The common part of the objects' IDs; `nil` if the home has an ID, or its objects have none.
    let family: IDFamily?
    /// The ID of the home's single object.
    let id: NSManagedObjectID?
    /// The context of the home's objects. In a home of more than one object it never changes.
    // SAFETY: set on the context's queue only, as a whole: no accesses overlap.
    @exclusivity(unchecked)
    var context: Unretained<ContextHandle>?
    /// The home of objects that leave this one. Context's queue only.
    private var left: ObjectHome?

    private init(
        layout: Unretained<EntityLayout>, places: KnownPlaces.Reader, kept: AnyObject?, family: IDFamily?,
        id: NSManagedObjectID?, context: Unretained<ContextHandle>?
    ) {
        layoutReference = layout
        self.places = places
        self.kept = kept
        self.family = family
        self.id = id
        self.context = context
    }

    /// Creates the home of a layout, which retains it.
    ///
    /// - Parameter places: The places of the properties of the layout's class.
    convenience init(of layout: EntityLayout, _ places: KnownPlaces.Reader) {
        self.init(
            layout: Unretained(layout), places: places, kept: nil, family: nil, id: nil, context: nil)
    }

    /// Creates the home of a context's objects with IDs of that family.
    ///
    /// - Parameter earlier: The home from which objects move to this one when they are saved, if any.
    convenience init(
        of family: IDFamily, _ layout: EntityLayout, after earlier: ObjectHome?,
        in context: Unretained<ContextHandle>
    ) {
        self.init(
            layout: Unretained(layout), places: layout.withTraits { $0.knownPlaces.reader },
            kept: earlier ?? layout, family: family, id: nil, context: context)
    }

    /// Creates the home of a single object that has an ID and was at `home`.
    convenience init(for id: NSManagedObjectID, from home: ObjectHome) {
        self.init(
            layout: home.layoutReference, places: home.places, kept: home.isOfLayout ? home.layout : home, family: nil,
            id: id, context: home.context)
    }

    private var isOfLayout: Bool { kept == nil }

    private var entityReference: Unretained<NSEntityDescription> { layoutReference.with(\.entityReference) }

    @inline(__always)
    var layout: EntityLayout { layoutReference.with { $0 } }

    /// Passes the layout without reference counting.
    @inline(__always)
    func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
        try layoutReference.with(body)
    }

    /// The home of objects that leave the context.
    var homeOutside: ObjectHome {
        if let left { return left }
        let made = ObjectHome(
            layout: layoutReference, places: places, kept: self, family: family, id: nil, context: nil)
        left = made
        return made
    }

    /// Releases the home outside: no object leaves this home any more. Objects that already left keep it alive.
    func forgetHomeOutside() { left = nil }

    // MARK: References to homes

    /// An object's reference to its home: the home's address, and a bit that is set if the object owns a share.
    struct Word: Equatable {
        let bits: UInt

        private static var owned: UInt { 1 }

        /// The object's home is being replaced.
        static var changing: Word { Word(bits: 0) }

        @inline(__always)
        init(bits: UInt) { self.bits = bits }

        /// Refers to a home that the context owns.
        @inline(__always)
        init(keptByContext home: ObjectHome) { bits = UInt(bitPattern: Unretained(home).address) }

        /// Takes a share in a home, to be released with ``release()``.
        @inline(__always)
        init(owning home: ObjectHome) {
            if home.isOfLayout { home.entityReference.retain() } else { Unretained(home).retain() }
            bits = UInt(bitPattern: Unretained(home).address) | Self.owned
        }

        /// Takes a share in the home of an entity's layout. The share is one in the entity, which keeps the layout: an
        /// object may outlive its model.
        @inline(__always)
        init(of entity: NSEntityDescription) {
            let home = entity.withLayout { $0.withTraits { Unretained($0.home) } }
            Unretained(entity).retain()
            bits = UInt(bitPattern: home.address) | Self.owned
        }

        @inline(__always)
        var isOwned: Bool { bits & Self.owned != 0 }

        /// The home; `nil` while it is being replaced.
        @inline(__always)
        var home: Unretained<ObjectHome>? {
            UnsafeRawPointer(bitPattern: bits & ~Self.owned).map { Unretained(address: $0) }
        }

        @inline(__always)
        func release() {
            guard isOwned, let home else { return }
            let entity = home.with { $0.isOfLayout ? $0.entityReference : nil }
            if let entity { entity.release() } else { home.release() }
        }
    }
}
