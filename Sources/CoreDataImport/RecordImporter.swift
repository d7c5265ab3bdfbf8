import CoreData
import Foundation

/// Imports records, such as a web service's JSON objects, into a context as a graph of objects. The user info of the
/// model controls the import:
///
/// | user info | of | meaning |
/// |---|---|---|
/// | `relatedByAttribute` | entity, relationship | the attributes, separated by commas, that identify records; by default those of the entity's first uniqueness constraint, and for a relationship those of its destination |
/// | `mappedKeyName` | attribute, relationship | the key or key path (`address.city`) in records, if it is not the property's name; `mappedKeyName.1` to `.9` are alternatives |
/// | `dateFormat` | attribute | the format of dates as in `DateFormatter`, in UTC; `UnixTime` is seconds since 1970; by default ISO 8601 |
/// | `useDefaultValueWhenNotPresent` | attribute | `YES`: a record without the key sets the attribute to its default value |
///
/// ```swift
/// let importer = RecordImporter(context: context)
/// let result = try importer.importRecords(json, into: "Team")
/// try context.save()
/// ```
///
/// A missing key leaves its property unchanged; null removes the value. A relationship accepts a nested record, the key
/// of its destination, or, if it is to-many, a list of these, which replaces its members. A nested record without a key
/// is a part of its owner if the relationship cascades deletions: a to-one part is updated, the parts in a list are
/// replaced. A record can refer to objects of later records in the same call.
///
/// Costs one fetch per key in a call, regardless of the number of records. Use it on the queue of its context. An
/// addition to Apple's interface.
public final class RecordImporter {
    /// The treatment of a relationship value whose key matches none of the objects.
    public enum MissingDestination: Sendable {
        /// The import fails.
        case refused
        /// An object with this key is created.
        case created
        /// The destination is left out.
        case ignored
    }

    /// The context in which objects are created and updated.
    public let context: NSManagedObjectContext
    /// The treatment of a relationship value whose key matches none of the objects. An error by default.
    public var missingDestinations = MissingDestination.refused
    /// True to reject a record with an unknown key, instead of ignoring the key.
    public var refusesUnknownKeys = false
    /// Returns true to import a record. Called for each one, including nested ones, with the object of its key if any.
    public var shouldImport: ((_ record: ImportValue, _ object: NSManagedObject?) throws -> Bool)?
    /// Called for each object, including nested ones, and its record, when all records of the call have been imported.
    public var didImport: ((_ object: NSManagedObject, _ record: ImportValue) throws -> Void)?
    /// Called first for a relationship's value that is not a nested record. If it returns `nil`, the key is looked up.
    public var findDestination: ((_ value: ImportValue, _ entity: NSEntityDescription) throws -> NSManagedObject?)?

    private let isMapped: Bool
    private var plans: [ObjectIdentifier: ImportPlan] = [:]
    let keys = ImportKeys()

    /// Creates an importer into a context.
    ///
    /// - Parameters:
    ///   - context: The context for the objects.
    ///   - usesMappedNames: True to use `mappedKeyName` and the other attribute keys; false to use property names only.
    public init(context: NSManagedObjectContext, usesMappedNames: Bool = true) {
        self.context = context
        isMapped = usesMappedNames
    }

    /// Imports records into the context, which is not saved.
    ///
    /// - Parameters:
    ///   - records: Values of the case ``ImportValue/object(_:)``. The later of two with the same key has precedence.
    ///   - entityName: The entity of the objects.
    /// - Returns: The objects in the order of the records, and the outcome of each.
    /// - Throws: ``RecordImportError`` for an invalid record, after a part of the others was imported, so roll the
    ///   context back. The errors of the hooks and the fetches.
    @discardableResult
    public func importRecords(_ records: [ImportValue], into entityName: String) throws -> ImportResult {
        context.requireQueue("importing records")
        guard let entity = NSEntityDescription.entity(forEntityName: entityName, in: context) else {
            throw CoreDataError.make(
                CocoaError.Code.coreData.rawValue,
                "The model has no entity named “\(entityName)” to import records into.")
        }
        var run = ImportRun(self)
        return try run.take(records, plan: plan(of: entity))
    }

    /// Imports dictionaries, as created by `JSONSerialization`, into the context, which is not saved.
    ///
    /// - Throws: ``RecordImportError`` for an invalid record, or one with a value that JSON does not have (see
    ///   ``ImportValue/init(_:)``); then some of the other records have been imported, so roll the context back. The
    ///   errors of the hooks and the fetches.
    @discardableResult
    public func importRecords(_ records: [[String: Any]], into entityName: String) throws -> ImportResult {
        let values = try records.enumerated().map { index, record in
            guard let value = ImportValue(record) else {
                throw ImportProblem(reason: "contains a value that JSON does not allow").error(record: index)
            }
            return value
        }
        return try importRecords(values, into: entityName)
    }

    /// Sets the properties of an object from a record.
    ///
    /// - Parameters:
    ///   - record: A value of the case ``ImportValue/object(_:)``.
    ///   - object: An object of the context.
    /// - Returns: `true` if any value was changed.
    /// - Throws: ``RecordImportError`` for an invalid value; then the properties before it have been set.
    @discardableResult
    public func update(_ object: NSManagedObject, from record: ImportValue) throws -> Bool {
        context.requireQueue("importing a record")
        var run = ImportRun(self)
        return try run.update(object, from: record, plan: plan(of: object.entity))
    }

    /// Converts `value` to the value of an attribute; `nil` for null.
    ///
    /// - Throws: ``RecordImportError``, with record 0, if it is of the wrong type or out of the type's range.
    public static func value(of value: ImportValue, for attribute: NSAttributeDescription) throws -> Any? {
        do {
            let slot = try AttributeReading.slotValue(value, for: attribute)
            return AttributeCoercion.value(slot, type: attribute.attributeType)
        } catch let problem as ImportProblem {
            throw problem.below(attribute.name, value: value).error(record: 0)
        }
    }

    /// The property of a key in a record: by its own name, or by one in its user info, of which a key path's first key
    /// counts. `nil` if there is none.
    public func property(forKey key: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
        let rule = plan(of: entity).rules.first { $0.paths.contains { $0.first == key } }
        return rule.flatMap { entity.propertiesByName[$0.name] }
    }

    func plan(of entity: NSEntityDescription) -> ImportPlan {
        if let known = plans[ObjectIdentifier(entity)] { return known }
        let plan = ImportPlan(entity, isMapped: isMapped, keys: keys)
        plans[ObjectIdentifier(entity)] = plan
        return plan
    }
}
