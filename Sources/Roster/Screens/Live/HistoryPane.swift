import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The transactions of the store, newest first, with program, author, time and changes.
final class HistoryPane: MovingScreen {
    struct Row {
        let transaction: NSPersistentHistoryTransaction
        /// One change of the transaction; `nil` for the row of the transaction itself.
        let change: NSPersistentHistoryChange?
    }

    unowned let browser: Browser
    let session: StoreSession
    private(set) var isFinished = false
    var cursor = 0
    private var top = 0
    private(set) var height = 1
    var keys = KeySequenceReader(readsCounts: true)
    private(set) var transactions: [NSPersistentHistoryTransaction] = []
    private var unfolded: Set<Int64> = []
    private(set) var rows: [Row] = []
    /// The authors of the transactions read, for the width of their column.
    private var authors: Set<String> = []
    /// Cached summaries by transaction number, because a transaction may have changed many records.
    private var summaries: [Int64: String] = [:]
    private var problem: String?
    private var revision = -1
    private var limit = 200
    private static let greatestLimit = 20_000
    /// Reads a past list in the background.
    var pastReading: Job<PastList>?

    init(browser: Browser, session: StoreSession) {
        self.browser = browser
        self.session = session
        reload()
    }

    // MARK: Contents

    private func reload() {
        revision = session.revision
        summaries = [:]
        let current = current
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let fetch = NSFetchRequest<NSFetchRequestResult>()
        fetch.entity = NSPersistentHistoryTransaction.entityDescription(with: session.context)
        fetch.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        fetch.fetchLimit = limit
        request.fetchRequest = fetch
        do {
            let result = try session.context.execute(request) as? NSPersistentHistoryResult
            transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            problem = transactions.isEmpty ? "no transactions: nothing was saved yet, or the history was deleted" : nil
        } catch {
            transactions = []
            problem =
                (error as NSError).code == 134_091
                ? tr("this store has no history") : CommandError.line(for: error)
        }
        showRows(keeping: current)
    }

    /// Reads only the newer transactions, because the history may be long.
    private func readNewer() {
        guard let newest = transactions.first else { return reload() }
        revision = session.revision
        let current = current
        do {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: newest.token)
            let result = try session.context.execute(request) as? NSPersistentHistoryResult
            let newer = result?.result as? [NSPersistentHistoryTransaction] ?? []
            guard !newer.isEmpty else { return }
            transactions = Array((newer.reversed() + transactions).prefix(Self.greatestLimit))
            limit = min(Self.greatestLimit, limit + newer.count)
            showRows(keeping: current)
        } catch {
            // The beginning of the history was removed, or the store was restored.
            reload()
        }
    }

    /// Rebuilds the rows. The cursor stays on its row.
    private func showRows(keeping current: Row?) {
        makeRows()
        if let current {
            cursor =
                rows.firstIndex {
                    $0.transaction.transactionNumber == current.transaction.transactionNumber
                        && $0.change?.changeID == current.change?.changeID
                } ?? cursor
        }
        move(by: 0)
    }

    private func makeRows() {
        authors = Set(transactions.map(TransactionText.author))
        rows = transactions.flatMap { transaction -> [Row] in
            let head = Row(transaction: transaction, change: nil)
            guard unfolded.contains(transaction.transactionNumber) else { return [head] }
            return [head] + (transaction.changes ?? []).map { Row(transaction: transaction, change: $0) }
        }
    }

    var current: Row? { rows.indices.contains(cursor) ? rows[cursor] : nil }

    // MARK: Commands

    func move(by lines: Int) {
        cursor = max(0, min(rows.count - 1, cursor + lines))
        if lines > 0, cursor == rows.count - 1 { readOlder() }
    }

    func move(byPages pages: Double) { move(by: Int(pages) * height) }

    func moveToStart() { go(toLine: keys.count ?? 1) }

    func moveToEnd() { go(toLine: keys.count ?? rows.count) }

    /// Goes to a line, counted from 1.
    private func go(toLine number: Int) { move(by: number - 1 - cursor) }

    func readOlder() {
        guard transactions.count == limit, limit < Self.greatestLimit else { return }
        limit *= 2
        reload()
    }

    /// Unfolds a transaction, or opens the record of a change.
    func open() {
        guard let current else { return }
        guard let change = current.change else { return toggle() }
        guard let object = try? session.context.existingObject(with: change.changedObjectID) else {
            return browser.say("the record was deleted later")
        }
        browser.layers.push(DetailScreen(browser: browser, session: session, object: object))
    }

    func toggle() {
        guard let current else { return }
        let number = current.transaction.transactionNumber
        if unfolded.remove(number) == nil { unfolded.insert(number) }
        makeRows()
        cursor = rows.firstIndex { $0.transaction.transactionNumber == number } ?? cursor
        // Scroll to show as many of the unfolded rows as fit below the transaction.
        let last = rows.lastIndex { $0.transaction.transactionNumber == number } ?? cursor
        top = max(top, min(cursor, last - height + 1))
    }

    func setAllUnfolded(_ isUnfolded: Bool) {
        let number = current?.transaction.transactionNumber
        unfolded = isUnfolded ? Set(transactions.map(\.transactionNumber)) : []
        makeRows()
        cursor = rows.firstIndex { $0.transaction.transactionNumber == number } ?? 0
    }

    func close() {
        stopReading()
        isFinished = true
    }

    func handle(_ event: Event) -> Bool {
        switch event {
        case .key(let key):
            return run(key)
        case .mouse(let mouse):
            if mouse.action == .wheelUp { move(by: -3) }
            if mouse.action == .wheelDown { move(by: 3) }
            guard mouse.action == .press, rows.indices.contains(top + mouse.position.y - 1) else { return true }
            if cursor == top + mouse.position.y - 1 { open() } else { cursor = top + mouse.position.y - 1 }
        default: return false
        }
        return true
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        if revision != session.revision { readNewer() }
        canvas.clear()
        // The line below the list shows the full text of the current transaction.
        let hasWhole = canvas.height >= 12
        height = max(1, canvas.height - (hasWhole ? 3 : 2))
        var right: [(String, Role)] = []
        if pastReading != nil { right.append((" " + tr("reading the past list, Esc stops") + " ", .warning)) }
        if !keys.pendingLabel.isEmpty { right.append((" \(keys.pendingLabel)… ", .status)) }
        if !rows.isEmpty {
            let place = "\(GroupedNumber.text(cursor + 1))/\(GroupedNumber.text(rows.count))"
            right.append((" \(place)\(transactions.count == limit ? "+" : "") ", .status))
        }
        StatusLine(
            left: [(sentence(" History of \(StorePlace(url: session.url).shortName)"), .status)], right: right
        ).draw(in: canvas, y: 0)
        if let problem { canvas.write(problem, x: 2, y: 1, style: .muted) }
        top = max(0, min(top, cursor))
        if cursor >= top + height { top = cursor - height + 1 }
        for row in 0..<height where top + row < rows.count {
            draw(rows[top + row], isSelected: top + row == cursor, in: canvas, y: row + 1)
        }
        if hasWhole, let transaction = current?.transaction {
            let text = sentence("\(TransactionText.author(of: transaction)): \(summary(transaction))")
            let y = canvas.height - 2
            canvas.write(canvas.text.truncated(text, to: canvas.width - 1), x: 1, y: y, style: .muted)
        }
        let hints = [
            ("?", "help"), ("Enter", "unfold, open"), ("a", "past list"), ("Esc", "back"),
            ("zR zM", "all"), ("G gg", "oldest, newest"),
        ]
        draw(hints, in: canvas)
    }

    private func draw(_ row: Row, isSelected: Bool, in canvas: Canvas, y: Int) {
        canvas.fillLine(y, style: Style(.text, selected: isSelected))
        func style(_ role: Role) -> Style { Style(role, selected: isSelected) }
        guard let change = row.change else {
            let transaction = row.transaction
            let isOpen = unfolded.contains(transaction.transactionNumber)
            canvas.write(isOpen ? canvas.symbols.foldOpen : canvas.symbols.foldClosed, x: 0, y: y, style: style(.key))
            var x = 2
            let number = canvas.text.padded("#\(transaction.transactionNumber)", to: 8)
            x += canvas.write(number, x: x, y: y, style: style(.key))
            x += canvas.write(TransactionText.time(transaction.timestamp) + "  ", x: x, y: y, style: style(.muted))
            let longest = authors.lazy.map { canvas.text.width($0) }.max() ?? 0
            // The summary keeps at least half of the remaining line.
            let room = max(8, min(longest, (canvas.width - x) / 2))
            let author = canvas.text.padded(TransactionText.author(of: transaction), to: room)
            x += canvas.write(author + "  ", x: x, y: y, style: style(.heading))
            canvas.write(summary(transaction), x: x, y: y, style: style(.text))
            return
        }
        let (sign, role, what) = text(of: change)
        var x = 4
        x += canvas.write(sign + " ", x: x, y: y, style: style(role))
        let id = change.changedObjectID
        x += canvas.write((id.entity.name ?? "?") + " ", x: x, y: y, style: style(.muted))
        x += canvas.write(name(of: change), x: x, y: y, style: style(.link))
        canvas.write("  " + what, x: x, y: y, style: style(.text))
    }

    private func summary(_ transaction: NSPersistentHistoryTransaction) -> String {
        if let known = summaries[transaction.transactionNumber] { return known }
        let text = TransactionText.summary(transaction)
        summaries[transaction.transactionNumber] = text
        return text
    }

    private func text(of change: NSPersistentHistoryChange) -> (String, Role, String) {
        switch change.changeType {
        case .insert: return ("+", .inserted, "")
        case .update:
            let keys = change.updatedProperties?.map { PropertyTitle.title($0.name) }.sorted() ?? []
            return ("~", .updated, keys.joined(separator: ", "))
        default: return ("−", .error, "")
        }
    }

    /// The current name of the record, or the name in the tombstone of a deleted one.
    private func name(of change: NSPersistentHistoryChange) -> String {
        let id = change.changedObjectID
        if change.changeType != .delete, let object = try? session.context.existingObject(with: id) {
            return RecordName.text(object)
        }
        if let label = EntityDisplay.label(of: id.entity), let text = change.tombstone?[label.name] as? String {
            return text
        }
        return id.uriRepresentation().lastPathComponent
    }
}
