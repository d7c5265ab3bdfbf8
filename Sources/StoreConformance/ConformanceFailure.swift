import CoreData
import Foundation

/// The difference between the actual and the expected behaviour of a store.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The name of the scenario.
    public internal(set) var scenario = ""
    /// The subject, the actual value, and the expected value.
    public let reason: String
    /// The line of the scenario, as `file:line`.
    public let place: String

    public var description: String { "\(scenario): \(reason) (\(place))" }

    init(_ reason: String, _ file: StaticString, _ line: UInt) {
        self.reason = reason
        place = "\(("\(file)" as NSString).lastPathComponent):\(line)"
    }
}

/// - Throws: ``ConformanceFailure`` if the values are not equal.
func expect<Value: Equatable>(
    _ found: Value, _ expected: Value, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws {
    guard found != expected else { return }
    throw ConformanceFailure("\(what): found \(found), expected \(expected)", file, line)
}

/// - Throws: ``ConformanceFailure`` if the condition is false.
func expect(_ condition: Bool, _ what: String, file: StaticString = #fileID, line: UInt = #line) throws {
    guard !condition else { return }
    throw ConformanceFailure("\(what): this is not so", file, line)
}

/// - Throws: ``ConformanceFailure`` if there is no value.
func need<Value>(
    _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
    if let value { return value }
    throw ConformanceFailure("\(what): there is none", file, line)
}

/// - Throws: ``ConformanceFailure`` if `body` does not throw an error with that code.
func expectError(
    _ code: Int, _ what: String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Void
) throws {
    do { try body() } catch {
        return try expect((error as NSError).code, code, "the error of \(what)", file: file, line: line)
    }
    throw ConformanceFailure("\(what): it succeeded, an error \(code) was expected", file, line)
}

extension NSManagedObjectContext {
    /// Inserts an object, and sets one of its texts.
    package func make(_ entity: String, named name: String? = nil, _ key: String = "name") -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        if let name { object.setValue(name, forKey: key) }
        return object
    }

    /// All objects of an entity, sorted by a key.
    package func all(
        _ entity: String, where predicate: NSPredicate? = nil, by key: String? = nil
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }
}

extension NSManagedObject {
    package func text(_ key: String) -> String? { value(forKey: key) as? String }

    /// The texts of the members of a to-many relationship: in its order, or sorted if it has none.
    package func texts(_ relationship: String, _ key: String) -> [String] {
        let isOrdered = entity.relationshipsByName[relationship]?.isOrdered == true
        let members =
            isOrdered
            ? mutableOrderedSetValue(forKey: relationship).array : mutableSetValue(forKey: relationship).allObjects
        let texts = members.compactMap { ($0 as? NSManagedObject)?.text(key) }
        return isOrdered ? texts : texts.sorted()
    }

    /// The destinations of an object's relationships, as `children: Bo Cy, parent: Ada`. Empty relationships are
    /// omitted.
    package func ties() -> String {
        entity.relationshipsByName.values.sorted { $0.name < $1.name }.compactMap { relationship in
            let name = relationship.name
            let found =
                relationship.isToMany
                ? texts(name, "name") : [(value(forKey: name) as? NSManagedObject)?.text("name")].compactMap { $0 }
            return found.isEmpty ? nil : "\(name): \(found.joined(separator: " "))"
        }.joined(separator: ", ")
    }
}

extension NSManagedObjectContext {
    /// The objects of an entity by their names.
    package func named(_ entity: String) throws -> [String: NSManagedObject] {
        Dictionary(try all(entity).map { ($0.text("name") ?? "", $0) }) { first, _ in first }
    }

    /// The relationships of all objects of an entity, by their names.
    package func ties(of entity: String) throws -> [String: String] { try named(entity).mapValues { $0.ties() } }

    /// The numbers of objects of the entities, in the order of the names.
    package func counts(_ entities: String...) throws -> [Int] {
        try entities.map { try count(for: NSFetchRequest<NSManagedObject>(entityName: $0)) }
    }
}

extension StoreConformance {
    /// Runs a check in a new context, and, if rows outlive their coordinator, again in a new coordinator.
    package func inEachState(_ check: (NSManagedObjectContext) throws -> Void) throws {
        try inContext(check)
        guard keepsRows else { return }
        try reopen()
        try inContext(check)
    }
}
