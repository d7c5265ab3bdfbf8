import CoreData
import Foundation
import Translation

/// `watch`: prints how a list changes while others change the store.
///
/// The list is a fetched-results controller on the main queue; each of its callbacks is one line, written out at once.
public struct WatchCommand {
    /// The store, and where its model is.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// Which records, in which order, in which sections.
    public var query: RecordQuery
    /// Ends after the first change.
    public var once: Bool
    /// Ends after so many seconds.
    public var timeout: TimeInterval?
    /// The form of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(
        store: StoreLocation, entity: String, query: RecordQuery = RecordQuery(), once: Bool = false,
        timeout: TimeInterval? = nil, format: OutputFormat = .table
    ) {
        self.store = store
        self.entity = entity
        self.query = query
        self.once = once
        self.timeout = timeout
        self.format = format
    }

    /// Watches until the time is over, the first change with `once`, or an interruption; each is a good end, but for a
    /// time that is over while `once` still waits.
    ///
    /// - Throws: ``CommandError``, or an error of the framework.
    @MainActor
    public func run(in surroundings: CommandSurroundings) throws {
        let session = try StoreSession(store, for: .watching, in: surroundings, context: .mainQueue)
        session.context.automaticallyMergesChangesFromParent = true
        let entity = try session.entity(named: entity)
        let controller = try query.controller(
            of: try query.ordered(for: entity).request(for: entity), for: entity, in: session.context)
        let watcher = ListWatcher(
            printer: WatchPrinter(format: format, output: surroundings.output),
            changedKeys: ChangedKeyLog(context: session.context),
            columns: try ColumnChoice.list(of: entity, sort: [], withObject: false), aggregates: query.aggregates,
            once: once, note: surroundings.note)
        controller.delegate = watcher
        let observers = [
            watcher.observeLoss(of: session.coordinator), watcher.observeUnreadRecords(of: session.context),
        ]
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        try RecordQuery.asking { try controller.performFetch() }
        try watcher.begin(controller)
        try serveMainQueue(until: watcher, surroundings.interruption)
        controller.delegate = nil
        if once, !watcher.sawChange, !surroundings.interruption.isRaised {
            throw timeout == 1
                ? CommandError.failure("no change within 1 second")
                : CommandError.failure("no change within \(Self.number(timeout ?? 0)) seconds")
        }
    }

    /// A number without a fraction that says nothing: `5`, `0.5`.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? "\(Int(value))" : "\(value)"
    }

    @MainActor
    private func serveMainQueue(until watcher: ListWatcher, _ interruption: any Interruption) throws {
        // A run loop without any timer would return at once.
        // The time runs by a clock that is never set.
        let end = timeout.map { ContinuousClock.now + .given(seconds: $0) }
        let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
        RunLoop.main.add(timer, forMode: .default)
        defer { timer.invalidate() }
        // Anything that is called on the main queue ends the wait of a run loop there.
        interruption.whenRaised {}
        while !watcher.isDone, !interruption.isRaised {
            guard let end else {
                _ = RunLoop.main.run(mode: .default, before: .distantFuture)
                continue
            }
            let rest = end - ContinuousClock.now
            guard rest > .zero else { break }
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: min(rest / .seconds(1), 1)))
        }
        if let failure = watcher.failure { throw failure }
    }
}

/// Hears the controller and has each callback printed.
private final class ListWatcher: NSObject, NSFetchedResultsControllerDelegate {
    private let printer: WatchPrinter
    private let changedKeys: ChangedKeyLog
    private let columns: [RecordColumn]
    private let aggregates: AggregateQuery
    /// Aggregates of each section as last printed.
    private var printed: [String: [String]] = [:]
    private let once: Bool
    private(set) var sawChange = false
    /// Error of printing, kept because callbacks cannot throw.
    private(set) var failure: (any Error)?
    private let note: (String) -> Void
    /// Why records could not be read, the last time and while the present event is printed.
    private var lastUnread = ""
    private var unread: String?

    init(
        printer: WatchPrinter, changedKeys: ChangedKeyLog, columns: [RecordColumn], aggregates: AggregateQuery,
        once: Bool, note: @escaping (String) -> Void
    ) {
        self.note = note
        self.aggregates = aggregates
        self.printer = printer
        self.changedKeys = changedKeys
        self.columns = columns
        self.once = once
    }

    /// Ends the watch when the store's file is not in its place any more: nothing more would be seen.
    // SAFETY: the watcher is used on the main queue alone, where it was made.
    func observeLoss(of coordinator: NSPersistentStoreCoordinator) -> any NSObjectProtocol {
        // Used on the main queue alone.
        nonisolated(unsafe) weak let watcher = self
        return NotificationCenter.default.addObserver(
            forName: NSPersistentStoreCoordinator.storeFileDidVanishNotification, object: coordinator, queue: nil
        ) { notification in
            let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error
            DispatchQueue.main.async { watcher?.failure = watcher?.failure ?? error }
        }
    }

    /// Says why records cannot be read, once for each reason.
    // SAFETY: the context posts on its queue, the main queue, where the watcher is used.
    func observeUnreadRecords(of context: NSManagedObjectContext) -> any NSObjectProtocol {
        nonisolated(unsafe) weak let watcher = self
        return NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidFailToFulfillFault, object: context, queue: nil
        ) { notification in
            guard let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error else { return }
            watcher?.noteUnread(CommandError.line(for: error))
        }
    }

    private func noteUnread(_ reason: String) {
        unread = reason
        guard reason != lastUnread else { return }
        lastUnread = reason
        note(sentence("records cannot be read, and are printed without values: \(reason)"))
    }

    var isDone: Bool { failure != nil || once && sawChange }

    func begin<Object>(_ controller: NSFetchedResultsController<Object>) throws {
        let sections = controller.sections ?? []
        try printer.print(
            .fetched(
                sections: sections.map { SectionLine($0, aggregates) }, objects: Self.objectCount(of: sections)))
        _ = changedAggregates(sections)
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        // Without the history the changes are still told, only not their keys; the next batch tries again.
        try? changedKeys.update()
        print(.willChange)
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        print(.section(isInsert: type == .insert, index: sectionIndex, name: sectionInfo.name))
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard let object = anObject as? NSManagedObject else { return }
        let contents = contents(of: object, isDeleted: type == .delete)
        print(
            .object(
                WatchEvent.Object(
                    type: Self.name(of: type), indexPath: indexPath.map(Array.init),
                    newIndexPath: newIndexPath.map(Array.init), uri: RecordLabel.uri(of: object),
                    label: contents.label, values: contents.values, problem: contents.problem,
                    changedKeys: type == .move || type == .update ? changedKeys.takeKeys(of: object) : [])))
    }

    /// Printed values of a record; `nil` if the store cannot be read or the record was deleted.
    private func contents(
        of object: NSManagedObject, isDeleted: Bool
    ) -> (label: String, values: RecordFields?, problem: String?) {
        let short = RecordLabel.short(object)
        // What of a deleted record is not in memory is nowhere.
        if isDeleted, object.isFault { return (short, [], nil) }
        unread = nil
        if !isDeleted {
            object.willAccessValue(forKey: nil)
            if object.isDeleted { return (short, nil, sentence("another program has deleted it since")) }
            if object.isFault { return (short, nil, unread ?? lastUnread) }
        }
        let values: RecordFields = columns.map { ($0.name, $0.json(of: object)) }
        let label = RecordLabel.shown(object)
        // Of a record that this one shows.
        if let unread { return (short, nil, unread) }
        return (label, values, nil)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        sawChange = true
        changedKeys.endBatch()
        let sections = controller.sections ?? []
        for section in changedAggregates(sections) {
            let texts = zip(aggregates.headings, section.texts).map { "\($0) \($1)" }
            let isFlat = controller.sectionNameKeyPath == nil && controller.sectionBy == nil
            print(.aggregates(section: isFlat ? nil : section.name, fields: section.aggregates, texts: texts))
        }
        print(.didChange(sections: sections.count, objects: Self.objectCount(of: sections)))
    }

    /// The sections of which something else is computed than was printed last.
    private func changedAggregates(_ sections: [any NSFetchedResultsSectionInfo]) -> [SectionLine] {
        guard !aggregates.isEmpty else { return [] }
        let lines = sections.map { SectionLine($0, aggregates) }
        let old = printed
        printed = Dictionary(lines.map { ($0.name, $0.texts) }, uniquingKeysWith: { first, _ in first })
        return lines.filter { old[$0.name] != $0.texts }
    }

    /// Counted by section: no objects are made for it.
    private static func objectCount(of sections: [any NSFetchedResultsSectionInfo]) -> Int {
        sections.reduce(0) { $0 + $1.numberOfObjects }
    }

    private func print(_ event: WatchEvent) {
        guard failure == nil else { return }
        do { try printer.print(event) } catch { failure = error }
    }

    private static func name(of type: NSFetchedResultsChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .delete: "delete"
        case .move: "move"
        case .update: "update"
        @unknown default: "change"
        }
    }
}
