import CoreData
import Foundation

/// The attributes by whose values a person tells the records of an entity apart: those by which it is imported.
struct UniqueKey {
    let attributes: [NSAttributeDescription]

    /// `nil` when neither the entity nor its parents have a constraint of attributes only, or name one in their user info.
    init?(of entity: NSEntityDescription) {
        let attributes = entity.importKey
        if attributes.isEmpty { return nil }
        self.attributes = attributes
    }

    /// The key's attribute, when it is only one: then its value alone names a record.
    var single: NSAttributeDescription? { attributes.count == 1 ? attributes[0] : nil }

    /// The key of a record, as a text that is equal for equal keys; `nil` where a part is missing or NULL.
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
