import CoreData
import Foundation

/// Name of a record, for programs and for people.
enum RecordLabel {
    /// The value by which other records name this one: its unique key, or else its URI; `new Entity` for an unsaved
    /// record without a key.
    static func reference(to object: NSManagedObject) -> JSONValue {
        if let key = UniqueKey(of: object.entity)?.single {
            let value = ValueText.json(object.value(forKey: key.name), of: key)
            if value != .null { return value }
        }
        return .string(object.objectID.isTemporaryID ? short(object) : uri(of: object))
    }

    /// The unique key's value, or else `Entity/p12`.
    static func shown(_ object: NSManagedObject) -> String {
        guard let key = UniqueKey(of: object.entity) else { return short(object) }
        let texts = key.attributes.map { ValueText.shown(object.value(forKey: $0.name), of: $0) }
        let text = texts.filter { !$0.isEmpty }.joined(separator: " ")
        return text.isEmpty ? short(object) : text
    }

    /// `Entity/p12`; `new Entity` for an unsaved record.
    static func short(_ object: NSManagedObject) -> String {
        let name = object.entity.name ?? "?"
        if object.objectID.isTemporaryID { return "new \(name)" }
        return name + "/" + object.objectID.uriRepresentation().lastPathComponent
    }

    static func uri(of object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }
}
