import Foundation
import Synchronization

/// The mapping between entities and the classes of their objects.
///
/// Models name classes in Apple's forms: `Team`, `Module.Team`, or `.Team` for the program's own module. Without the
/// Objective-C runtime, finding a class by name needs its module. These modules are tried: that whose resources contain
/// the model, those of all classes whose entity was requested, and the program's own.
enum ManagedObjectClasses {
    private struct WeakModel {
        weak var model: NSManagedObjectModel?
    }

    // SAFETY: the lock protects all of it, and the `registeredClass` of entities.
    private final class Known: @unchecked Sendable {
        struct Values {
            var models: [WeakModel] = []
            var modules: [String] = []
        }

        // Not a `Mutex`: the thread sanitizer does not detect its hand-over between waiting threads.
        private let lock = NSLock()
        private var values = Values()

        func withLock<Result>(_ body: (inout Values) -> Result) -> Result { lock.withLock { body(&values) } }
    }

    private static let known = Known()
    /// A counter that each registration of a class increases, so that look-ups that failed before are repeated.
    private static let registrations = Atomic<Int>(1)
    static var generation: Int { registrations.load(ordering: .acquiring) }

    // MARK: Models

    /// Makes a model's entities known to `entity()`. Called by a coordinator that begins to use the model.
    static func use(_ model: NSManagedObjectModel) {
        known.withLock { known in
            known.models.removeAll { $0.model == nil }
            guard !known.models.contains(where: { $0.model === model }) else { return }
            known.models.append(WeakModel(model: model))
        }
    }

    // MARK: From class to entity

    /// The entity that has the class in the models in use. If there is none, prints an error to standard error and
    /// returns an entity without a name or a model.
    static func entity(of type: NSManagedObject.Type) -> NSEntityDescription {
        if let entity = knownEntity(of: type) { return entity }
        let text =
            "+[\(type) entity] failed to find an entity with the class '\(type)' in the models that are in use.\n"
        FileHandle.standardError.write(Data(text.utf8))
        return NSEntityDescription()
    }

    /// The entity that has the class in the model most recently put into use; `nil` if no model in use has one.
    static func knownEntity(of type: NSManagedObject.Type) -> NSEntityDescription? {
        let models = known.withLock { $0.models.compactMap(\.model) }
        for model in models.reversed() {
            if let entity = entity(of: type, in: model) { return entity }
        }
        return nil
    }

    /// The only entity of `model` that has the class; `nil` if there is none.
    static func entity(of type: NSManagedObject.Type, in model: NSManagedObjectModel) -> NSEntityDescription? {
        let fullName = String(reflecting: type)
        let shortName = String(describing: type)
        let candidates = model.entities.filter { lastComponent($0.managedObjectClassName) == shortName }
        let exact = candidates.filter { $0.managedObjectClassName == fullName }
        let found = exact.isEmpty ? candidates : exact
        guard found.count <= 1 else {
            let names = found.compactMap(\.name).sorted().joined(separator: ", ")
            preconditionFailure("Several entities of the model have the class '\(type)': \(names).")
        }
        guard let entity = found.first else { return nil }
        register(type, for: entity)
        return entity
    }

    /// Registers the class of objects of `entity`, for names that alone do not identify it.
    static func register(_ type: NSManagedObject.Type, for entity: NSEntityDescription) {
        let module = String(String(reflecting: type).prefix { $0 != "." })
        known.withLock { known in
            guard entity.registeredClass != type else { return }
            if !known.modules.contains(module) { known.modules.append(module) }
            entity.registeredClass = type
            registrations.add(1, ordering: .releasing)
        }
    }

    /// Registers the class of new objects of `entity`, so that its bare name identifies it from now on.
    ///
    /// Cost: reads one word if the entity's previous object had the same class.
    @inline(__always)
    static func note(_ type: NSManagedObject.Type, of entity: NSEntityDescription, _ traits: EntityTraits) {
        let address = UInt(bitPattern: ObjectIdentifier(type))
        if traits.classInUse.load(ordering: .relaxed) != address { noteAnother(type, of: entity, traits, address) }
    }

    @inline(never)
    private static func noteAnother(
        _ type: NSManagedObject.Type, of entity: NSEntityDescription, _ traits: EntityTraits, _ address: UInt
    ) {
        traits.classInUse.store(address, ordering: .relaxed)
        let name = entity.managedObjectClassName ?? ""
        if type != NSManagedObject.self, lastComponent(name) == String(describing: type) { register(type, for: entity) }
    }

    // MARK: From entity to class

    /// The class of objects of `entity`: `NSManagedObject` itself if the class that the model names does not exist.
    ///
    /// Called for each new object, while a look-up by name searches the whole program even if it fails. So the result
    /// is cached in the entity's layout until another module or class becomes known.
    static func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        let layout = entity.layout
        let generation = generation
        let found: AnyClass? = known.withLock { _ in
            layout.objectClassGeneration == generation ? layout.objectClass : nil
        }
        if let found = found as? NSManagedObject.Type { return found }
        let type = findObjectClass(of: entity)
        known.withLock { _ in
            layout.objectClass = type
            layout.objectClassGeneration = generation
        }
        return type
    }

    private static func findObjectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        let name = entity.managedObjectClassName ?? ""
        guard !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
        let registered: AnyClass? = known.withLock { _ in entity.registeredClass }
        if let registered = registered as? NSManagedObject.Type, lastComponent(name) == String(describing: registered) {
            return registered
        }
        for candidate in candidateNames(name, modules: entity.owningModel?.classModules ?? []) {
            if let type = NSClassFromString(candidate) as? NSManagedObject.Type { return type }
        }
        return testClass(named: lastComponent(name)) ?? NSManagedObject.self
    }

    /// The class of that bare name in the modules of a test bundle, whose names differ from the bundle's; `nil` if
    /// several modules have one.
    private static func testClass(named name: String) -> NSManagedObject.Type? {
        let found = ModelResources.testModules.compactMap { module in
            NSClassFromString("\(module).\(name)") as? NSManagedObject.Type
        }
        return found.count == 1 ? found[0] : nil
    }

    private static func candidateNames(_ name: String, modules: [String]) -> [String] {
        let short = lastComponent(name)
        let modules = modules + known.withLock { $0.modules } + [ModelResources.programModule]
        return (name.hasPrefix(".") ? [] : [name]) + modules.map { "\($0).\(short)" }
    }

    private static func lastComponent(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }
}
