import Foundation

/// Puts records from outside, such as a web service's JSON objects, into a context as a graph of objects, directed by the user
/// info of the model:
///
/// | user info | of | says |
/// |---|---|---|
/// | `relatedByAttribute` | entity, relationship | the attribute whose value tells records apart (several with commas between them); of an entity its first uniqueness constraint says it otherwise, of a relationship its destination |
/// | `mappedKeyName` | attribute, relationship | the key or key path (`address.city`) in records, where it is not the property's name; `mappedKeyName.1` to `.9` are alternatives |
/// | `dateFormat` | attribute | how dates are written, as for `DateFormatter` in UTC; `UnixTime` is seconds since 1970; otherwise ISO 8601 |
/// | `useDefaultValueWhenNotPresent` | attribute | `YES`: a record that says nothing gives the attribute its default value |
///
/// ```swift
/// let importer = RecordImporter(context: context)
/// let result = try importer.importRecords(json, into: "Team")
/// try context.save()
/// ```
///
/// A key that is missing leaves its property alone; null takes the value away. A relationship takes a nested record, the key of
/// its destination, or, if it is to-many, a list of those, which replaces what was there. A nested record without a key is a
/// part of its owner where the relationship cascades deletions: the part that is there is changed, parts in a list are replaced.
/// Objects that are named before their own record comes are found as long as it is in the same call.
///
/// Costs one fetch for each key of a call, whatever the number of records. Use it on the queue of its context. An addition to
/// Apple's interface.
public final class RecordImporter {
    /// What becomes of a relationship whose destination is named by a key that no object has.
    public enum MissingDestination: Sendable {
        /// The import fails.
        case refused
        /// An object with this key is made.
        case created
        /// It is left out.
        case ignored
    }

    /// The context in which objects are made and changed.
    public let context: NSManagedObjectContext
    /// What becomes of a relationship whose destination is named by a key that no object has. An error by default.
    public var missingDestinations = MissingDestination.refused
    /// Whether a record with a key that stands for no property is refused, instead of the key being passed over.
    public var refusesUnknownKeys = false
    /// Asked for each record, nested ones too, with the object that has its key, if there is one: whether to import it.
    public var shouldImport: ((_ record: ImportValue, _ object: NSManagedObject?) throws -> Bool)?
    /// Called for each object, nested ones too, when all records of the call are in the context, with its record.
    public var didImport: ((_ object: NSManagedObject, _ record: ImportValue) throws -> Void)?
    /// Asked first for what a relationship's value names, unless that is a nested record; `nil` is for the key to find.
    public var findDestination: ((_ value: ImportValue, _ entity: NSEntityDescription) throws -> NSManagedObject?)?

    private let isMapped: Bool
    private var plans: [ObjectIdentifier: ImportPlan] = [:]
    let keys = ImportKeys()

    /// An importer into a context.
    ///
    /// - Parameters:
    ///   - context: where the objects are to be.
    ///   - usesMappedNames: whether `mappedKeyName` and the other words of attributes count; else keys are the names of properties.
    public init(context: NSManagedObjectContext, usesMappedNames: Bool = true) {
        self.context = context
        isMapped = usesMappedNames
    }

    /// Puts records into the context, which is not saved.
    ///
    /// - Parameters:
    ///   - records: objects, ``ImportValue/object(_:)``. Two with the same key are one object, which has what the later one says.
    ///   - entityName: the entity of the objects.
    /// - Returns: the objects in the order of the records, and what became of each.
    /// - Throws: ``RecordImportError`` for a record that does not fit; then a part of the others is in the context, so roll it
    ///   back. What the hooks and the fetches throw.
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

    /// Puts records, dictionaries as `JSONSerialization` makes them, into the context, which is not saved.
    ///
    /// - Throws: ``RecordImportError`` for a record that does not fit, or that holds what JSON has not (see
    ///   ``ImportValue/init(_:)``); then a part of the others is in the context, so roll it back. What the hooks and the
    ///   fetches throw.
    @discardableResult
    public func importRecords(_ records: [[String: Any]], into entityName: String) throws -> ImportResult {
        let values = try records.enumerated().map { index, record in
            guard let value = ImportValue(record) else {
                throw ImportProblem(reason: "holds a value that JSON has not").error(record: index)
            }
            return value
        }
        return try importRecords(values, into: entityName)
    }

    /// Sets the properties of an object as a record says.
    ///
    /// - Parameters:
    ///   - record: an object, ``ImportValue/object(_:)``.
    ///   - object: an object of the context.
    /// - Returns: whether anything is another than before.
    /// - Throws: ``RecordImportError`` for what does not fit; the properties before it are set then.
    @discardableResult
    public func update(_ object: NSManagedObject, from record: ImportValue) throws -> Bool {
        context.requireQueue("importing a record")
        var run = ImportRun(self)
        return try run.update(object, from: record, plan: plan(of: object.entity))
    }

    /// The value that stands for `value` in an attribute; `nil` for null.
    ///
    /// - Throws: ``RecordImportError``, of record 0, where it is of the wrong type or out of the type's range.
    public static func value(of value: ImportValue, for attribute: NSAttributeDescription) throws -> Any? {
        do {
            let slot = try AttributeReading.slotValue(value, for: attribute)
            return AttributeCoercion.value(slot, type: attribute.attributeType)
        } catch let problem as ImportProblem {
            throw problem.below(attribute.name, value: value).error(record: 0)
        }
    }

    /// The property for which a key of a record stands: its own name, or one that the user info gives it; of a key path the
    /// first key. `nil` where there is none.
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
