import CoreData
import Foundation
import Translation

/// Stored values that read as nil: those in files that are missing or not plain files, and those of unknown classes or
/// transformers.
struct UnreadableValues {
    private let coordinator: NSPersistentStoreCoordinator
    /// True to count values that cannot be decoded; a copy of the store keeps them.
    private let countsUncoded: Bool
    private var inFiles: Set<Value> = []
    private var firstInFile: String?
    private var uncoded: Set<Value> = []
    private var firstUncoded: String?
    /// Records that may have undecodable values, queried together.
    private var candidates: [NSManagedObject: Set<String>] = [:]
    private static let mostCandidates = 500

    private struct Value: Hashable {
        let record: NSManagedObjectID
        let attribute: String
    }

    init(_ coordinator: NSPersistentStoreCoordinator, countingUncoded: Bool) {
        self.coordinator = coordinator
        countsUncoded = countingUncoded
    }

    /// Checks a value that was read. Costs a query if it is nil and may be in a file.
    mutating func look(at attribute: NSAttributeDescription, of object: NSManagedObject) throws {
        let name = attribute.name
        if countsUncoded, attribute.mayBeUncoded(in: object) {
            candidates[object, default: []].insert(name)
            if candidates.count >= Self.mostCandidates { try askAboutCandidates() }
        }
        guard attribute.allowsExternalBinaryDataStorage, !attribute.isTransient, object.value(forKey: name) == nil,
            try coordinator.refersToFile(forKey: name, of: object.objectID)
        else { return }
        if firstInFile == nil { firstInFile = Self.place(name, object) }
        inFiles.insert(Value(record: object.objectID, attribute: name))
    }

    /// Checks all values of a record.
    mutating func look(at object: NSManagedObject) throws {
        for attribute in object.entity.storedAttributes { try look(at: attribute, of: object) }
    }

    private mutating func askAboutCandidates() throws {
        for (root, objects) in Dictionary(grouping: candidates.keys, by: \.entity.root) {
            let found = try coordinator.uncodedValues(of: root, among: objects.map(\.objectID))
            for object in objects {
                for name in (found[object.objectID] ?? [:]).keys.sorted()
                where candidates[object]?.contains(name) == true {
                    if firstUncoded == nil { firstUncoded = Self.place(name, object) }
                    uncoded.insert(Value(record: object.objectID, attribute: name))
                }
            }
        }
        candidates = [:]
    }

    private static func place(_ attribute: String, _ object: NSManagedObject) -> String {
        sentence("“\(attribute)” of \(RecordLabel.short(object))")
    }

    /// One line about missing values; `nil` if there are none.
    ///
    /// - Throws: the store's error.
    mutating func line() throws -> String? {
        try askAboutCandidates()
        let lines = [
            firstInFile.map {
                inFiles.count == 1
                    ? sentence("1 value is missing because its file cannot be read: \($0)")
                    : sentence("\(inFiles.count) values are missing because their files cannot be read. First: \($0)")
            },
            firstUncoded.map {
                uncoded.count == 1
                    ? sentence("1 value is missing because roster lacks its class or transformer: \($0)")
                    : sentence(
                        "\(uncoded.count) values are missing because roster lacks their classes or transformers. First: \($0)"
                    )
            },
        ].compactMap(\.self)
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }
}

extension NSAttributeDescription {
    /// True if a record may have a stored value that cannot be decoded, so that it reads as nil or lacks a part.
    func mayBeUncoded(in object: NSManagedObject) -> Bool {
        switch attributeType {
        case .transformableAttributeType: !isTransient && object.value(forKey: name) == nil
        case .compositeAttributeType: !isTransient
        default: false
        }
    }
}

extension NSEntityDescription {
    /// The topmost superentity, or itself.
    var root: NSEntityDescription { superentity?.root ?? self }
}
