import CoreData
import Foundation

/// A store in a folder with a CSV file per entity, which any program for tables can read and edit.
///
/// `Team.csv` has a line for each row: its key (a number, unique in the entity's hierarchy), the attributes by name,
/// and the relationships as the keys of their destinations, separated by spaces. Only one of two inverse relationships
/// is written. A save writes a new folder and replaces the old one.
///
/// It is used like any store type:
///
/// ```swift
/// CSVFolderStore.register()
/// try coordinator.addPersistentStore(type: CSVFolderStore.storeType, at: folderURL)
/// ```
public final class CSVFolderStore: NSAtomicStore, @unchecked Sendable {
    public static let storeType = NSPersistentStore.StoreType(rawValue: "CSVFolder")

    /// Registers the store type. Further calls do nothing.
    public static func register() {
        NSPersistentStoreCoordinator.registerStoreClass(CSVFolderStore.self, type: storeType)
    }

    public override var type: String { Self.storeType.rawValue }

    /// The greatest key in each hierarchy.
    private var lastKeys: [String: Int64] = [:]

    // MARK: Metadata

    public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try CSVFolder(url).metadata()
    }

    public override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var files = try CSVFolder(url).files()
        files[CSVFolder.metadataName] = try CSVFolder.data(of: metadata ?? [:])
        try CSVFolder(url).replace(with: files)
    }

    public override func loadMetadata() throws {
        if let url, try CSVFolder(url).exists() { metadata = try CSVFolder(url).metadata() }
        try super.loadMetadata()
    }

    // MARK: Reading

    public override func load() throws {
        guard let url, let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let folder = CSVFolder(url)
        guard try folder.exists() else { return }
        var tables: [(entity: NSEntityDescription, table: CSVTable)] = []
        for entity in model.entities where !entity.isAbstract {
            if let table = try folder.table(entity.name ?? "") { tables.append((entity, table)) }
        }
        var nodes: [String: [Int64: NSAtomicStoreCacheNode]] = [:]
        for (entity, table) in tables {
            for row in table.rows {
                let key = try row.key()
                let root = Self.root(of: entity)
                let node = NSAtomicStoreCacheNode(
                    objectID: objectID(for: entity, withReferenceObject: NSNumber(value: key)))
                guard nodes[root, default: [:]].updateValue(node, forKey: key) == nil else {
                    throw row.damage("the key \(key) stands twice")
                }
                lastKeys[root] = max(lastKeys[root] ?? 0, key)
                for (name, attribute) in entity.attributesByName {
                    guard let text = row[name] else { continue }
                    guard let value = ValueText.value(text, attribute.attributeType) else {
                        throw row.damage("'\(text.prefix(40))' is no value of \(name)")
                    }
                    node.setValue(value, forKey: name)
                }
            }
        }
        for (entity, table) in tables {
            for row in table.rows {
                guard let node = nodes[Self.root(of: entity)]?[try row.key()] else { continue }
                for (name, relationship) in entity.relationshipsByName {
                    guard let text = row[name], let destination = relationship.destinationEntity else { continue }
                    let known = nodes[Self.root(of: destination)] ?? [:]
                    let members = try text.split(separator: " ").map { key in
                        guard let member = Int64(key).flatMap({ known[$0] }) else {
                            throw row.damage("\(name) leads to \(key), which is not there")
                        }
                        return member
                    }
                    connect(node, relationship, members)
                }
            }
        }
        addCacheNodes(Set(nodes.values.flatMap(\.values)))
    }

    /// Sets a relationship, and its inverse if the files do not contain that.
    private func connect(
        _ node: NSAtomicStoreCacheNode, _ relationship: NSRelationshipDescription,
        _ members: [NSAtomicStoreCacheNode]
    ) {
        let name = relationship.name
        node.setValue(relationship.isToMany ? NSOrderedSet(array: members) : members.first, forKey: name)
        guard let inverse = relationship.inverseRelationship, !Self.isWritten(inverse) else { return }
        for member in members {
            guard inverse.isToMany else {
                member.setValue(node, forKey: inverse.name)
                continue
            }
            let known = (member.value(forKey: inverse.name) as? NSOrderedSet)?.array ?? []
            member.setValue(NSOrderedSet(array: known + [node]), forKey: inverse.name)
        }
    }

    private static func root(of entity: NSEntityDescription) -> String {
        var root = entity
        while let parent = root.superentity { root = parent }
        return root.name ?? ""
    }

    // MARK: Changes

    public override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        let root = Self.root(of: managedObject.entity)
        let key = (lastKeys[root] ?? 0) + 1
        lastKeys[root] = key
        return NSNumber(value: key)
    }

    public override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    public override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
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
            node.setValue(NSOrderedSet(array: nodes), forKey: name)
        }
    }

    // MARK: Writing

    public override func save() throws {
        guard let url else { return }
        var files = [CSVFolder.metadataName: try CSVFolder.data(of: metadata ?? [:])]
        let nodes = Dictionary(grouping: cacheNodes(), by: { $0.objectID.entity.name ?? "" })
        for entity in persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
            let name = entity.name ?? ""
            files["\(name).csv"] = Data(CSVText.text(rows(of: entity, nodes[name] ?? [])).utf8)
        }
        try CSVFolder(url).replace(with: files)
    }

    private func rows(of entity: NSEntityDescription, _ nodes: [NSAtomicStoreCacheNode]) -> [[String?]] {
        let attributes = entity.attributesByName.keys.sorted()
        let relationships = entity.relationshipsByName.values.filter(Self.isWritten).map(\.name).sorted()
        let head: [String?] = [CSVFolder.keyName] + attributes + relationships
        let lines = nodes.map { (key: key(of: $0), node: $0) }.sorted { $0.key < $1.key }.map { key, node in
            ["\(key)"] + attributes.map { node.value(forKey: $0).flatMap(ValueText.text) }
                + relationships.map { keys(node.value(forKey: $0)) }
        }
        return [head] + lines
    }

    /// True for the relationship of an inverse pair that is written: the ordered or to-one one, else the first by name.
    /// If both are ordered, both are written.
    private static func isWritten(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, inverse !== relationship, !relationship.isOrdered else {
            return true
        }
        if inverse.isOrdered { return false }
        if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
        let names = [relationship, inverse].map { "\(root(of: $0.entity)).\($0.name)" }
        return names[0] < names[1]
    }

    private func key(of node: NSAtomicStoreCacheNode) -> Int64 {
        (referenceObject(for: node.objectID) as? NSNumber)?.int64Value ?? 0
    }

    private func keys(_ value: Any?) -> String? {
        switch value {
        case let node as NSAtomicStoreCacheNode: return "\(key(of: node))"
        case let list as NSOrderedSet where list.count > 0:
            return list.array.compactMap { ($0 as? NSAtomicStoreCacheNode).map { "\(key(of: $0))" } }
                .joined(separator: " ")
        default: return nil
        }
    }
}
