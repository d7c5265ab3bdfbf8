import Foundation
import ModelFiles

/// Reads and writes mapping models. Errors are `CocoaError`s with a one-line message that names the file and the
/// problem.
enum MappingFile {
    /// The mapping models among the resources of `bundles`, compiled or source; `nil` means those of the program.
    static func files(in bundles: [Bundle]?) -> [URL] {
        let folders = bundles?.compactMap(\.resourceURL) ?? ModelResources.mainFolders
        var seen: Set<String> = []
        return folders.filter { seen.insert($0.resolvingSymlinksInPath().path).inserted }.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
                .map { folder.appendingPathComponent($0) }
                .filter { ["cdm", "xcmappingmodel"].contains($0.pathExtension) }
        }
    }

    /// The mappings of the first file that covers all entities of both models, or the error of an unreadable compiled
    /// file.
    static func search(
        _ bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> (mappings: [NSEntityMapping]?, failure: (any Error)?) {
        var failure: (any Error)?
        for url in files(in: bundles) {
            do {
                let mappings = try mappings(at: url)
                if MappingFit(from: source, to: destination).isExact(mappings) { return (mappings, nil) }
            } catch {
                // A source may refer to models that are not installed with the program, so its error is ignored.
                if url.pathExtension == "cdm" { failure = failure ?? error }
            }
        }
        return (nil, failure)
    }

    /// Reads the entity mappings of a mapping model file.
    ///
    /// - Parameter models: the models of a source mapping model; `nil` uses those that it contains or names.
    static func mappings(
        at url: URL, between models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)? = nil
    ) throws -> [NSEntityMapping] {
        let models = try models.map {
            (
                source: try ModelLoading.document(of: $0.source),
                destination: try ModelLoading.document(of: $0.destination)
            )
        }
        let isSource = ["xcmappingmodel", "xml"].contains(url.pathExtension)
        let documents = try ModelLoading.translatingErrors {
            try isSource ? SourceMappingReader.read(url, between: models) : CompiledMappingReader.read(url)
        }
        return try documents.map { try entity($0, url) }
    }

    static func write(_ mappings: [NSEntityMapping], to url: URL) throws {
        guard url.pathExtension != "xcmappingmodel" else {
            throw CoreDataError.make(
                134060,
                "Cannot write the mapping model \(url.path) without its models. Use writeSource, which takes both models."
            )
        }
        let documents = try documents(mappings, url)
        try ModelLoading.translatingErrors { try CompiledMappingWriter.write(documents, to: url) }
    }

    static func writeSource(
        _ mappings: [NSEntityMapping], between source: NSManagedObjectModel, and destination: NSManagedObjectModel,
        to url: URL
    ) throws {
        guard url.pathExtension == "xcmappingmodel" else {
            throw CoreDataError.make(
                134060, "Cannot write the mapping model \(url.path): the name does not end in .xcmappingmodel.")
        }
        let documents = try documents(mappings, url)
        let models = SourceMappingWriter.Models(
            source: try ModelLoading.document(of: source), destination: try ModelLoading.document(of: destination))
        try ModelLoading.translatingErrors { try SourceMappingWriter.write(documents, between: models, to: url) }
    }

    private static func documents(_ mappings: [NSEntityMapping], _ url: URL) throws -> [EntityMappingDocument] {
        do { return try mappings.map(document) } catch let failure as PredicateTranslation.Failure {
            throw CoreDataError.make(134060, "Cannot write the mapping model \(url.path): \(failure.description).")
        }
    }

    // MARK: From files

    private static func entity(_ document: EntityMappingDocument, _ url: URL) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = document.name
        mapping.mappingType = NSEntityMappingType(rawValue: document.type) ?? .undefinedEntityMappingType
        mapping.sourceEntityName = document.sourceName
        mapping.destinationEntityName = document.destinationName
        mapping.sourceEntityVersionHash = document.sourceHash
        mapping.destinationEntityVersionHash = document.destinationHash
        mapping.entityMigrationPolicyClassName = document.policyClassName
        mapping.sourceExpression = try document.source.map { try expression($0, url, document.name) }
        mapping.attributeMappings = try document.attributes.map { try property($0, url) }
        mapping.relationshipMappings = try document.relationships.map { try property($0, url) }
        mapping.userInfo = document.userInfo.isEmpty ? nil : ModelValue.userInfo(document.userInfo)
        return mapping
    }

    private static func property(_ document: PropertyMappingDocument, _ url: URL) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = document.name
        mapping.valueExpression = try document.value.map { try expression($0, url, document.name) }
        mapping.userInfo = document.userInfo.isEmpty ? nil : ModelValue.userInfo(document.userInfo)
        return mapping
    }

    private static func expression(
        _ document: ExpressionDocument, _ url: URL, _ owner: String
    ) throws -> NSExpression {
        do {
            return NSExpression(try PredicateTranslation.tree(document))
        } catch {
            throw CoreDataError.make(
                259, "\(url.path): cannot read an expression of '\(owner)': \(error.description).",
                userInfo: [NSFilePathErrorKey: url.path])
        }
    }

    // MARK: To files

    private static func document(_ mapping: NSEntityMapping) throws -> EntityMappingDocument {
        var document = EntityMappingDocument(name: mapping.name)
        document.type = mapping.mappingType.rawValue
        document.sourceName = mapping.sourceEntityName
        document.destinationName = mapping.destinationEntityName
        document.sourceHash = mapping.sourceEntityVersionHash
        document.destinationHash = mapping.destinationEntityVersionHash
        document.policyClassName = mapping.entityMigrationPolicyClassName
        document.source = try mapping.sourceExpression.map { try PredicateTranslation.document($0.tree) }
        document.attributes = try (mapping.attributeMappings ?? []).map(self.document)
        document.relationships = try (mapping.relationshipMappings ?? []).map(self.document)
        document.userInfo = ModelValue.document(userInfo: mapping.userInfo)
        return document
    }

    private static func document(_ mapping: NSPropertyMapping) throws -> PropertyMappingDocument {
        var document = PropertyMappingDocument(name: mapping.name ?? "")
        document.value = try mapping.valueExpression.map { try PredicateTranslation.document($0.tree) }
        document.userInfo = ModelValue.document(userInfo: mapping.userInfo)
        return document
    }
}
