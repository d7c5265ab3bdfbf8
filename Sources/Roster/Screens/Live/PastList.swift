import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A list as it was right after a transaction. Later records are omitted. Records deleted since then are in their
/// section and order, with the values of their tombstones. Other values are today's; a column lists the changes.
///
/// Design note. A results controller in a context of its own, which is never saved, computes the list. In this context,
/// new records replace deleted ones and the predicate excludes later ones. Sections, order and filter are
/// therefore exactly those of the list. The list does not update.
final class PastList: ListSource {
    /// The transaction after which the list was in this state.
    let transaction: NSPersistentHistoryTransaction
    let past: PastRecords
    let records: RecordList
    private let context: NSManagedObjectContext
    /// The IDs of deleted records, by the IDs of the records that replace them in this context.
    private var standIns: [NSManagedObjectID: NSManagedObjectID] = [:]
    private var standInsByID: [NSManagedObjectID: NSManagedObject] = [:]
    /// The rows that differ from today's list, from top to bottom.
    private(set) var differing: [ListPath] = []
    /// Number of records of the list that are deleted now.
    private(set) var deletedCount = 0
    /// Number of records in each section whose section is unknown.
    private var unplaced: [Int: Int] = [:]

    /// Reads the list, mostly in the background.
    ///
    /// - Throws: 134301 if the history was removed or the store replaced during reading; errors of the fetches.
    // SAFETY: the entity and the transaction are immutable.
    static func read(
        after transaction: NSPersistentHistoryTransaction, of entity: NSEntityDescription, as settings: ListSettings,
        in session: StoreSession
    ) async throws -> PastList {
        let reader = session.container.newBackgroundContext()
        let past = try await reader.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: transaction.token)
            let result = try reader.execute(request) as? NSPersistentHistoryResult
            return PastRecords(before: result?.result as? [NSPersistentHistoryTransaction] ?? [], of: entity)
        }
        try Task.checkCancellation()
        let list = try PastList(
            after: transaction, past, of: entity, as: settings, in: session.container.persistentStoreCoordinator)
        let deleted = past.deleted.sorted { $0.value.transaction < $1.value.transaction }
        for (number, (id, deletion)) in deleted.enumerated() {
            try await pause(before: number)
            list.putStandIn(for: id, deletion)
        }
        try await list.records.controller.refetch(telling: .contents)
        try await list.refresh()
        return list
    }

    private init(
        after transaction: NSPersistentHistoryTransaction, _ past: PastRecords, of entity: NSEntityDescription,
        as settings: ListSettings, in coordinator: NSPersistentStoreCoordinator
    ) throws {
        self.transaction = transaction
        self.past = past
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        records = try RecordList(entity: entity, settings: settings, context: context, excluding: past.inserted)
        records.isFollowing = false
    }

    /// Pauses after every 256 records. In a pause keys are handled, and the task may be cancelled.
    private static func pause(before number: Int) async throws {
        guard number % 256 == 255 else { return }
        try await Task.sleep(for: .milliseconds(1))
    }

    private func putStandIn(for id: NSManagedObjectID, _ deletion: PastRecords.Deletion) {
        let record = NSManagedObject(entity: id.entity, insertInto: context)
        record.take(deletion.values)
        standIns[record.objectID] = id
        standInsByID[id] = record
    }

    private func refresh() async throws {
        records.refresh()
        let key = records.settings.sectionKey
        for (number, (id, record)) in standInsByID.enumerated() {
            try await Self.pause(before: number)
            guard let path = records.path(of: record) else { continue }
            if let key, past.deleted[id]?.values[key] == nil { unplaced[path.section, default: 0] += 1 }
            differing.append(path)
        }
        deletedCount = differing.count
        for (number, id) in past.changed.keys.enumerated() {
            try await Self.pause(before: number)
            if let path = records.path(of: context.object(with: id)) { differing.append(path) }
        }
        differing.sort()
    }

    /// Number of records of the list that were changed since then.
    var changedCount: Int { differing.count - deletedCount }

    // MARK: Records

    /// The ID in the store of the record at a row, or its former ID if it was deleted.
    func id(at path: ListPath) -> NSManagedObjectID? {
        records.object(at: path).map { standIns[$0.objectID] ?? $0.objectID }
    }

    /// The row of a record; `nil` if it was not in the list.
    func path(of id: NSManagedObjectID) -> ListPath? {
        records.path(of: standInsByID[id] ?? context.object(with: id))
    }

    /// The deletion of the record at a row; `nil` if the record exists.
    func deletion(at path: ListPath) -> PastRecords.Deletion? {
        records.object(at: path).flatMap { standIns[$0.objectID] }.flatMap { past.deleted[$0] }
    }

    // MARK: ListSource

    var columns: [ListColumn] {
        var columns = records.display.columns.map(\.listColumn)
        columns.insert(ListColumn(id: Self.sinceKey, title: tr("Since then"), leastWidth: 24), at: sinceColumn)
        return columns
    }

    /// An ID that no property has.
    private static let sinceKey = ":since"
    /// The index of the column with the changes: the first one that scrolls.
    private var sinceColumn: Int { max(0, min(records.settings.columns.frozen, records.display.columns.count)) }

    var sectionCount: Int { records.sectionCount }
    func title(ofSection section: Int) -> String {
        guard let count = unplaced[section] else { return records.title(ofSection: section) }
        return count == rowCount(inSection: section) ? tr("(unknown)") : tr("(none or unknown)")
    }
    func key(ofSection section: Int) -> String { records.key(ofSection: section) }
    func rowCount(inSection section: Int) -> Int { records.rowCount(inSection: section) }

    func text(ofColumn column: Int, at row: ListPath) -> String {
        guard let record = records.object(at: row) else { return "" }
        if column == sinceColumn { return since(record) }
        let columns = records.display.columns
        let column = column < sinceColumn ? column : column - 1
        guard let id = standIns[record.objectID], let deletion = past.deleted[id] else {
            return records.text(ofColumn: column, at: row)
        }
        // A value that the history did not keep is shown as `?`, to distinguish it from nil and from an empty text.
        if deletion.values[columns[column].key] != nil { return records.text(ofColumn: column, at: row) }
        return column == 0 ? "\(id.entity.name ?? "?") \(id.uriRepresentation().lastPathComponent)" : "?"
    }

    private func since(_ record: NSManagedObject) -> String {
        if let id = standIns[record.objectID], let deletion = past.deleted[id] {
            return sentence("deleted in #\(deletion.transaction)")
        }
        guard let names = past.changed[record.objectID] else { return "" }
        let titles = names.map { PropertyTitle.title($0) }.sorted()
        return titles.isEmpty ? tr("properties unknown") : titles.joined(separator: ", ")
    }

    func mark(at row: ListPath) -> RowMark? {
        guard let record = records.object(at: row) else { return nil }
        if standIns[record.objectID] != nil || record.isDeleted { return .removed }
        return past.changed[record.objectID] == nil ? nil : .updated
    }
}
