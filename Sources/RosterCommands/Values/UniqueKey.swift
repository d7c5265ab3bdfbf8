import CoreData
import CoreDataImport
import Foundation

/// The attributes that identify a record of an entity: those used for imports.
struct UniqueKey {
    let attributes: [NSAttributeDescription]

    /// `nil` if the entity and its parents have no constraint of attributes only and no key in their user info.
    init?(of entity: NSEntityDescription) {
        let attributes = entity.importKey
        if attributes.isEmpty { return nil }
        self.attributes = attributes
    }

    /// The key's attribute if it is only one. Its value alone names a record.
    var single: NSAttributeDescription? { attributes.count == 1 ? attributes[0] : nil }

    /// The key of a record as a text that is equal for equal keys; `nil` if a part is missing or NULL.
    func text(of values: [Any?]) -> String? {
        var parts: [JSONValue] = []
        for (value, attribute) in zip(values, attributes) {
            guard let value else { return nil }
            parts.append(ValueText.json(value, of: attribute))
        }
        return JSONValue.array(parts).text
    }

    func text(of object: NSManagedObject) -> String? {
        text(of: attributes.map { object.value(forKey: $0.name) })
    }
}
