import CoreData
import Foundation

/// A stack over one store type, in a folder of its own, and the scenarios that every store type has to pass.
///
/// A program that has a store type of its own registers it and runs the scenarios in its tests:
///
/// ```swift
/// @Test(arguments: StoreConformance.scenarios) func conforms(_ scenario: StoreConformance.Scenario) throws {
///     try scenario.run(on: StoreConformance(MyStore.type))
/// }
/// ```
///
/// Each run makes a store anew. The folder goes away with the instance. An instance is used by one thread at a time.
public final class StoreConformance {
    /// What a store type does beside what all of them do.
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
        /// The store keeps a history where `NSPersistentHistoryTrackingKey` asks for it.
        public static let history = Traits(rawValue: 8)

        /// What the scenarios expect where nothing else is said.
        public static let usual: Traits = [.keepsRows, .constraints, .copyTarget]
    }

    /// One thing that a store type has to do.
    public struct Scenario: Sendable, CustomStringConvertible {
        /// What it shows, in a few words.
        public let name: String
        /// What the store type has to have for it; with others the scenario is skipped.
        let needs: Traits
        let body: @Sendable (StoreConformance) throws -> Void

        init(_ name: String, needs: Traits = [], _ body: @escaping @Sendable (StoreConformance) throws -> Void) {
            self.name = name
            self.needs = needs
            self.body = body
        }

        public var description: String { name }

        /// What came of running a scenario whose store did not fail it.
        public enum Outcome: Equatable, Sendable {
            /// The store did what it has to do.
            case passed
            /// Nothing was done with the store, as its type lacks these traits.
            case skipped(Traits)
        }

        /// Runs the scenario, if the store's type has the traits that it needs.
        ///
        /// - Parameter stack: a fresh one: nothing was done with it before.
        /// - Returns: whether it was run.
        /// - Throws: ``ConformanceFailure`` where the store did something else; an error of the store where it failed.
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

    /// The folder in which the store stands, with nothing else in it at first.
    public let folder: URL
    /// Where the store stands.
    public let url: URL
    /// The type of the store.
    public let type: NSPersistentStore.StoreType
    /// What the type does beside what all do.
    public let traits: Traits
    /// The model of the scenarios: a library with authors, books and tags, a sample of each type of attribute, and entities with
    /// relationships of every shape, delete rules and conditions.
    public let model: NSManagedObjectModel
    /// The options with which the store is opened.
    public let options: [AnyHashable: Any]
    /// How many rows the store gets where a scenario wants many. Fewer for stores where each row costs a question of its own.
    public var manyRows = 5_000
    /// Size of the largest binary value, in bytes. Smaller for stores that write all values with each save.
    public var largestData = 3 << 20
    /// The coordinator of the store that is open now.
    public private(set) var coordinator: NSPersistentStoreCoordinator

    /// Makes a store of the type in a new temporary folder.
    ///
    /// - Parameters:
    ///   - type: a store type that is registered.
    ///   - traits: what the type does beside what all do.
    ///   - options: the options of each opening.
    ///   - place: the URL of the store, where it is none in the folder that it is given.
    /// - Throws: the error of making the folder, or of `addPersistentStore(type:configuration:at:options:)`.
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

    /// The store, as it is open now.
    public var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// Whether the rows outlive their coordinator.
    public var keepsRows: Bool { traits.contains(.keepsRows) }

    /// Opens the same store in a new coordinator.
    ///
    /// - Parameter options: `nil` takes those of the first opening.
    /// - Throws: what removing and adding the store throw.
    public func reopen(options: [AnyHashable: Any]? = nil) throws {
        try coordinator.remove(store)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url, options: options ?? self.options)
    }

    /// A new context with a queue of its own.
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
