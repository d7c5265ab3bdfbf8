import Foundation

/// Reads compiled models: the keyed archive of a `.mom` file, and the one in a store.
///
/// The two are almost the same: in a store every entity also has the inherited properties, either as copies or as
/// proxies; they are omitted here. Unknown keys and classes are noted and kept, to be written back; a missing part that
/// the model needs is an error.
package struct CompiledModelReader {
    let archive: KeyedArchive
    let file: String
    var notes: [ModelNote] = []

    /// The keys that were noted as unknown.
    var unknownKeys: Set<String> = []

    /// The number of parts of predicates and expressions with an unknown key.
    var unknownSyntaxCount = 0

    /// The objects of the archive that belong to the model itself, by number. Computed when something is kept for the
    /// first time.
    private(set) lazy var places = Self.places(of: modelEntities, root: archive.root, in: archive)
    private var modelEntities: [(name: String, object: KeyedArchive.Object)] = []

    /// The number of values, predicates and expressions that may still be read. They are trees in the model but may
    /// share parts in the archive, so a small file could expand to a huge tree. A large archive gets a few for each of
    /// its objects.
    private var allowance: Int

    /// The names of the properties of entities and their ancestors, by the number of the entity.
    var propertyNames: [Int: Set<String>] = [:]

    /// Reads the bytes of a `.mom` file.
    ///
    /// - Parameter file: The path for messages.
    /// - Throws: ``ModelFileError``.
    package static func read(_ data: Data, file: String) throws -> (model: ModelDocument, notes: [ModelNote]) {
        let archive: KeyedArchive
        do {
            archive = try KeyedArchive(data)
        } catch let error as PropertyListError {
            let text = error.offset.map { "the compiled model is damaged: \(error.reason) (at byte \($0))" }
            throw ModelFileError(.malformed, file: file, text ?? "this is not a compiled model: \(error.reason)")
        }
        var reader = CompiledModelReader(archive: archive, file: file)
        let model = try reader.readModel()
        if let problem = ModelProblems.find(in: model).first {
            throw ModelFileError(.malformed, file: file, problem.reason)
        }
        return (model, reader.notes)
    }

    init(archive: KeyedArchive, file: String) {
        self.archive = archive
        self.file = file
        allowance = max(500_000, archive.objectCount * 4)
    }

    func error(_ reason: String) -> ModelFileError { ModelFileError(.malformed, file: file, reason) }

    mutating func note(_ text: String) { notes.append(ModelNote(text)) }

    /// Reduces the number of values that may be read.
    mutating func spend(_ count: Int = 1) throws {
        allowance -= count
        if allowance < 0 { throw error("the model has too many values: it is damaged") }
    }

    private mutating func readModel() throws -> ModelDocument {
        guard let root = archive.object(archive.root) else { throw error("the keyed archive has no root object") }
        guard root.className == "NSManagedObjectModel" else {
            throw error("the archive contains an object of the class \(root.className), not a model")
        }
        guard let entries = archive.entries(root.fields["NSEntities"]) else { throw error("the model has no entities") }
        var objects: [(name: String, object: KeyedArchive.Object)] = []
        for entry in entries {
            guard let object = archive.object(entry.value), object.className == "NSEntityDescription" else {
                throw error("an entity of the model is not an entity description")
            }
            guard let name = archive.text(object.fields["NSEntityName"]) else { throw error("an entity has no name") }
            objects.append((name, object))
        }
        objects.sort { $0.name < $1.name }
        modelEntities = objects
        var model = ModelDocument()
        model.unknown = try unknownParts(of: root)
        for (_, object) in objects { model.entities.append(try readEntity(object)) }
        model.versionIdentifiers = (archive.elements(root.fields["NSVersionIdentifiers"]) ?? [])
            .compactMap { archive.text($0) }.sorted()
        model.configurations = readConfigurations(root.fields["NSConfigurations"])
        for entry in archive.entries(root.fields["NSFetchRequestTemplates"]) ?? [] {
            if let name = archive.text(entry.key), let request = try readFetchRequest(entry.value, name: name) {
                model.fetchRequests.append(request)
            } else {
                try keepElement(entry.value, under: entry.key, of: "NSFetchRequestTemplates", in: &model.unknown)
            }
        }
        model.fetchRequests.sort { $0.name < $1.name }
        return model
    }

    private func readConfigurations(_ value: PropertyListValue?) -> [ConfigurationDocument] {
        let all = (archive.entries(value) ?? []).compactMap { entry -> ConfigurationDocument? in
            guard let name = archive.text(entry.key) else { return nil }
            let members = (archive.elements(entry.value) ?? []).compactMap { member in
                archive.object(member).flatMap { archive.text($0.fields["NSEntityName"]) }
            }
            return ConfigurationDocument(name: name, entityNames: members.sorted())
        }
        return all.sorted { $0.name < $1.name }
    }
}
