import CoreData

/// How a server keeps one derived attribute.
///
/// What the database can work out is kept by triggers (``ServerDerivedText``), also of rows that other programs write. Texts
/// without case or diacritics are not among it, since its functions are not those of memory: they are written by the client
/// that saves the text they are made of, into the derived attribute's own column or, where that is another row's, into a column
/// beside the text, which the triggers copy.
struct ServerDerivation {
    enum Source {
        /// The value of a column at the end of the hops.
        case value(NSAttributeDescription)
        /// What the functions make of a text at the end of the hops, one after the other.
        case text(NSAttributeDescription, [TextFunction])
        case count
        case sum(NSAttributeDescription)
        /// The time of the save.
        case now
    }

    let attribute: NSDerivedAttributeDescription
    let entity: NSEntityDescription
    let hops: [NSRelationshipDescription]
    let source: Source

    /// - Throws: 134060 for an expression that cannot be derived.
    init(_ derivation: Derivation) throws {
        attribute = derivation.attribute
        entity = derivation.entity
        switch derivation.source {
        case .count: (hops, source) = (derivation.hops, .count)
        case .sum(let end): (hops, source) = (derivation.hops, .sum(end))
        case .now: (hops, source) = ([], .now)
        case .value(let end, nil): (hops, source) = (derivation.hops, .value(end))
        case .value(let end, let function?): (hops, source) = try Self.text(derivation, end, function)
        }
    }

    /// A text that is derived itself is followed to the one that is written.
    private static func text(
        _ derivation: Derivation, _ end: NSAttributeDescription, _ function: TextFunction
    ) throws -> ([NSRelationshipDescription], Source) {
        var (hops, functions, text) = (derivation.hops, [function], end)
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(derivation.attribute)]
        while let derived = text as? NSDerivedAttributeDescription, let owner = derived.owningEntity {
            let inner = try Derivation(derived, of: owner)
            guard seen.insert(ObjectIdentifier(derived)).inserted, case .value(let next, let before) = inner.source
            else {
                throw CoreDataError.make(
                    134060,
                    "The derived attribute \(derivation.entity.name ?? "").\(derivation.attribute.name) cannot be kept: "
                        + "it is derived from itself.")
            }
            hops += inner.hops
            if let before { functions.insert(before, at: 0) }
            text = next
        }
        return (hops, .text(text, functions))
    }

    /// What the attribute is made of, where who saves the row writes it.
    var written: (text: NSAttributeDescription, functions: [TextFunction])? {
        if case .text(let text, let functions) = source, hops.isEmpty { (text, functions) } else { nil }
    }

    /// Whether triggers keep it in line with other values.
    var isKept: Bool {
        if case .now = source { return false }
        return written == nil
    }
}

/// The derived attributes of a store.
struct ServerDerivations {
    /// By entity and name.
    let all: [ServerDerivation]
    private let places: [ObjectIdentifier: Int]
    private let texts: [ObjectIdentifier: [[TextFunction]]]

    /// - Throws: 134060 for an attribute that cannot be derived, or not from what this store has.
    init(_ entities: [NSEntityDescription]) throws {
        let known = Set(entities.map(ObjectIdentifier.init))
        all = try entities.flatMap { entity in
            try Derivation.all(of: entity).map { derivation in
                let made = try ServerDerivation(derivation)
                for case let far? in made.hops.map(\.destinationEntity) where !known.contains(ObjectIdentifier(far)) {
                    throw CoreDataError.make(
                        134060,
                        "The derived attribute \(entity.name ?? "").\(made.attribute.name) cannot be kept: "
                            + "\(far.name ?? "") is not in the store's configuration.")
                }
                return made
            }
        }
        places = Dictionary(
            all.enumerated().map { (ObjectIdentifier($0.element.attribute), $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var texts: [ObjectIdentifier: [[TextFunction]]] = [:]
        for derivation in all where derivation.isKept {
            guard case .text(let text, let functions) = derivation.source else { continue }
            let id = ObjectIdentifier(text)
            if texts[id]?.contains(functions) != true { texts[id, default: []].append(functions) }
        }
        self.texts = texts
    }

    subscript(attribute: NSAttributeDescription) -> ServerDerivation? {
        places[ObjectIdentifier(attribute)].map { all[$0] }
    }

    /// What is made of a text for other rows: each in a column beside it.
    func texts(beside attribute: NSAttributeDescription) -> [[TextFunction]] {
        texts[ObjectIdentifier(attribute)] ?? []
    }
}

/// A text that functions made of another, and from which.
struct ServerTextKey: Hashable {
    let text: ObjectIdentifier
    let functions: [TextFunction]
}

extension [TextFunction] {
    /// What the functions make of a column's value, one after the other.
    func applied(to value: SQLValue) -> SQLValue {
        guard case .text(var text) = value else { return .null }
        for function in self {
            guard case .text(let next) = function.apply(to: text) else { return .null }
            text = next
        }
        return .text(text)
    }

    /// As they are called in a name.
    var name: String { map { "\($0)" }.joined(separator: "_") }
}
