import Foundation

@testable import CoreData

/// Models created in code.
enum TestModel {
    /// Item (abstract: added) ← Book (title, author), Author (name, books).
    static func library() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.isAbstract = true
        item.properties = [attribute("added", .dateAttributeType)]

        let book = NSEntityDescription()
        book.name = "Book"
        let author = NSRelationshipDescription()
        author.name = "author"
        author.maxCount = 1
        let title = attribute("title", .stringAttributeType)
        book.properties = [title, author]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        ]

        let writer = NSEntityDescription()
        writer.name = "Author"
        let books = NSRelationshipDescription()
        books.name = "books"
        writer.properties = [attribute("name", .stringAttributeType), books]

        author.destinationEntity = writer
        author.inverseRelationship = books
        books.destinationEntity = book
        books.inverseRelationship = author
        item.subentities = [book]

        let model = NSManagedObjectModel()
        model.entities = [item, writer]
        return model
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }
}
