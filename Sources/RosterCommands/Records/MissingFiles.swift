import CoreData
import Foundation
import Translation

/// Values that a store says are in files of their own, which are not there or are no plain files. They read as nil.
struct MissingFiles {
    private let coordinator: NSPersistentStoreCoordinator
    private var found: Set<Value> = []
    private var first: (attribute: String, record: String)?

    private struct Value: Hashable {
        let record: NSManagedObjectID
        let attribute: String
    }

    init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    /// Looks at a value that was read. Costs a query where it is nil and could be in a file.
    mutating func look(at attribute: NSAttributeDescription, of object: NSManagedObject) throws {
        let name = attribute.name
        guard attribute.allowsExternalBinaryDataStorage, !attribute.isTransient, object.value(forKey: name) == nil,
            try coordinator.refersToFile(forKey: name, of: object.objectID)
        else { return }
        if first == nil { first = (name, RecordLabel.short(object)) }
        found.insert(Value(record: object.objectID, attribute: name))
    }

    /// Looks at all values of a record.
    mutating func look(at object: NSManagedObject) throws {
        for attribute in object.entity.storedAttributes { try look(at: attribute, of: object) }
    }

    /// What is missing, in one line; `nil` where nothing is.
    var line: String? {
        guard let first else { return nil }
        return found.count == 1
            ? sentence("1 value is missing, whose file cannot be read: “\(first.attribute)” of \(first.record)")
            : sentence(
                "\(found.count) values are missing, whose files cannot be read: the first is “\(first.attribute)” of \(first.record)"
            )
    }
}
