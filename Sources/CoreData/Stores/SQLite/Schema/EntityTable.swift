/// The table of a root entity and its descendants.
struct EntityTable {
    let name: String
    /// The root and its descendants, sorted by number.
    let entities: [NSEntityDescription]
    /// The table's columns except `Z_PK`, `Z_ENT` and `Z_OPT`, in the order of Apple's framework.
    let columns: [TableColumn]

    var root: NSEntityDescription { entities[0] }
}

/// One column of an entity table.
struct TableColumn {
    /// The contents of the column.
    enum Content {
        /// The value of an attribute.
        case attribute(NSAttributeDescription)
        /// One value of a composite attribute.
        case element(NSCompositeAttributeDescription, NSCompositeAttributeDescription.Leaf)
        /// The `Z_PK` of a to-one relationship's destination.
        case toOne(NSRelationshipDescription)
        /// The `Z_ENT` of a to-one relationship's destination, if the destination can have several entities.
        case destinationEntity(NSRelationshipDescription)
        /// The row's position in the ordered inverse of a to-one relationship.
        case position(NSRelationshipDescription)
        /// The `Z_PK` of the owner of a to-many relationship without an inverse.
        case owner(NSRelationshipDescription)
        /// The row's position in its owner's ordered relationship without an inverse.
        case ownerPosition(NSRelationshipDescription)
    }

    let name: String
    let content: Content
    /// The entity that the column belongs to.
    let entity: NSEntityDescription

    /// The type in `CREATE TABLE`, from which SQLite derives the affinity.
    var declaredType: String {
        attribute.map { ValueCoding($0)?.declaredType ?? "BLOB" } ?? "INTEGER"
    }

    /// The property of the column.
    var property: NSPropertyDescription {
        switch content {
        case .attribute(let attribute): attribute
        case .element(let composite, _): composite
        case .toOne(let relationship), .destinationEntity(let relationship), .position(let relationship),
            .owner(let relationship), .ownerPosition(let relationship):
            relationship
        }
    }

    /// The attribute of the column's values; `nil` for other columns.
    var attribute: NSAttributeDescription? {
        switch content {
        case .attribute(let attribute): attribute
        case .element(_, let leaf): leaf.attribute
        default: nil
        }
    }
}

extension ValueCoding {
    var declaredType: String {
        switch self {
        case .integer, .reference: "INTEGER"
        case .real: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .text: "VARCHAR"
        case .data, .externalData, .uuid, .transformable, .composite: "BLOB"
        }
    }
}
