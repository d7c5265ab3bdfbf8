import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// Descriptions of transactions in words.
enum TransactionText {
    /// The author of a transaction, if recorded; otherwise its context or process.
    static func author(of transaction: NSPersistentHistoryTransaction) -> String {
        [transaction.author, transaction.contextName, transaction.processID].compactMap { $0 }
            .first { !$0.isEmpty } ?? "?"
    }

    /// The date with seconds.
    static func time(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
        let text = DateDisplay.exact(Date(timeIntervalSinceReferenceDate: seconds))
        return text.contains(":") ? text : text + " 00:00:00Z"
    }

    /// A summary of a transaction: `2 Teams inserted, 1 Team changed`.
    static func summary(_ transaction: NSPersistentHistoryTransaction) -> String {
        var counts: [(type: NSPersistentHistoryChangeType, entity: String, count: Int)] = []
        for change in transaction.changes ?? [] {
            let entity = change.changedObjectID.entity.name ?? "record"
            if let place = counts.firstIndex(where: { $0.type == change.changeType && $0.entity == entity }) {
                counts[place].count += 1
            } else {
                counts.append((change.changeType, entity, 1))
            }
        }
        guard !counts.isEmpty else { return tr("no recorded changes") }
        return counts.map { told($0.type, CountedNoun.text($0.count, $0.entity)) }.joined(separator: tr(", "))
    }

    private static func told(_ type: NSPersistentHistoryChangeType, _ counted: String) -> String {
        switch type {
        case .insert: sentence("\(counted) inserted")
        case .update: sentence("\(counted) changed")
        case .delete: sentence("\(counted) deleted")
        @unknown default: sentence("\(counted) touched")
        }
    }
}
