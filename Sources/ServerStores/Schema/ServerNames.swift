import CoreData
import Foundation

/// Chooses the names of tables, columns and constraints: those of the model, made unique and short enough for the
/// server.
struct ServerNames {
    /// The names of a schema's tables, indexes and sequences, which share one namespace.
    private var taken: Set<String> = [
        ServerStoreTables.store, ServerStoreTables.entities, ServerStoreTables.transactions, ServerStoreTables.changes,
    ]
    private(set) var constraints: [String: (entity: NSEntityDescription, names: [String])] = [:]

    /// The maximum length of a name in bytes.
    private static let limit = 63

    /// Returns the wanted name, or a similar one if it is taken.
    static func claim(_ wanted: String, _ taken: inout Set<String>) -> String {
        let plain = wanted.unicodeScalars.contains("\0") ? wanted.split(separator: "\0").joined(separator: "_") : wanted
        var name = cut(plain, to: limit)
        var number = 1
        while !taken.insert(name).inserted {
            number += 1
            let suffix = "_\(number)"
            name = cut(plain, to: limit - suffix.utf8.count) + suffix
        }
        return name
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            count += scalar.utf8.count
            if count > limit { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    mutating func claim(_ wanted: String) -> String { Self.claim(wanted, &taken) }

    mutating func tables(of entities: [NSEntityDescription], _ derivations: ServerDerivations) -> [ServerTable] {
        var found: [ServerTable] = []
        for root in entities where root.superentity == nil {
            let name = claim(root.name ?? "")
            let family = entities.filter { $0.root === root }
            found.append(
                ServerTable(
                    name: name, sequence: claim("\(name)_keys"), root: root, entities: family,
                    columns: Self.columns(of: family, derivations)))
        }
        for table in found {
            for entity in table.entities {
                for names in entity.uniquenessConstraintNames where !names.isEmpty {
                    let properties = names.compactMap { entity.propertiesByName[$0] }
                    guard properties.count == names.count else { continue }
                    constraints[claim("\(table.name)_\(names.joined(separator: "_"))_unique")] = (entity, names)
                }
            }
        }
        return found
    }

    private static func columns(
        of family: [NSEntityDescription], _ derivations: ServerDerivations
    ) -> [ServerColumn] {
        var taken = ServerStoreTables.rowColumns.union(ServerStoreTables.systemColumns)
        var columns: [ServerColumn] = []
        func add(
            _ name: String, _ type: ServerType, _ content: ServerColumn.Content, _ entity: NSEntityDescription
        ) {
            columns.append(ServerColumn(name: claim(name, &taken), type: type, content: content, entity: entity))
        }
        for entity in family {
            for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
                switch property {
                case let composite as NSCompositeAttributeDescription:
                    for leaf in composite.leaves {
                        guard let type = ServerType(leaf.attribute) else { continue }
                        add(
                            "\(composite.name).\(leaf.path.joined(separator: "."))", type, .element(composite, leaf),
                            entity)
                    }
                case let attribute as NSAttributeDescription:
                    if let type = ServerType(attribute) { add(attribute.name, type, .attribute(attribute), entity) }
                case let toOne as NSRelationshipDescription where !toOne.isToMany:
                    add(toOne.name, .bigint, .toOne(toOne), entity)
                    if toOne.destinationEntity?.subentities.isEmpty == false {
                        add("\(toOne.name)_entity", .integer, .destinationEntity(toOne), entity)
                    }
                    if let inverse = toOne.inverseRelationship, inverse.isToMany, inverse.isOrdered {
                        add("\(toOne.name)_order", .bigint, .position(toOne), entity)
                    }
                default: break
                }
            }
        }
        // These follow all other columns, whose names then do not depend on derivations.
        for entity in family {
            for case let text as NSAttributeDescription in entity.ownProperties.sorted(by: { $0.name < $1.name }) {
                for functions in derivations.texts(beside: text) {
                    add("\(text.name)_\(functions.name)", .text, .text(text, functions), entity)
                }
            }
        }
        return columns
    }

    mutating func joinTables(of entities: [NSEntityDescription]) -> [ServerJoinTable] {
        var seen: Set<ObjectIdentifier> = []
        var tables: [ServerJoinTable] = []
        for entity in entities {
            for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) {
                guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                    !relationship.isTransient, relationship.inverseRelationship?.isToMany != false,
                    seen.insert(ObjectIdentifier(relationship)).inserted
                else { continue }
                let inverse = relationship.inverseRelationship
                if let inverse { seen.insert(ObjectIdentifier(inverse)) }
                var taken = ServerStoreTables.systemColumns
                let owner = Self.claim(entity.name ?? "", &taken)
                let destination = Self.claim(relationship.name, &taken)
                tables.append(
                    ServerJoinTable(
                        name: claim("\(entity.name ?? "").\(relationship.name)"), relationship: relationship,
                        owner: owner, destination: destination,
                        order: relationship.isOrdered ? Self.claim("\(relationship.name)_order", &taken) : nil,
                        inverseOrder: inverse !== relationship && inverse?.isOrdered == true
                            ? Self.claim("\(entity.name ?? "")_order", &taken) : nil))
            }
        }
        return tables
    }
}

/// The names of a store's own tables, and of the columns in all tables of rows.
enum ServerStoreTables {
    /// One row: the store's metadata and the number of its last transaction.
    static let store = "_store"
    /// The entities and their numbers.
    static let entities = "_entities"
    /// The history.
    static let transactions = "_transactions"
    static let changes = "_changes"
    static let key = "_id"
    static let entity = "_entity"
    static let version = "_version"
    static let rowColumns: Set<String> = [key, entity, version]
    /// Columns that the server adds to each table.
    static let systemColumns: Set<String> = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]
    /// The server's comments on the columns of the store's own tables.
    static let comments: [(table: String, columns: [(name: String, text: String)])] = [
        (
            store,
            [
                ("one", "always true, so that the table has only one row"),
                ("format", "the format version of the tables"),
                ("uuid", "the UUID of the store"), ("metadata", "a property list in XML"),
                ("model", "the compiled model, as in a store file"),
                ("changes", "the number of the last transaction"),
                ("removed", "the number of the last transaction deleted from the history"),
                ("model_number", "increases with each migration"),
            ]
        ),
        (
            entities,
            [
                ("number", "the value of the columns _entity of rows of this entity"),
                ("name", "the name in the model"),
                ("parent", "the number of the parent entity"), ("hash", "the version hash of the entity"),
            ]
        ),
        (
            transactions,
            [
                ("number", "increases in commit order"), ("at", "seconds since 2001-01-01 00:00:00 UTC"),
                ("author", "transactionAuthor of the context"), ("context", "name of the context"),
                ("bundle", "bundle identifier of the program"),
                ("process", "name of the program; null for an abandoned save"),
                ("token", "identifies a save whose commit result was lost"),
                ("role", "the session role, set by the server"),
                ("host", "the client address, set by the server; [local] for a socket"),
            ]
        ),
        (
            changes,
            [
                ("transaction", "the number of the transaction"), ("place", "the position in the transaction"),
                ("kind", "0 insertion, 1 update, 2 deletion"), ("entity", "the number of the entity"),
                ("key", "the _id of the row"), ("properties", "JSON: the names of the changed properties"),
                ("tombstone", "JSON: values of a deleted row that the model preserves"),
            ]
        ),
    ]
    /// The server's comments on the columns that all tables of rows have.
    static let rowComments: [(name: String, text: String)] = [
        (key, "the key of the row, which never changes"), (entity, "the number of the row's entity in _entities"),
        (version, "increases with each save of the row"),
    ]
    /// The number of keys in one step of a sequence.
    static let keysAtOnce: Int64 = 64
}
