import CoreData

extension StoreConformance {
    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes
        return entity
    }

    private static func relate(
        _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String,
        many: Bool = true, ordered: Bool = false, inverseMany: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
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

    /// `Author` with ordered books (cascade) and an address, `Book` with tags and the subentities `Novel` and `Atlas`,
    /// `Sample` with an attribute of each type, and the entities of ``ties()``.
    package static func library() -> NSManagedObjectModel {
        let author = entity(
            "Author", [attribute("name", .stringAttributeType), attribute("born", .integer32AttributeType)])
        let address = entity("Address", [attribute("city", .stringAttributeType)])
        let book = entity(
            "Book", [attribute("title", .stringAttributeType), attribute("pages", .integer16AttributeType)])
        let novel = entity("Novel", [attribute("hero", .stringAttributeType)])
        let atlas = entity("Atlas", [attribute("maps", .integer64AttributeType)])
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        tag.uniquenessConstraints = [["name"]]
        let bytes = attribute("bytes", .binaryDataAttributeType)
        let list = attribute("list", .transformableAttributeType)
        list.valueTransformerName = "NSSecureUnarchiveFromDataTransformer"
        let sample = entity(
            "Sample",
            [
                attribute("text", .stringAttributeType), attribute("small", .integer16AttributeType),
                attribute("medium", .integer32AttributeType), attribute("large", .integer64AttributeType),
                attribute("real", .doubleAttributeType), attribute("single", .floatAttributeType),
                attribute("price", .decimalAttributeType), attribute("flag", .booleanAttributeType),
                attribute("moment", .dateAttributeType), attribute("id", .UUIDAttributeType),
                attribute("place", .URIAttributeType), bytes, list,
            ])
        relate(author, "books", book, "author", ordered: true, rule: .cascadeDeleteRule)
        relate(author, "address", address, "owner", many: false)
        relate(book, "tags", tag, "books", inverseMany: true)
        book.subentities = [novel, atlas]
        let model = NSManagedObjectModel()
        model.entities = [author, address, book, novel, atlas, tag, sample] + ties()
        return model
    }
}
