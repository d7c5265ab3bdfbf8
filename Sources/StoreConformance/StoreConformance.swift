import CoreData
import Foundation

/// A stack with one store type, in a temporary folder, and the scenarios that every store type has to pass.
///
/// A program with its own store type registers it and runs the scenarios in its tests:
///
/// ```swift
/// @Test(arguments: StoreConformance.scenarios) func conforms(_ scenario: StoreConformance.Scenario) throws {
///     try scenario.run(on: StoreConformance(MyStore.type))
/// }
/// ```
///
/// Each run creates a new store. The folder is deleted with the instance. Use an instance on one thread at a time.
public final class StoreConformance {
    /// The optional features of a store type.
    public struct Traits: OptionSet, Sendable {
        /// The traits as bits.
        public let rawValue: Int

        /// The traits of these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Rows outlive their coordinator: the store can be opened again.
        public static let keepsRows = Traits(rawValue: 1)
        /// The store refuses a save that breaks a uniqueness constraint of the model (133021).
        public static let constraints = Traits(rawValue: 2)
        /// `migratePersistentStore` can make stores of the type.
        public static let copyTarget = Traits(rawValue: 4)
        /// The store keeps a history if `NSPersistentHistoryTrackingKey` is set.
        public static let history = Traits(rawValue: 8)

        /// The default traits of the scenarios.
        public static let usual: Traits = [.keepsRows, .constraints, .copyTarget]
    }

    /// One requirement of a store type.
    public struct Scenario: Sendable, CustomStringConvertible {
        /// A short description.
        public let name: String
        /// The traits that the store type must have; otherwise the scenario is skipped.
        let needs: Traits
        let body: @Sendable (StoreConformance) throws -> Void

        init(_ name: String, needs: Traits = [], _ body: @escaping @Sendable (StoreConformance) throws -> Void) {
            self.name = name
            self.needs = needs
            self.body = body
        }

        public var description: String { name }

        /// The outcome of a scenario that did not fail.
        public enum Outcome: Equatable, Sendable {
            /// The store met the requirement.
            case passed
            /// The scenario was not run, because the store type lacks these traits.
            case skipped(Traits)
        }

        /// Runs the scenario if the store's type has the required traits.
        ///
        /// - Parameter stack: a new stack that was not used before.
        /// - Returns: the outcome: passed, or skipped with the missing traits.
        /// - Throws: ``ConformanceFailure`` if the store behaves differently; an error of the store if it fails.
        @discardableResult
        public func run(on stack: StoreConformance) throws -> Outcome {
            guard stack.traits.isSuperset(of: needs) else { return .skipped(needs.subtracting(stack.traits)) }
            do { try body(stack) } catch var failure as ConformanceFailure {
                failure.scenario = name
                throw failure
            }
            return .passed
        }
    }

    /// All scenarios.
    public static let scenarios: [Scenario] =
        rowScenarios + boundsScenarios + relationshipScenarios + deleteRuleScenarios + fetchScenarios + randomScenarios
        + faultScenarios + changeScenarios + conflictScenarios + refusalScenarios + sizeScenarios + metadataScenarios
        + historyScenarios

    /// The folder of the store, empty at first.
    public let folder: URL
    /// The URL of the store.
    public let url: URL
    /// The type of the store.
    public let type: NSPersistentStore.StoreType
    /// The optional features of the type.
    public let traits: Traits
    /// The model of the scenarios: a library with authors, books and tags, a sample of each type of attribute, and
    /// entities with relationships of every form, delete rules and conditions.
    public let model: NSManagedObjectModel
    /// The options for opening the store.
    public let options: [AnyHashable: Any]
    /// The number of rows for scenarios with many rows. Set fewer for stores where each row needs a query.
    public var manyRows = 5_000
    /// The size of the largest binary value, in bytes. Set a smaller one for stores that write all values with each
    /// save.
    public var largestData = 3 << 20
    /// The coordinator of the open store.
    public private(set) var coordinator: NSPersistentStoreCoordinator

    /// Creates a store of the type in a new temporary folder.
    ///
    /// - Parameters:
    ///   - type: a registered store type.
    ///   - traits: the optional features of the type.
    ///   - options: the options of each opening.
    ///   - place: returns the URL of the store, if it is not in the folder that is passed.
    /// - Throws: the error of creating the folder, or of `addPersistentStore(type:configuration:at:options:)`.
    public init(
        _ type: NSPersistentStore.StoreType, traits: Traits = .usual, options: [AnyHashable: Any] = [:],
        at place: (URL) throws -> URL = { $0.appendingPathComponent("Library.store") }
    ) throws {
        self.type = type
        self.traits = traits
        self.options = options
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("stores-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = try place(folder)
        model = Self.library()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url, options: options)
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The open store.
    public var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// True if the rows outlive their coordinator.
    public var keepsRows: Bool { traits.contains(.keepsRows) }

    /// Opens the same store in a new coordinator.
    ///
    /// - Parameter options: the options; `nil` for those of the first opening.
    /// - Throws: the errors of removing and adding the store.
    public func reopen(options: [AnyHashable: Any]? = nil) throws {
        try coordinator.remove(store)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url, options: options ?? self.options)
    }

    /// A new context with its own queue.
    public func context() -> NSManagedObjectContext { Self.context(coordinator) }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs `body` on the queue of a new context.
    public func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }
}
