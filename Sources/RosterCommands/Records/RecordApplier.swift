import CoreData
import Foundation

/// Sets the properties of records from fields: attributes by type, to-one relationships by unique key, URI or a nested
/// record, to-many relationships as a list of those.
///
/// A value that is already there is not set again, so that a record which says nothing new stays unchanged.
final class RecordApplier {
    private let context: NSManagedObjectContext
    let references: ReferenceResolver

    init(context: NSManagedObjectContext) {
        self.context = context
        references = ReferenceResolver(context: context)
    }

    /// - Throws: ``FieldProblem``, or an error of the framework.
    func apply(_ fields: RecordFields, to object: NSManagedObject) throws {
        for (key, value) in FieldGrouping.grouped(fields) {
            guard object.entity.propertiesByName[key] != nil else {
                throw FieldProblem(key: key, value: nil, reason: EntityKeys.unknown(key, of: object.entity))
            }
            do {
                try apply(value, to: object, key)
            } catch let problem as ValueProblem {
                throw FieldProblem(
                    key: key, value: value, reason: problem.reason, isMalformed: problem.isMalformed)
            } catch let problem as FieldProblem {
                throw FieldProblem(
                    key: key + "." + problem.key, value: problem.value, reason: problem.reason,
                    isMalformed: problem.isMalformed)
            }
        }
    }

    private func apply(_ value: JSONValue, to object: NSManagedObject, _ key: String) throws {
        if let attribute = object.entity.attributesByName[key] {
            let parsed = try ValueParser.value(from: value, for: attribute)
            let old = ValueText.json(object.value(forKey: key), of: attribute)
            if old != ValueText.json(parsed, of: attribute) { object.setValue(parsed, forKey: key) }
        } else if let relationship = object.entity.relationshipsByName[key] {
            if relationship.isToMany {
                try applyToMany(value, to: object, relationship)
            } else {
                try applyToOne(value, to: object, relationship)
            }
        } else {
            throw ValueProblem(reason: "cannot be set: the property is neither an attribute nor a relationship")
        }
    }

    private func applyToOne(
        _ value: JSONValue, to object: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws {
        let old = object.value(forKey: relationship.name) as? NSManagedObject
        let new = value == .null ? nil : try destination(value, of: relationship, present: old)
        if new !== old { object.setValue(new, forKey: relationship.name) }
    }

    private func applyToMany(
        _ value: JSONValue, to object: NSManagedObject, _ relationship: NSRelationshipDescription
    ) throws {
        let values = try elements(of: value)
        if let entity = relationship.destinationEntity { try references.prefetch(values, of: entity) }
        var seen: Set<NSManagedObject> = []
        let new = try values.map { try destination($0, of: relationship, present: nil) }
            .filter { seen.insert($0).inserted }
        if relationship.isOrdered {
            let old = (object.value(forKey: relationship.name) as? NSOrderedSet)?.array as? [NSManagedObject]
            if old ?? [] != new { object.setValue(NSOrderedSet(array: new), forKey: relationship.name) }
        } else {
            let old = object.value(forKey: relationship.name) as? Set<NSManagedObject>
            if old ?? [] != Set(new) { object.setValue(NSSet(array: new), forKey: relationship.name) }
        }
    }

    /// The elements of a list, which on the command line and in CSV is JSON text; NULL is the empty list.
    private func elements(of value: JSONValue) throws -> [JSONValue] {
        var value = value
        if case .string(let text) = value {
            do {
                value = try JSONParser.value(of: text)
            } catch let error as JSONParser.SyntaxError {
                throw ValueProblem(reason: Self.listWanted + ": \(error.reason)", isMalformed: true)
            }
        }
        switch value {
        case .null: return []
        case .array(let values): return values
        default: throw ValueProblem(reason: Self.listWanted, isMalformed: true)
        }
    }

    private static let listWanted = #"is not a list: a to-many relationship wants ["…","…"]"#

    /// The record that `value` names; a nested record is found by its unique key, or is the one that is there, or new.
    private func destination(
        _ value: JSONValue, of relationship: NSRelationshipDescription, present: NSManagedObject?
    ) throws -> NSManagedObject {
        guard let entity = relationship.destinationEntity else {
            throw ValueProblem(reason: "cannot be set: the relationship has no destination in the model")
        }
        guard case .object(let fields) = value else { return try references.object(named: value, of: entity) }
        let named = try existing(fields, of: entity)
        let owned = relationship.deleteRule == .cascadeDeleteRule ? present : nil
        let object = named ?? owned ?? NSManagedObject.make(entity, in: context)
        try apply(fields, to: object)
        return object
    }

    private func existing(_ fields: RecordFields, of entity: NSEntityDescription) throws -> NSManagedObject? {
        guard let key = UniqueKey(of: entity)?.single, let field = fields.first(where: { $0.key == key.name }) else {
            return nil
        }
        try references.prefetch([field.value], of: entity)
        return try? references.object(named: field.value, of: entity)
    }
}

extension NSManagedObject {
    /// A new object of the class that `entity` names.
    static func make(_ entity: NSEntityDescription, in context: NSManagedObjectContext) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
    }
}
