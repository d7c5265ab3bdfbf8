import CoreData
import Foundation
import Translation

/// `watch`: prints the changes of a list while others change the store.
///
/// The list is a fetched-results controller on the main queue. Each of its callbacks is one line, written immediately.
public struct WatchCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// The name of the entity.
    public var entity: String
    /// The records, their order and sections.
    public var query: RecordQuery
    /// True to end after the first change.
    public var once: Bool
    /// Seconds to watch; `nil` for no limit.
    public var timeout: TimeInterval?
    /// Format of the output.
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

    /// Watches until the time is over, the first change with `once`, or an interruption. None of these is an error,
    /// except the end of the time with `once` before a change.
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

    /// A number without a needless fraction: `5`, `0.5`.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? "\(Int(value))" : "\(value)"
    }

    @MainActor
    private func serveMainQueue(until watcher: ListWatcher, _ interruption: any Interruption) throws {
        // A run loop without any timer would return at once.
        // The end is measured by a clock that is never set.
        let end = timeout.map { ContinuousClock.now + .given(seconds: $0) }
        let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
        RunLoop.main.add(timer, forMode: .default)
        defer { timer.invalidate() }
        // Any call on the main queue ends the wait of its run loop.
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

/// Prints each callback of the controller.
private final class ListWatcher: NSObject, NSFetchedResultsControllerDelegate {
    private let printer: WatchPrinter
    private let changedKeys: ChangedKeyLog
    private let columns: [RecordColumn]
    private let aggregates: AggregateQuery
    /// Aggregates of each section as last printed.
    private var printed: [String: [String]] = [:]
    private let once: Bool
    private(set) var sawChange = false
    /// Error of printing, stored because callbacks cannot throw.
    private(set) var failure: (any Error)?
    private let note: (String) -> Void
    /// Reasons why records could not be read: the previous one, and that of the event being printed.
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

    /// Ends the watch if the store's file was moved or removed, because no later change would be seen.
    // SAFETY: the watcher is created and used on the main queue only.
    func observeLoss(of coordinator: NSPersistentStoreCoordinator) -> any NSObjectProtocol {
        nonisolated(unsafe) weak let watcher = self
        return NotificationCenter.default.addObserver(
            forName: NSPersistentStoreCoordinator.storeFileDidVanishNotification, object: coordinator, queue: nil
        ) { notification in
            let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error
            DispatchQueue.main.async { watcher?.failure = watcher?.failure ?? error }
        }
    }

    /// Reports why records cannot be read, once for each reason.
    // SAFETY: the context posts on its queue, which is the main queue, where the watcher is used.
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
        note(sentence("cannot read records; they are printed without values: \(reason)"))
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
        // Without the history, changes are printed without their keys; the next batch tries again.
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

    /// Printed values of a record; `nil` if the record cannot be read or another program deleted it.
    private func contents(
        of object: NSManagedObject, isDeleted: Bool
    ) -> (label: String, values: RecordFields?, problem: String?) {
        let short = RecordLabel.short(object)
        // A deleted record that is a fault has no values any more.
        if isDeleted, object.isFault { return (short, [], nil) }
        unread = nil
        if !isDeleted {
            object.willAccessValue(forKey: nil)
            if object.isDeleted { return (short, nil, sentence("another program deleted it later")) }
            if object.isFault { return (short, nil, unread ?? lastUnread) }
        }
        let values: RecordFields = columns.map { ($0.name, $0.json(of: object)) }
        let label = RecordLabel.shown(object)
        // The unreadable record is one that this record shows.
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

    /// The sections whose aggregates differ from those last printed.
    private func changedAggregates(_ sections: [any NSFetchedResultsSectionInfo]) -> [SectionLine] {
        guard !aggregates.isEmpty else { return [] }
        let lines = sections.map { SectionLine($0, aggregates) }
        let old = printed
        printed = Dictionary(lines.map { ($0.name, $0.texts) }, uniquingKeysWith: { first, _ in first })
        return lines.filter { old[$0.name] != $0.texts }
    }

    /// Sums the sections' counts without creating objects.
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
