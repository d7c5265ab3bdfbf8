/// Copies values of an archive unchanged, with all objects that they refer to.
///
/// Objects of the model (its entities and their properties) are not copied but referred to by name, so that they are
/// the same objects when the model is written.
struct ArchiveKeeping {
    private let archive: KeyedArchive
    /// The objects of the model, by number.
    private let places: [Int: ArchivedParts.Object]
    private var parts: ArchivedParts
    /// The objects of the archive that are still to be copied, with their new numbers.
    private var waiting: [(source: Int, target: Int)] = []
    private var known: [Int: Int] = [:]
    private var strings: [String: Int] = [:]
    /// The amount that was copied: objects, and one for about 64 bytes of contents.
    private(set) var cost = 0

    init(_ parts: ArchivedParts, of archive: KeyedArchive, places: [Int: ArchivedParts.Object]) {
        self.parts = parts
        self.archive = archive
        self.places = places
    }

    /// The value with references to the objects of the parts.
    mutating func keep(_ value: PropertyListValue) -> PropertyListValue {
        let result = translated(value)
        // A loop instead of recursion, since a chain of references may be long.
        while let (source, target) = waiting.popLast() { parts.objects[target] = object(source) }
        return result
    }

    func finish() -> ArchivedParts { parts }

    private mutating func translated(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .reference(let number): return .reference(target(of: number))
        case .array(let elements):
            cost += elements.count
            return .array(elements.map { translated($0) })
        case .dictionary(let fields):
            cost += fields.count
            return .dictionary(translated(fields))
        case .data(let data):
            cost += data.count / 64
            return value
        case .string(let text):
            cost += text.utf8.count / 64
            return value
        case .boolean, .integer, .real, .date: return value
        }
    }

    /// The new number of an object. Equal texts share one object, as in archives, and so do all references to nothing.
    private mutating func target(of number: Int) -> Int {
        let number = archive.resolve(.reference(number)) == nil ? 0 : number
        if let target = known[number] { return target }
        let target = parts.objects.count
        if case .string(let text) = archive.resolve(.reference(number)) {
            if let same = strings[text] { return same }
            strings[text] = target
        }
        known[number] = target
        parts.objects.append(.null)
        waiting.append((number, target))
        cost += 1
        return target
    }

    /// Translates the fields in the order of their keys, so that the same archive always results in the same object
    /// numbers.
    private mutating func translated(_ fields: [String: PropertyListValue]) -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) { result[key] = translated(value) }
        return result
    }

    private mutating func object(_ number: Int) -> ArchivedParts.Object {
        if let place = places[number] { return place }
        let reference = PropertyListValue.reference(number)
        guard let value = archive.resolve(reference) else { return .null }
        guard case .dictionary = value else { return .value(translated(value)) }
        guard let object = archive.object(reference) else { return .null }
        var fields = object.fields
        fields["$class"] = nil
        return .object(classes: archive.classes(of: object), fields: translated(fields))
    }
}

extension CompiledModelReader {
    /// The objects of the archive that belong to the model itself.
    static func places(
        of entities: [(name: String, object: KeyedArchive.Object)], root: PropertyListValue, in archive: KeyedArchive
    ) -> [Int: ArchivedParts.Object] {
        var places: [Int: ArchivedParts.Object] = [:]
        if case .reference(let number) = root { places[number] = .model }
        for (name, object) in entities {
            places[object.number] = .entity(name)
            for entry in archive.entries(object.fields["NSProperties"]) ?? [] {
                guard case .reference(let number) = entry.value, let property = archive.text(entry.key) else {
                    continue
                }
                places[number] = places[number] ?? .property(entity: name, name: property)
            }
        }
        return places
    }

    /// Stores values of the archive in the unknown parts of an object.
    mutating func keep(
        in unknown: inout UnknownParts, _ body: (inout ArchiveKeeping, inout ArchivedParts) -> Void
    ) throws {
        var keeping = ArchiveKeeping(unknown.archived, of: archive, places: places)
        var added = ArchivedParts()
        body(&keeping, &added)
        try spend(keeping.cost)
        unknown.archived = keeping.finish()
        unknown.archived.fields.merge(added.fields) { $1 }
        unknown.archived.elements.merge(added.elements) { $0 + $1 }
        unknown.archived.forms += added.forms
    }

    /// Stores the value of a key.
    mutating func keepField(_ key: String, of object: KeyedArchive.Object, in unknown: inout UnknownParts) throws {
        guard let value = object.fields[key] else { return }
        try keep(in: &unknown) { keeping, parts in parts.fields[key] = keeping.keep(value) }
    }

    /// Stores an element of the collection under a key.
    mutating func keepElement(
        _ value: PropertyListValue, under elementKey: PropertyListValue? = nil, of key: String,
        in unknown: inout UnknownParts
    ) throws {
        try keep(in: &unknown) { keeping, parts in
            let kept = elementKey.map { keeping.keep($0) }
            parts.elements[key, default: []].append(ArchivedParts.Element(key: kept, value: keeping.keep(value)))
        }
    }
}
