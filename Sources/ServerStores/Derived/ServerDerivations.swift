import CoreData

/// The way in which a server keeps one derived attribute up to date.
///
/// Triggers update the values that the database can compute (``ServerDerivedText``), also for rows that other programs
/// write. Texts without case or diacritics are different, because the database's functions differ from those in memory.
/// The client that saves the source text writes them, into the derived attribute's own column, or, if that is in
/// another row, into a column of the text's row, which the triggers copy.
struct ServerDerivation {
    enum Source {
        /// The value of a column at the end of the hops.
        case value(NSAttributeDescription)
        /// The result of applying the functions in order to a text at the end of the hops.
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

    /// Returns the relationships that lead to the text, and the text with its functions. A text that is itself derived
    /// is replaced by its own source.
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
                    "Cannot maintain the derived attribute \(derivation.entity.name ?? "").\(derivation.attribute.name): "
                        + "it is derived from itself.")
            }
            hops += inner.hops
            if let before { functions.insert(before, at: 0) }
            text = next
        }
        return (hops, .text(text, functions))
    }

    /// The source text and functions, if the client that saves the row writes the attribute.
    var written: (text: NSAttributeDescription, functions: [TextFunction])? {
        if case .text(let text, let functions) = source, hops.isEmpty { (text, functions) } else { nil }
    }

    /// True if triggers keep it consistent with other values.
    var isKept: Bool {
        if case .now = source { return false }
        return written == nil
    }
}

/// The derived attributes of a store.
struct ServerDerivations {
    /// Sorted by entity and name.
    let all: [ServerDerivation]
    private let places: [ObjectIdentifier: Int]
    private let texts: [ObjectIdentifier: [[TextFunction]]]

    /// - Throws: 134060 for an attribute that cannot be derived, or not within this store.
    init(_ entities: [NSEntityDescription]) throws {
        let known = Set(entities.map(ObjectIdentifier.init))
        all = try entities.flatMap { entity in
            try Derivation.all(of: entity).map { derivation in
                let made = try ServerDerivation(derivation)
                for case let far? in made.hops.map(\.destinationEntity) where !known.contains(ObjectIdentifier(far)) {
                    throw CoreDataError.make(
                        134060,
                        "Cannot maintain the derived attribute \(entity.name ?? "").\(made.attribute.name): "
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

    /// Returns the functions whose results are stored in columns next to a text, for other rows.
    func texts(beside attribute: NSAttributeDescription) -> [[TextFunction]] {
        texts[ObjectIdentifier(attribute)] ?? []
    }
}

/// The key for a text with functions applied.
struct ServerTextKey: Hashable {
    let text: ObjectIdentifier
    let functions: [TextFunction]
}

extension [TextFunction] {
    /// Applies the functions in order to a column's value.
    func applied(to value: SQLValue) -> SQLValue {
        guard case .text(var text) = value else { return .null }
        for function in self {
            guard case .text(let next) = function.apply(to: text) else { return .null }
            text = next
        }
        return .text(text)
    }

    /// The functions as part of a name.
    var name: String { map { "\($0)" }.joined(separator: "_") }
}
