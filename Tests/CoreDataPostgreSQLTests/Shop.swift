#if PostgreSQL
    import CoreData
    import Foundation

    /// A small model for the server tests: a hierarchy, all kinds of relationships, constraints, values of deleted rows
    /// in the history, and names with a meaning in SQL.
    enum Shop {
        static func attribute(
            _ name: String, _ type: NSAttributeType, optional: Bool = true
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = optional
            return attribute
        }

        static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes
            return entity
        }

        static func relate(
            _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String,
            many: Bool = true, ordered: Bool = false, inverseMany: Bool = false,
            rule: NSDeleteRule = .nullifyDeleteRule
        ) {
            let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
            (there.name, back.name) = (name, inverse)
            (there.destinationEntity, back.destinationEntity) = (to, from)
            (there.maxCount, back.maxCount) = (many ? 0 : 1, inverseMany ? 0 : 1)
            (there.isOptional, back.isOptional) = (true, true)
            there.isOrdered = ordered
            (there.deleteRule, back.deleteRule) = (rule, .nullifyDeleteRule)
            (there.inverseRelationship, back.inverseRelationship) = (back, there)
            from.properties.append(there)
            to.properties.append(back)
        }

        /// `Shelf` with ordered goods, `Good` with unique codes and subentity `Book`, `Label` with many goods.
        static func model() -> NSManagedObjectModel {
            let shelf = entity("Shelf", [attribute("name", .stringAttributeType)])
            let code = attribute("code", .stringAttributeType)
            code.preservesValueInHistoryOnDeletion = true
            let good = entity(
                "Good",
                [
                    code, attribute("stock", .integer32AttributeType), attribute("price", .decimalAttributeType),
                    attribute("made", .dateAttributeType), attribute("id", .UUIDAttributeType),
                    attribute("sold", .booleanAttributeType), attribute("picture", .binaryDataAttributeType),
                ])
            good.uniquenessConstraints = [["code"]]
            let book = entity("Book", [attribute("title", .stringAttributeType)])
            let label = entity("Label", [attribute("text", .stringAttributeType)])
            relate(shelf, "goods", good, "shelf", ordered: true, rule: .cascadeDeleteRule)
            relate(good, "labels", label, "goods", inverseMany: true)
            good.subentities = [book]
            let index = NSFetchIndexDescription(
                name: "byStock",
                elements: [
                    NSFetchIndexElementDescription(
                        property: good.propertiesByName["stock"]!, collationType: .binary)
                ])
            good.indexes = [index]
            let model = NSManagedObjectModel()
            model.entities = [shelf, good, book, label]
            return model
        }

        /// Names that need quotes in any database.
        static func hostile() -> NSManagedObjectModel {
            let user = entity(
                "user; drop",
                [
                    attribute("select \"x\"; --", .stringAttributeType), attribute("a'b?", .integer64AttributeType),
                    // For Swift a quote followed by an accent is one character; for a database it is still a quote.
                    attribute("\"\u{301} text; '\u{301}", .stringAttributeType),
                ])
            let long = entity(
                String(repeating: "Long", count: 30) + "A",
                [
                    attribute(String(repeating: "name", count: 30) + "1", .stringAttributeType),
                    attribute(String(repeating: "name", count: 30) + "2", .stringAttributeType),
                    attribute("_id", .stringAttributeType),
                ])
            let longer = entity(
                String(repeating: "Long", count: 30) + "B", [attribute("naïve 名", .stringAttributeType)])
            let store = entity("_store", [attribute("changes", .integer16AttributeType)])
            relate(user, "group by ?", longer, "$1")
            relate(long, "table", store, "order", inverseMany: true)
            let model = NSManagedObjectModel()
            model.entities = [user, long, longer, store]
            return model
        }
    }

    extension NSManagedObjectContext {
        @discardableResult
        func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }

        func rows(_ entity: String, _ format: String? = nil, by key: String? = nil) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = format.map { NSPredicate(format: $0) }
            if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
            return try fetch(request)
        }
    }
#endif
