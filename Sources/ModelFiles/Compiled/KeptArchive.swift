/// The unknown parts that a reader kept of an archived object, converted for the archive that is written.
struct KeptArchive {
    private let parts: ArchivedParts
    /// The references in the archive to the objects of the parts.
    private let references: [PropertyListValue]

    init(_ parts: ArchivedParts, references: [PropertyListValue]) {
        self.parts = parts
        self.references = references
    }

    /// Adds the kept keys, except those that the writer sets itself.
    func add(to fields: inout [String: PropertyListValue], without others: Set<String> = []) {
        for (key, value) in parts.fields where !others.contains(key) {
            if let own = fields[key], own != .reference(0) { continue }
            fields[key] = self.value(value)
        }
    }

    /// Sets all kept keys, overwriting values that the writer set.
    func replace(in fields: inout [String: PropertyListValue]) {
        for (key, value) in parts.fields { fields[key] = self.value(value) }
    }

    /// The kept elements of an array.
    func elements(of key: String) -> [PropertyListValue] { (parts.elements[key] ?? []).map { value($0.value) } }

    /// The kept entries of a dictionary.
    func entries(of key: String) -> [(key: PropertyListValue, value: PropertyListValue)] {
        (parts.elements[key] ?? []).compactMap { entry in entry.key.map { (value($0), value(entry.value)) } }
    }

    /// The archived form of a predicate or an expression, if one was kept for exactly this document.
    func form(of document: ArchivedParts.Form.Document) -> PropertyListValue? {
        parts.forms.first { $0.document == document }.map { value($0.value) }
    }

    fileprivate func value(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .reference(let number): references.indices.contains(number) ? references[number] : .reference(0)
        case .array(let elements): .array(elements.map(self.value))
        case .dictionary(let fields): .dictionary(fields.mapValues(self.value))
        default: value
        }
    }
}

extension CompiledModelWriter {
    /// Writes all objects that the kept keys of an object refer to.
    mutating func kept(_ unknown: UnknownParts) -> KeptArchive {
        let parts = unknown.archived
        guard !parts.isEmpty else { return KeptArchive(ArchivedParts(), references: []) }
        let references = parts.objects.map { object in
            switch object {
            case .null: builder.null
            case .value(.string(let text)): builder.string(text)
            case .value, .object: builder.reserve()
            case .model: root
            case .entity(let name): reference(toEntity: name)
            case .property(let entity, let name): declaredProperty(named: name, in: entity) ?? builder.null
            }
        }
        let kept = KeptArchive(parts, references: references)
        for (object, reference) in zip(parts.objects, references) {
            switch object {
            case .value(.string), .null, .model, .entity, .property: continue
            case .value(let value): builder.define(reference, kept.value(value))
            case .object(let classes, let fields):
                builder.define(reference, classes, fields.mapValues(kept.value))
            }
        }
        return kept
    }

    /// Writes a predicate, in its archived form if that was kept.
    mutating func write(_ predicate: PredicateDocument, _ kept: KeptArchive) throws -> PropertyListValue {
        try kept.form(of: .predicate(predicate)) ?? write(predicate)
    }

    /// Writes an expression, in its archived form if that was kept.
    mutating func write(_ expression: ExpressionDocument, _ kept: KeptArchive) throws -> PropertyListValue {
        try kept.form(of: .expression(expression)) ?? write(expression)
    }
}
