import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A pivot table: the number of records for each pair of values of two columns, or a sum or average.
final class PivotScreen: WorkingLayer, RowScreen, LookingScreen, KeyHelping {
    /// The contents of the cells.
    nonisolated enum Measure: Equatable {
        case count
        case sum(String)
        case average(String)

        var keyPath: String? {
            switch self {
            case .count: nil
            case .sum(let key), .average(let key): key
            }
        }

        var title: String {
            switch self {
            case .count: tr("count")
            case .sum(let key): sentence("sum of \(PropertyTitle.title(key))")
            case .average(let key): sentence("average of \(PropertyTitle.title(key))")
            }
        }
    }

    private nonisolated struct Cell {
        var count = 0
        var sum = 0.0
        /// Number of records that have a value to sum up.
        var summed = 0
    }

    private nonisolated struct Counted {
        let measure: Measure
        let heads: [ValueBuckets]
        let cells: [[Cell]]
    }

    /// The number of text values that get their own row or column.
    private nonisolated static let greatestCounts = [1000, 100]

    unowned let list: ListScreen
    private let keyPaths: [String]
    private(set) var isFinished = false
    private var measure = Measure.count
    private var heads: [ValueBuckets] = []
    private var cells: [[Cell]] = []
    var rows = ScrolledRows()
    var rowCount: Int { cells.count }
    var keys = KeySequenceReader()
    private var column = 0
    private var left = 0
    private(set) var firstLine = 0
    private var counting: Job<Counted>?
    private var seen: SeenChanges

    /// Counts the records by the key paths `rows` and `columns`.
    init(list: ListScreen, rows: String, columns: String) {
        self.list = list
        keyPaths = [rows, columns]
        seen = SeenChanges(of: list)
        count(.count)
    }

    private func count(_ measure: Measure) {
        seen = SeenChanges(of: list)
        let query = ColumnCounts.Query(
            keyPaths: keyPaths, entity: list.entity, filter: list.records.settings.filter, summed: measure.keyPath)
        let job = ColumnCounts.job(query, in: list.session.context) { counts in
            let heads = try query.keyPaths.enumerated().map { index, keyPath in
                let attribute = try EntityKeys.attribute(at: keyPath, of: query.entity, for: "count by")
                return ValueBuckets(
                    counts.totals(ofColumn: index), of: attribute, at: keyPath,
                    greatestCount: Self.greatestCounts[index])
            }
            return Counted(measure: measure, heads: heads, cells: Self.cells(of: counts, heads))
        } then: { [weak self] in
            self?.show($0)
        }
        counting = job
        job.wait(ColumnCounts.patience)
    }

    private func show(_ result: Result<Counted, any Error>) {
        list.browser.needsDisplay = true
        counting = nil
        do {
            let counted = try result.get()
            (measure, heads, cells) = (counted.measure, counted.heads, counted.cells)
        } catch {
            isFinished = heads.isEmpty
            list.browser.complain(error)
        }
    }

    func takeUp() { counting?.wait() }

    var isWorking: Bool { counting != nil }

    private nonisolated static func cells(of counts: ColumnCounts, _ heads: [ValueBuckets]) -> [[Cell]] {
        // The last row and column contain the totals.
        var cells = Array(
            repeating: Array(repeating: Cell(), count: heads[1].buckets.count + 1), count: heads[0].buckets.count + 1)
        for row in counts.rows {
            guard let y = heads[0].place(of: row.values[0]), let x = heads[1].place(of: row.values[1]) else { continue }
            for (rowIndex, columnIndex) in [
                (y, x), (y, cells[0].count - 1), (cells.count - 1, x), (cells.count - 1, cells[0].count - 1),
            ] {
                cells[rowIndex][columnIndex].count += row.count
                cells[rowIndex][columnIndex].sum += row.sum
                cells[rowIndex][columnIndex].summed += row.summed
            }
        }
        return cells
    }

    private var columnCount: Int { (cells.first?.count ?? 1) }

    private func text(_ cell: Cell) -> String {
        guard (measure == .count ? cell.count : cell.summed) > 0 else { return "·" }
        let value: Double =
            switch measure {
            case .count: Double(cell.count)
            case .sum: cell.sum
            case .average: cell.sum / Double(cell.summed)
            }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(format: "%.2f", value)
    }

    private func title(_ axis: Int, _ index: Int) -> String {
        let buckets = heads[axis].buckets
        return buckets.indices.contains(index) ? buckets[index].title : "all"
    }

    // MARK: Keys

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the pivot") }

    static let keysName = "pivot"
    static let keysRemark = "The keys of the pivot (gp)."
    static let table = CommandTable<PivotScreen>(
        Command.looking([
            Command("show", keys: "<Enter>", category: "Look", help: "list the records of this cell") { $0.choose() },
            Command("measure", keys: "a", category: "Look", help: "show count, sum or average") { $0.askForMeasure() },
            Command("column left", keys: "h <Left>", category: "Look", help: "previous column") {
                $0.moveColumn(by: -1)
            },
            Command("column right", keys: "l <Right>", category: "Look", help: "next column") { $0.moveColumn(by: 1) },
        ]))
    func close() { isFinished = true }
    var commands: CommandTable<PivotScreen> { list.browser.tables[PivotScreen.self] }

    private func moveColumn(by step: Int) { column = max(0, min(columnCount - 1, column + step)) }

    /// Filters the list by the cell under the cursor.
    func choose() {
        guard !heads.isEmpty else { return }
        let chosen = [(0, rows.cursor), (1, column)].compactMap { axis, index in
            heads[axis].buckets.indices.contains(index) ? heads[axis].buckets[index] : nil
        }
        let predicates = chosen.compactMap(\.predicate)
        guard predicates.count == chosen.count else {
            return list.browser.say("too many values for a filter", role: .warning)
        }
        isFinished = true
        if !predicates.isEmpty { list.filter.add(predicates) }
    }

    private func askForMeasure() {
        let numbers = list.entity.sortableKeyPaths.filter { key in
            list.entity.attribute(atKeyPath: key).map {
                ValueBuckets.isMeasured($0) && $0.attributeType != .dateAttributeType
            } ?? false
        }
        let measures = [Measure.count] + numbers.flatMap { [Measure.sum($0), Measure.average($0)] }
        let items = measures.map { (text: $0.title, detail: $0 == measure ? tr("now") : "") }
        list.browser.layers.push(
            Picker(title: "In the cells", items: items) { [unowned self] index in
                count(measures[index])
            })
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        takeUp()
        if counting == nil, seen.areOld(in: list) { count(measure) }
        canvas.clear()
        let titles = keyPaths.map { PropertyTitle.title($0) }
        let title = titles.dropFirst().reduce(titles.first ?? "") { sentence("\($0) by \($1)") }
        let note = list.session.context.hasChanges ? tr("saved values ") : ""
        StatusLine(left: [(" \(title): \(measure.title)", .status)], right: [(note, .status)]).draw(in: canvas, y: 0)
        let body = canvas.part(x: 0, y: 2, width: canvas.width, height: canvas.height - 3)
        firstLine = body.frame.minY
        rows.fit(count: rowCount, height: body.height)
        if let counting {
            canvas.write(Activity.text(tr("counting"), since: counting.began), x: 1, y: 1, style: .text)
            if cells.isEmpty { return drawHints(in: canvas) }
        }
        let headWidth = min(
            canvas.width / 3, rows.shown(of: rowCount).map { canvas.text.width(self.title(0, $0)) }.max() ?? 1)
        let widths = (0..<columnCount).map { x in
            max(
                min(16, canvas.text.width(self.title(1, x))),
                rows.shown(of: rowCount).map { canvas.text.width(text(cells[$0][x])) }.max() ?? 1)
        }
        let shown = Self.columns(widths, room: canvas.width - headWidth - 3, column: &column, left: &left)
        var x = headWidth + 2
        var starts: [Int: Int] = [:]
        for index in shown {
            starts[index] = x
            let head = canvas.text.padded(self.title(1, index), to: widths[index], alignment: .right)
            canvas.write(head, x: x, y: 1, style: Style(.columnTitle, selected: index == column))
            x += widths[index] + 2
        }
        if (shown.last ?? 0) < columnCount - 1 {
            canvas.write(canvas.symbols.moreRight, x: canvas.width - 1, y: 1, style: .muted)
        }
        for row in rows.shown(of: rowCount) {
            let y = row - rows.top
            let isSum = row == cells.count - 1
            body.write(
                self.title(0, row), x: 1, y: y, style: Style(isSum ? .muted : .text, selected: row == rows.cursor),
                limit: headWidth)
            for index in shown {
                let value = canvas.text.padded(text(cells[row][index]), to: widths[index], alignment: .right)
                let role: Role = isSum || index == columnCount - 1 || cells[row][index].count == 0 ? .muted : .text
                body.write(
                    value, x: starts[index] ?? 0, y: y,
                    style: Style(role, selected: row == rows.cursor && index == column))
            }
        }
        drawHints(in: canvas)
    }

    private func drawHints(in canvas: Canvas) {
        draw(
            [("Enter", "show these"), ("a", "count, sum, average"), ("h j k l", "move"), ("Esc", "close")], in: canvas)
    }

    /// The columns that fit, including the one under the cursor.
    static func columns(_ widths: [Int], room: Int, column: inout Int, left: inout Int) -> Range<Int> {
        column = max(0, min(column, widths.count - 1))
        left = min(left, column)
        func used(_ range: ClosedRange<Int>) -> Int { range.reduce(0) { $0 + widths[$1] + 2 } }
        while left < column, used(left...column) > room { left += 1 }
        var end = column
        while end + 1 < widths.count, used(left...(end + 1)) <= room { end += 1 }
        return left..<(end + 1)
    }
}
