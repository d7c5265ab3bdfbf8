import CoreData
import Foundation

/// `show`: prints one record with its relationships.
public struct ShowCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// A URI, `Entity/p12` or `Entity:KEY`.
    public var object: String
    /// The only value to print, as a key path; `nil` for the whole record.
    public var keyPath: String?
    /// True to print the bytes of the value and nothing else.
    public var isRaw: Bool
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, object: String, keyPath: String? = nil, isRaw: Bool = false, format: OutputFormat = .table
    ) {
        self.store = store
        self.object = object
        self.keyPath = keyPath
        self.isRaw = isRaw
        self.format = format
    }

    /// - Throws: ``CommandError``, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        try session.perform {
            let object = try ObjectReference.object(named: object, in: session)
            if let keyPath {
                try writeValue(at: keyPath, of: object, in: surroundings)
            } else if format == .table {
                try writeSheet(of: object, in: surroundings)
            } else {
                let entity = object.entity
                let names =
                    [RecordColumn.objectName] + entity.storedAttributes.map(\.name)
                    + entity.storedRelationships.map(\.name)
                var writer = format.writer(try ColumnChoice.named(names, of: entity), in: surroundings)
                try writer.record(object)
                try writer.end()
            }
        }
        session.tellNotes(in: surroundings)
        try surroundings.output.flush()
    }

    private func writeValue(
        at keyPath: String, of object: NSManagedObject, in surroundings: CommandSurroundings
    ) throws {
        guard isRaw else {
            let column = try RecordColumn(keyPath, of: object.entity)
            let text = format == .json ? column.json(of: object).text : column.shown(of: object)
            return try surroundings.output.write((format == .json ? text : VisibleText.shown(text)) + "\n")
        }
        let attribute = try EntityKeys.attribute(at: keyPath, of: object.entity, for: "print the bytes of")
        guard let value = object.value(forKeyPath: keyPath) else {
            throw CommandError.failure("“\(keyPath)” of \(RecordLabel.short(object)) has no value")
        }
        if let data = value as? Data { return try surroundings.output.write(bytes: data) }
        try surroundings.output.write(ValueText.text(of: ValueText.json(value, of: attribute)))
    }

    /// A line for each property, and one for each destination of a to-many relationship.
    private func writeSheet(of object: NSManagedObject, in surroundings: CommandSurroundings) throws {
        let (style, output) = (surroundings.textStyle, surroundings.output)
        let entity = object.entity
        let names = entity.storedAttributes.map(\.name) + entity.storedRelationships.map(\.name)
        let width = names.map(style.width).max() ?? 0
        func line(_ name: String, _ text: String) throws {
            let space = String(repeating: " ", count: width - style.width(name))
            try output.write("\(name.isEmpty ? "" : style.dim(name))\(space)  \(VisibleText.shown(text))\n")
        }
        try output.write(style.bold(VisibleText.shown(RecordLabel.shown(object))) + "  ")
        try output.write(style.dim(RecordLabel.uri(of: object)) + "\n")
        for attribute in entity.storedAttributes {
            try line(attribute.name, Self.value(of: attribute, object))
        }
        for relationship in entity.storedRelationships {
            if relationship.isToMany {
                let labels = RecordColumn.destinations(relationship, of: object).map(Self.label)
                let name = relationship.destinationEntity?.name ?? "record"
                try line(relationship.name, "\(labels.count) \(labels.count == 1 ? name : EnglishPlural.of(name))")
                for label in labels { try line("", "→ " + label) }
            } else {
                let destination = object.value(forKey: relationship.name) as? NSManagedObject
                try line(relationship.name, destination.map { "→ " + Self.label($0) } ?? "")
            }
        }
    }

    /// The value's text; the stored form if the value cannot be decoded.
    private static func value(of attribute: NSAttributeDescription, _ object: NSManagedObject) throws -> String {
        let value = object.value(forKey: attribute.name)
        if value == nil, attribute.attributeType == .transformableAttributeType,
            let coordinator = object.managedObjectContext?.persistentStoreCoordinator,
            let text = try coordinator.storedValueDescription(forKey: attribute.name, of: object.objectID)
        {
            return VisibleText.shown(text)
        }
        return ValueText.shown(value, of: attribute)
    }

    private static func label(_ object: NSManagedObject) -> String {
        let (shown, short) = (RecordLabel.shown(object), RecordLabel.short(object))
        return shown == short ? short : "\(shown) (\(short))"
    }
}
