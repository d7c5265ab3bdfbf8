import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A list as it was right after a transaction: what came later is left out, and what was deleted since stands in it, in its
/// section and order, with what its tombstone kept. Values are those of today; a column says what changed since.
///
/// Design note. The list is a results controller's, in a context of its own that is never saved: in it, new records stand for
/// those that were deleted, and the predicate leaves out what came later. So sections, order and filter are exactly those of
/// the list. It stays as it was read.
final class PastList: ListSource {
    /// The transaction after which the list was so.
    let transaction: NSPersistentHistoryTransaction
    let past: PastRecords
    let records: RecordList
    private let context: NSManagedObjectContext
    /// The IDs of the deleted records for which records of this context stand.
    private var standIns: [NSManagedObjectID: NSManagedObjectID] = [:]
    private var standInsByID: [NSManagedObjectID: NSManagedObject] = [:]
    /// The rows that differ from today's list, from the top.
    private(set) var differing: [ListPath] = []
    /// How many of the list's records are deleted now.
    private(set) var deletedCount = 0
    /// In which sections there are records whose section is not known, and how many.
    private var unplaced: [Int: Int] = [:]

    /// Reads the list, most of it beside the queue.
    ///
    /// - Throws: 134301 where the history was removed or the store put back meanwhile; what a fetch throws.
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

    /// What is done for each of many records is done in steps: keys are answered between them, and one of them may stop it.
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

    /// How many of the list's records were changed since.
    var changedCount: Int { differing.count - deletedCount }

    // MARK: Records

    /// The ID that the record in a row has in the store, or had before it was deleted.
    func id(at path: ListPath) -> NSManagedObjectID? {
        records.object(at: path).map { standIns[$0.objectID] ?? $0.objectID }
    }

    /// The row of a record; `nil` where it was not in the list.
    func path(of id: NSManagedObjectID) -> ListPath? {
        records.path(of: standInsByID[id] ?? context.object(with: id))
    }

    /// How the record in a row was deleted; `nil` for one that is still there.
    func deletion(at path: ListPath) -> PastRecords.Deletion? {
        records.object(at: path).flatMap { standIns[$0.objectID] }.flatMap { past.deleted[$0] }
    }

    // MARK: What the list view asks

    var columns: [ListColumn] {
        records.display.columns.map(\.listColumn) + [
            ListColumn(id: Self.sinceKey, title: tr("Since then"), priority: Self.sincePriority)
        ]
    }

    /// No property has this name.
    private static let sinceKey = ":since"
    /// Before ordinary columns, behind what names the records.
    private static let sincePriority = 10_000

    var sectionCount: Int { records.sectionCount }
    func title(ofSection section: Int) -> String {
        guard let count = unplaced[section] else { return records.title(ofSection: section) }
        return count == rowCount(inSection: section) ? tr("(not kept)") : tr("(none, or not kept)")
    }
    func key(ofSection section: Int) -> String { records.key(ofSection: section) }
    func rowCount(inSection section: Int) -> Int { records.rowCount(inSection: section) }

    func text(ofColumn column: Int, at row: ListPath) -> String {
        guard let record = records.object(at: row) else { return "" }
        let columns = records.display.columns
        guard columns.indices.contains(column) else { return since(record) }
        guard let id = standIns[record.objectID], let deletion = past.deleted[id] else {
            return records.text(ofColumn: column, at: row)
        }
        // What is not known is no value, and no empty text either.
        if deletion.values[columns[column].key] != nil { return records.text(ofColumn: column, at: row) }
        return column == 0 ? "\(id.entity.name ?? "?") \(id.uriRepresentation().lastPathComponent)" : "?"
    }

    private func since(_ record: NSManagedObject) -> String {
        if let id = standIns[record.objectID], let deletion = past.deleted[id] {
            return sentence("deleted in #\(deletion.transaction)")
        }
        guard let names = past.changed[record.objectID] else { return "" }
        let titles = names.map { PropertyTitle.title($0) }.sorted()
        return titles.isEmpty ? tr("not kept which") : titles.joined(separator: ", ")
    }

    func mark(at row: ListPath) -> RowMark? {
        guard let record = records.object(at: row) else { return nil }
        if standIns[record.objectID] != nil || record.isDeleted { return .removed }
        return past.changed[record.objectID] == nil ? nil : .updated
    }
}
