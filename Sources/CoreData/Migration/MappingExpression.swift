import Foundation
import ModelFiles
import PredicateSyntax

/// An expression of a mapping model, with the values of its variables.
struct MappingExpression {
    let tree: ExpressionTree
    let manager: NSMigrationManager
    /// The owner of the expression, for messages.
    let owner: () -> String

    init(tree: ExpressionTree, manager: NSMigrationManager, owner: @autoclosure @escaping () -> String) {
        self.tree = tree
        self.manager = manager
        self.owner = owner
    }

    /// The key, if the expression is a single property of the source object, as for most attributes; otherwise `nil`.
    var keyOfSource: String? {
        guard case .keyPathOf(.variable(NSMigrationSourceObjectKey), let keys) = tree, keys.count == 1 else {
            return nil
        }
        return keys[0]
    }

    /// Returns the value of a key of a source object.
    ///
    /// - Throws: 134170 if the object has no such property.
    func value(of key: String, in source: NSManagedObject) throws -> Any? {
        try check(key, of: source)
        return source.value(forKey: key)
    }

    /// Evaluates the expression.
    ///
    /// - Parameter variables: the values by name, without `$`.
    /// - Throws: 134170 if the expression refers to something unknown; the error of a policy's function.
    func value(_ variables: [String: Any]) throws -> Any? {
        if let key = keyOfSource {
            guard let source = variables[NSMigrationSourceObjectKey] as? NSManagedObject else { return nil }
            return try value(of: key, in: source)
        }
        switch tree {
        // The source expression of an entity mapping as Xcode writes it. The run itself fetches in the source
        // context.
        case .function(ExpressionTree.fetchFunction, let parts) where parts.count == 3:
            return try MappingExpression(tree: parts[0], manager: manager, owner: owner()).value(variables)
        case .functionOn(let target, let selector, let arguments):
            return try call(selector, on: target, arguments, variables)
        default:
            let plain = try withoutCalls(tree, variables)
            try checkKeys(of: plain, variables)
            do {
                return try CompiledExpression.value(
                    of: plain, object: variables[NSMigrationSourceObjectKey], variables: variables)
            } catch {
                throw failure("cannot be evaluated: \(error.localizedDescription)")
            }
        }
    }

    private func failure(_ reason: String) -> NSError {
        CoreDataError.make(134170, "The expression \(FormatPrinter.string(tree)) of \(owner()) \(reason).")
    }

    // MARK: Key paths

    /// Checks that an object has the first property of a key path. The later objects on the path check the rest.
    private func check(_ key: String, of object: NSManagedObject) throws {
        guard object.entity.propertiesByName[key] == nil, !key.hasPrefix("@"), key != "self", key != "objectID" else {
            return
        }
        throw failure("names \(key), which \(object.entity.name ?? "") does not have")
    }

    private func checkKeys(of tree: ExpressionTree, _ variables: [String: Any]) throws {
        switch tree {
        case .keyPathOf(.variable(let name), let keys):
            guard let object = variables[name] as? NSManagedObject, let key = keys.first else { return }
            try check(key, of: object)
        case .keyPath(let keys):
            guard let object = variables[NSMigrationSourceObjectKey] as? NSManagedObject, let key = keys.first else {
                return
            }
            try check(key, of: object)
        case .variable(let name):
            guard variables[name] == nil else { return }
            throw failure("names $\(name), which has no value in this mapping")
        case .function(_, let parts), .aggregate(let parts): for part in parts { try checkKeys(of: part, variables) }
        case .keyPathOf(let base, _): try checkKeys(of: base, variables)
        case .set(_, let left, let right):
            try checkKeys(of: left, variables)
            try checkKeys(of: right, variables)
        default: break
        }
    }

    // MARK: Calls

    /// The expression with its calls replaced by their values.
    private func withoutCalls(_ tree: ExpressionTree, _ variables: [String: Any]) throws -> ExpressionTree {
        func plain(_ part: ExpressionTree) throws -> ExpressionTree { try withoutCalls(part, variables) }
        switch tree {
        case .functionOn(let target, let selector, let arguments):
            return .constant(try call(selector, on: target, arguments, variables))
        case .function(let name, let parts): return .function(name, try parts.map(plain))
        case .aggregate(let parts): return .aggregate(try parts.map(plain))
        case .keyPathOf(let base, let keys): return .keyPathOf(try plain(base), keys)
        case .index(let base, let index): return .index(try plain(base), index)
        case .conditional(let condition, let first, let second):
            return .conditional(condition, try plain(first), try plain(second))
        case .set(let operation, let left, let right): return .set(operation, try plain(left), try plain(right))
        default: return tree
        }
    }

    private func call(
        _ selector: String, on target: ExpressionTree, _ arguments: [ExpressionTree], _ variables: [String: Any]
    ) throws -> Any? {
        let values = try arguments.map { argument in
            try MappingExpression(tree: argument, manager: manager, owner: owner()).value(variables)
        }
        guard case .variable(let name) = target else {
            throw failure("calls \(selector) on something other than $manager or $entityPolicy")
        }
        switch variables[name] {
        case let manager as NSMigrationManager: return try call(selector, on: manager, values)
        case let policy as NSEntityMigrationPolicy: return try policy.value(ofFunction: selector, arguments: values)
        case let object as NSManagedObject where ["valueForKey:", "valueForKeyPath:"].contains(selector):
            // Mapping models made in code often contain `$source.key`.
            guard values.count == 1, let keyPath = values[0] as? String else {
                throw failure("calls \(selector) of $\(name) with arguments other than a key path")
            }
            return try MappingExpression(
                tree: .keyPathOf(.variable(name), keyPath.split(separator: ".").map(String.init)), manager: manager,
                owner: owner()
            ).value([name: object])
        default: throw failure("calls \(selector) on $\(name), but only $manager and $entityPolicy have functions")
        }
    }

    private func call(_ selector: String, on manager: NSMigrationManager, _ values: [Any?]) throws -> Any? {
        guard values.count == 2, let name = values[0] as? String else {
            throw failure("calls \(selector) of the manager with arguments other than a name and a value")
        }
        switch selector {
        case MappingSelectors.fetchRequest:
            return try manager.fetchRequest(forSourceEntityNamed: name, predicateString: values[1] as? String)
        case MappingSelectors.destinations:
            guard manager.mappingModel.entityMappingsByName[name] != nil else {
                throw failure("names the mapping \(name), which the mapping model does not have")
            }
            return manager.destinationInstances(forEntityMappingName: name, sourceInstances: objects(values[1]))
        case MappingSelectors.sources:
            return manager.sourceInstances(forEntityMappingName: name, destinationInstances: objects(values[1]))
        case MappingSelectors.relationshipDestinations:
            return manager.destinationInstances(of: objects(values[1]))
        default: throw failure("calls \(selector), which migration managers do not have")
        }
    }

    /// The objects in the value of a relationship, in order.
    private func objects(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: [object]
        case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
        case let list as [Any]: list.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: Array(set)
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}
