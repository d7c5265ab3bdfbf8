import CoreData
import Foundation

/// An atomic store defined by a program, as written for Apple's framework: one property list, rows identified by texts.
final class PropertyListStore: NSAtomicStore, @unchecked Sendable {
    /// The type. Its first use registers it.
    static let type = {
        let type = NSPersistentStore.StoreType(rawValue: "org.example.PropertyListStore")
        NSPersistentStoreCoordinator.registerStoreClass(PropertyListStore.self, type: type)
        return type
    }()

    private(set) var removed: [String] = []

    override var type: String { Self.type.rawValue }

    override func loadMetadata() throws {
        if let url, FileManager.default.fileExists(atPath: url.path) {
            metadata = try Self.metadataForPersistentStore(with: url)
        }
        try super.loadMetadata()
    }

    private static func contents(_ url: URL) throws -> [String: Any] {
        let data = try Data(contentsOf: url)
        guard let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return list
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try contents(url)["metadata"] as? [String: Any] ?? [:]
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var list = try contents(url)
        list["metadata"] = metadata ?? [:]
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: url)
    }

    override func load() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path),
            let rows = try Self.contents(url)["rows"] as? [[String: Any]],
            let model = persistentStoreCoordinator?.managedObjectModel
        else { return }
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for row in rows {
            guard let name = row["entity"] as? String, let key = row["key"] as? String,
                let entity = model.entitiesByName[name]
            else { throw CocoaError(.fileReadCorruptFile) }
            nodes[key] = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: key))
        }
        for row in rows {
            guard let key = row["key"] as? String, let node = nodes[key] else { continue }
            for (name, value) in row["values"] as? [String: Any] ?? [:] {
                let attribute = node.objectID.entity.attributesByName[name]
                switch (attribute?.attributeType, value) {
                case (.UUIDAttributeType?, let text as String): node.setValue(UUID(uuidString: text), forKey: name)
                case (.URIAttributeType?, let text as String): node.setValue(URL(string: text), forKey: name)
                case (.decimalAttributeType?, let text as String):
                    node.setValue(NSDecimalNumber(string: text), forKey: name)
                default: node.setValue(value, forKey: name)
                }
            }
            for (name, key) in row["one"] as? [String: String] ?? [:] { node.setValue(nodes[key], forKey: name) }
            for (name, keys) in row["many"] as? [String: [String]] ?? [:] {
                node.setValue(NSOrderedSet(array: keys.compactMap { nodes[$0] }), forKey: name)
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        "\(managedObject.entity.name ?? "")/\(UUID().uuidString)"
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for name in managedObject.entity.attributesByName.keys {
            node.setValue(managedObject.value(forKey: name), forKey: name)
        }
        for (name, relationship) in managedObject.entity.relationshipsByName {
            guard relationship.isToMany else {
                let destination = managedObject.value(forKey: name) as? NSManagedObject
                node.setValue(destination.flatMap { cacheNode(for: $0.objectID) }, forKey: name)
                continue
            }
            let members =
                relationship.isOrdered
                ? managedObject.mutableOrderedSetValue(forKey: name).array
                : managedObject.mutableSetValue(forKey: name).allObjects
            let nodes = members.compactMap { ($0 as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) } }
            node.setValue(
                relationship.isOrdered ? NSOrderedSet(array: nodes) : NSSet(array: nodes), forKey: name)
        }
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        removed += cacheNodes.map { "\(referenceObject(for: $0.objectID))" }
    }

    private func key(_ value: Any) -> String? {
        (value as? NSAtomicStoreCacheNode).map { "\(referenceObject(for: $0.objectID))" }
    }

    /// Error of the next saves.
    var refusal: (any Error)?

    override func save() throws {
        if let refusal { throw refusal }
        guard let url else { return }
        let rows: [[String: Any]] = cacheNodes().map { node in
            var (values, one, many): ([String: Any], [String: String], [String: [String]]) = ([:], [:], [:])
            for name in node.objectID.entity.propertiesByName.keys {
                switch node.value(forKey: name) {
                case nil: break
                case let destination as NSAtomicStoreCacheNode: one[name] = key(destination)
                case let list as NSOrderedSet: many[name] = list.array.compactMap(key)
                case let list as NSSet: many[name] = list.allObjects.compactMap(key)
                case let list as Set<AnyHashable>: many[name] = list.compactMap { key($0.base) }
                case let id as UUID: values[name] = id.uuidString
                case let address as URL: values[name] = address.absoluteString
                case let number as NSDecimalNumber: values[name] = number.stringValue
                case let value?: values[name] = value
                }
            }
            return [
                "entity": node.objectID.entity.name ?? "", "key": "\(referenceObject(for: node.objectID))",
                "values": values, "one": one, "many": many,
            ]
        }
        try PropertyListSerialization.data(
            fromPropertyList: ["metadata": metadata ?? [:], "rows": rows], format: .binary, options: 0
        ).write(to: url, options: .atomic)
    }
}
