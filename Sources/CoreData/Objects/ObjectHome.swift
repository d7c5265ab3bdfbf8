/// What an object has in common with the other objects of its entity in its context, or outside of contexts: one word of the
/// object stands for its layout, its context and the family of its ID. A list of a million objects takes 16 MB less for it.
///
/// There are four kinds of homes:
/// - one for each layout, of the objects that no context ever had, which keep the layout and its entity;
/// - one for each context and family of IDs;
/// - one for each of these, of the objects that left the context;
/// - homes of single objects, whose ID was asked for.
///
/// A context keeps the homes of its objects, which do not count as owners: before the homes go away, all objects leave. In
/// every other home an object owns its share. Any thread may ask for an object's ID, and give it a home of its own by that;
/// so a home keeps what it took the place of, which another thread may be reading.
// SAFETY: immutable but for `context` and `left`, which only the context's queue changes.
// SAFETY: `kept`, or for the home of a layout each object's share, keeps the layout; all objects leave a context before
// its handle goes away, so `context` is not followed after. A `Word` names a home that the context keeps, or owns a share,
// released once.
final class ObjectHome: @unchecked Sendable {
    private let layoutReference: Unretained<EntityLayout>
    /// What else has to live as long: the layout or the home in whose place this one is. The home of a layout keeps nothing;
    /// its objects own shares in the layout.
    private let kept: AnyObject?
    /// Where the properties of the objects live, as far as they were asked for.
    let places: KnownPlaces.Reader
    /// What the ID of an object is made of, with its number; `nil` where it has an ID, or none.
    let family: IDFamily?
    /// The ID of the single object.
    let id: NSManagedObjectID?
    /// Changes in homes of single objects only.
    // SAFETY: set on the context's queue alone, as a whole: no accesses overlap.
    @exclusivity(unchecked)
    var context: Unretained<ContextHandle>?
    /// The home of those that leave this one. For the context's queue alone.
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

    /// The home of a layout, which keeps it.
    ///
    /// - Parameter places: Those of the layout.
    convenience init(of layout: EntityLayout, _ places: KnownPlaces.Reader) {
        self.init(
            layout: Unretained(layout), places: places, kept: nil, family: nil, id: nil, context: nil)
    }

    /// The home of a context's objects with IDs of that family.
    ///
    /// - Parameter earlier: The home from which such objects come when they are saved, if there is one.
    convenience init(
        of family: IDFamily, _ layout: EntityLayout, after earlier: ObjectHome?,
        in context: Unretained<ContextHandle>
    ) {
        self.init(
            layout: Unretained(layout), places: layout.withTraits { $0.knownPlaces.reader },
            kept: earlier ?? layout, family: family, id: nil, context: context)
    }

    /// The home of an object that is at `home` and has an ID.
    convenience init(for id: NSManagedObjectID, from home: ObjectHome) {
        self.init(
            layout: home.layoutReference, places: home.places, kept: home.isOfLayout ? home.layout : home, family: nil,
            id: id, context: home.context)
    }

    private var isOfLayout: Bool { kept == nil }

    @inline(__always)
    var layout: EntityLayout { layoutReference.with { $0 } }

    /// The layout without a count of references.
    @inline(__always)
    func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
        try layoutReference.with(body)
    }

    /// The home of those that leave the context.
    var homeOutside: ObjectHome {
        if let left { return left }
        let made = ObjectHome(
            layout: layoutReference, places: places, kept: self, family: family, id: nil, context: nil)
        left = made
        return made
    }

    /// No object leaves this home any more: the home outside goes away with the last object in it.
    func forgetHomeOutside() { left = nil }

    // MARK: In a word

    /// How an object refers to its home: the home's address, and whether the object owns a share.
    struct Word: Equatable {
        let bits: UInt

        private static var owned: UInt { 1 }

        /// The object is given another home right now.
        static var changing: Word { Word(bits: 0) }

        @inline(__always)
        init(bits: UInt) { self.bits = bits }

        /// A home that the context keeps.
        @inline(__always)
        init(keptByContext home: ObjectHome) { bits = UInt(bitPattern: Unretained(home).address) }

        /// A share in a home, to be given back with ``release()``.
        @inline(__always)
        init(owning home: ObjectHome) {
            if home.isOfLayout {
                home.layoutReference.with(Self.keepEntity(of:))
                home.layoutReference.retain()
            } else {
                Unretained(home).retain()
            }
            bits = UInt(bitPattern: Unretained(home).address) | Self.owned
        }

        /// A share in the home of a layout, for which the caller's share in the layout is taken.
        @inline(__always)
        init(of layout: consuming EntityLayout) {
            let home = layout.withTraits { Unretained($0.home) }
            Self.keepEntity(of: layout)
            _ = Unretained(retaining: consume layout)
            bits = UInt(bitPattern: home.address) | Self.owned
        }

        /// A share in a layout is one in its entity too, which a layout does not own: an object may outlive its model.
        @inline(__always)
        private static func keepEntity(of layout: EntityLayout) { Unretained(layout.entity).retain() }

        @inline(__always)
        var isOwned: Bool { bits & Self.owned != 0 }

        /// `nil` while the object is given another home.
        @inline(__always)
        var home: Unretained<ObjectHome>? {
            UnsafeRawPointer(bitPattern: bits & ~Self.owned).map { Unretained(address: $0) }
        }

        @inline(__always)
        func release() {
            guard isOwned, let home else { return }
            let layout = home.with { $0.isOfLayout ? $0.layoutReference : nil }
            guard let layout else { return home.release() }
            let entity = layout.with { Unretained($0.entity) }
            layout.release()
            entity.release()
        }
    }
}
