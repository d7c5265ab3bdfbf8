import Foundation

/// Writes compiled models: the keyed archive of a `.mom` file, or the one in a store.
///
/// The structure has the same keys as Apple's archives. In a store every entity also has copies of its inherited
/// properties, and named fetch requests are omitted. No known archive contains composite attributes, the operators
/// BETWEEN, LIKE and MATCHES, or substring operators; the names of their classes are from public descriptions.
package struct CompiledModelWriter {
    package enum Form: Sendable {
        /// A `.mom` file.
        case file
        /// `Z_MODELCACHE` of a store, before compression.
        case store
    }

    let model: ModelDocument
    let form: Form
    /// The entities of the model by name; the first of several with the same name.
    let documents: [String: EntityDocument]
    /// The children of each entity by its name.
    let subentities: [String: [EntityDocument]]
    /// The results of ``allProperties(of:)`` by the entity's name.
    private var knownProperties: [String: [PropertyDocument]] = [:]
    var builder = KeyedArchiveBuilder()
    /// The reference of the model.
    private(set) var root = PropertyListValue.reference(0)
    /// The references of the entities, by name.
    var entities: [String: PropertyListValue] = [:]
    /// The references of the properties, by the names of the entity and of the property; inherited copies too.
    var properties: [String: [String: PropertyListValue]] = [:]

    /// The bytes of the archive.
    ///
    /// - Throws: ``ModelFileError`` if a predicate or expression has no archived form: a format string that was never
    ///   parsed.
    package static func write(_ model: ModelDocument, form: Form) throws -> Data {
        var writer = CompiledModelWriter(model: model, form: form)
        return try writer.write()
    }

    init(model: ModelDocument, form: Form) {
        self.model = model
        self.form = form
        subentities = model.subentities
        documents = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func write() throws -> Data {
        root = builder.reserve()
        for entity in model.entities {
            entities[entity.name] = builder.reserve()
            for property in allProperties(of: entity) {
                properties[entity.name, default: [:]][property.name] = builder.reserve()
            }
        }
        for entity in model.entities { try write(entity) }
        var fields: [String: PropertyListValue] = [
            "NSEntities": entityTable(), "NSFetchRequestTemplates": builder.null,
            "NSVersionIdentifiers": versionIdentifiers(),
        ]
        let kept = kept(model.unknown)
        let keptRequests = kept.entries(of: "NSFetchRequestTemplates")
        if form == .file, !model.fetchRequests.isEmpty || !keptRequests.isEmpty {
            var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
            for request in model.fetchRequests {
                entries.append((builder.string(request.name), try write(request)))
            }
            fields["NSFetchRequestTemplates"] = builder.dictionary(entries + keptRequests, isMutable: true)
        }
        if !model.configurations.isEmpty { fields["NSConfigurations"] = configurations() }
        kept.add(to: &fields)
        builder.define(root, ["NSManagedObjectModel", "NSObject"], fields)
        return builder.finish(root: root)
    }

    /// The properties that the archive has for an entity: in a store with the inherited ones. Each parent is visited
    /// once.
    mutating func allProperties(of entity: EntityDocument) -> [PropertyDocument] {
        guard form == .store, let parent = entity.parentName.flatMap({ documents[$0] }) else {
            return entity.properties
        }
        if let known = knownProperties[entity.name] { return known }
        let all = allProperties(of: parent) + entity.properties
        knownProperties[entity.name] = all
        return all
    }

    private mutating func entityTable() -> PropertyListValue {
        let sorted = model.entities.map(\.name).sorted()
        let references = sorted.map { entities[$0] ?? builder.null }
        let keys = sorted.map { builder.string($0) }
        guard form == .store else { return builder.dictionary(Array(zip(keys, references)), isMutable: true) }
        let keyArray = builder.array(keys)
        let valueArray = builder.array(references)
        let mapping = builder.object(
            ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            ["keys": keyArray, "length": .integer(Int64(keys.count)), "version": .integer(1)])
        let token = builder.string("__empty_slot_token_4c24_98dc_ac1e_b773__")
        return builder.object(
            ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
            ["values": valueArray, "searchMapping": mapping, "emptyToken": token, "version": .integer(1)])
    }

    private mutating func versionIdentifiers() -> PropertyListValue {
        let identifiers = model.versionIdentifiers.map { builder.string($0) }
        return builder.set(identifiers)
    }

    private mutating func configurations() -> PropertyListValue {
        var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
        for configuration in model.configurations {
            let members = builder.set(configuration.entityNames.compactMap { entities[$0] })
            entries.append((builder.string(configuration.name), members))
        }
        return builder.dictionary(entries, isMutable: true)
    }

    func reference(toEntity name: String?) -> PropertyListValue { name.flatMap { entities[$0] } ?? builder.null }
}
