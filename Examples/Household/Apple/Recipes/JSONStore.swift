//
//  JSONStore.swift
//  Recipes
//

import CoreData
import os.log

/// An atomic store that keeps all objects in one JSON file.
final class JSONStore: NSAtomicStore {

    static let type = "JSONStore"

    private static let log = OSLog(subsystem: "org.example.household", category: "JSONStore")

    private struct Row: Codable {
        var entity: String
        var values: [String: Value]
        var links: [String: [String]]
    }

    private enum Value: Codable {
        case text(String)
        case number(Double)
    }

    private struct Document: Codable {
        var identifier: String
        var rows: [String: Row] = [:]
    }

    static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, forStoreType: JSONStore.type)
    }

    override init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(
            persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
    }

    override var type: String { Self.type }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let document = try read(url)
        return [NSStoreTypeKey: type, NSStoreUUIDKey: document.identifier]
    }

    private static func read(_ url: URL) throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(contentsOf: url))
    }

    override func loadMetadata() throws {
        guard let url = url else { return }
        if FileManager.default.fileExists(atPath: url.path) {
            metadata = try Self.metadataForPersistentStore(with: url)
        } else {
            metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: UUID().uuidString]
        }
    }

    override func load() throws {
        guard let url = url, FileManager.default.fileExists(atPath: url.path),
              let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName else { return }
        let document = try Self.read(url)
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for (reference, row) in document.rows {
            guard let entity = entities[row.entity] else { continue }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
            for (name, attribute) in entity.attributesByName {
                switch row.values[name] {
                case .text(let text)?: node.setValue(text, forKey: name)
                case .number(let number)?: node.setValue(NSNumber(value: number), forKey: attribute.name)
                case nil: break
                }
            }
            nodes[reference] = node
        }
        for (reference, row) in document.rows {
            guard let entity = entities[row.entity], let node = nodes[reference] else { continue }
            for (name, relationship) in entity.relationshipsByName {
                let targets = (row.links[name] ?? []).compactMap { nodes[$0] }
                node.setValue(relationship.isToMany ? Set(targets) : targets.first, forKey: name)
            }
        }
        addCacheNodes(Set(nodes.values))
        os_log("Loaded %d rows of %{public}@", log: Self.log, type: .debug, nodes.count, url.lastPathComponent)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        UUID().uuidString
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
            if relationship.isToMany {
                let objects = managedObject.value(forKey: name) as? Set<NSManagedObject> ?? []
                node.setValue(Set(objects.compactMap { cacheNode(for: $0.objectID) }), forKey: name)
            } else {
                let object = managedObject.value(forKey: name) as? NSManagedObject
                node.setValue(object.flatMap { cacheNode(for: $0.objectID) }, forKey: name)
            }
        }
    }

    override func save() throws {
        guard let url = url else { return }
        var document = Document(identifier: identifier)
        for node in cacheNodes() {
            let entity = node.objectID.entity
            var row = Row(entity: entity.name!, values: [:], links: [:])
            for name in entity.attributesByName.keys {
                switch node.value(forKey: name) {
                case let text as String: row.values[name] = .text(text)
                case let number as NSNumber: row.values[name] = .number(number.doubleValue)
                default: break
                }
            }
            for name in entity.relationshipsByName.keys {
                switch node.value(forKey: name) {
                case let nodes as Set<NSAtomicStoreCacheNode>: row.links[name] = nodes.map(reference).sorted()
                case let node as NSAtomicStoreCacheNode: row.links[name] = [reference(node)]
                default: break
                }
            }
            document.rows[reference(node)] = row
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(document).write(to: url, options: .atomic)
        os_log(.info, log: Self.log, "Saved %d rows", document.rows.count)
    }

    private func reference(_ node: NSAtomicStoreCacheNode) -> String {
        referenceObject(for: node.objectID) as! String
    }
}
