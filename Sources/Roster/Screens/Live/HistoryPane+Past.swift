import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The list as it was after a transaction.
extension HistoryPane {
    /// Shows the list as it was right after the transaction under the cursor.
    func showPast() {
        guard let transaction = current?.transaction else { return }
        readPast(of: transaction) { pane, list in
            guard pane.browser.layers.top === pane else { return }
            pane.browser.layers.push(PastScreen(pane: pane, session: pane.session, list: list))
        }
    }

    /// Moves to the next or previous transaction and returns it; `nil` at the ends.
    func transaction(_ step: Int) -> NSPersistentHistoryTransaction? {
        guard let number = current?.transaction.transactionNumber,
            let place = transactions.firstIndex(where: { $0.transactionNumber == number })
        else { return nil }
        if step < 0, place == transactions.count - 1 { readOlder() }
        guard transactions.indices.contains(place - step) else { return nil }
        let found = transactions[place - step]
        cursor = rows.firstIndex { $0.transaction === found } ?? cursor
        return found
    }

    /// Reads the list as it was right after a transaction, in the background.
    ///
    /// - Parameter next: called on the main thread unless reading failed or was stopped. Errors are shown to the user.
    func readPast(
        of transaction: NSPersistentHistoryTransaction, then next: @escaping (HistoryPane, PastList) -> Void
    ) {
        stopReading()
        guard let list = browser.list else { return }
        pastReading = Job { [session, entity = list.entity, settings = list.records.settings] in
            try await PastList.read(after: transaction, of: entity, as: settings, in: session)
        } then: { [unowned self] result in
            pastReading = nil
            switch result {
            case .success(let list): next(self, list)
            case .failure(let error): browser.complain(error)
            }
            browser.needsDisplay = true
        }
    }

    /// Stops reading a list. Returns false if none was being read.
    @discardableResult
    func stopReading() -> Bool {
        defer { pastReading = nil }
        return pastReading != nil
    }
}
