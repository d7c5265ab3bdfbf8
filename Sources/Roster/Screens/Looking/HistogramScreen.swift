import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The number of records with each value of a column: counts, shares and bars. Enter shows the records of a value.
final class HistogramScreen: WorkingLayer, RowScreen, LookingScreen, KeyHelping {
    unowned let list: ListScreen
    private let keyPath: String
    private let attribute: NSAttributeDescription
    private(set) var isFinished = false
    private(set) var buckets: [ValueBuckets.Bucket] = []
    private var heaps: ValueBuckets?
    private var statistics = ""
    private var counting: Job<Counted>?
    var rows = ScrolledRows()
    var rowCount: Int { buckets.count }
    var keys = KeySequenceReader()
    private(set) var firstLine = 0
    /// True to sort by count instead of by value.
    private var isByCount: Bool
    private var seen: SeenChanges

    private nonisolated struct Counted {
        let heaps: ValueBuckets
        let statistics: String
    }

    init(list: ListScreen, keyPath: String, attribute: NSAttributeDescription) {
        self.list = list
        self.keyPath = keyPath
        self.attribute = attribute
        isByCount = !ValueBuckets.isMeasured(attribute)
        seen = SeenChanges(of: list)
        count()
    }

    private func count() {
        seen = SeenChanges(of: list)
        let query = ColumnCounts.Query(
            keyPaths: [keyPath], entity: list.entity, filter: list.records.settings.filter)
        let greatestCount = list.session.limits.histogramLines
        let job = ColumnCounts.job(query, in: list.session.context) { [keyPath, attribute] counts in
            let totals = counts.totals(ofColumn: 0)
            let heaps = ValueBuckets(totals, of: attribute, at: keyPath, greatestCount: greatestCount)
            return Counted(
                heaps: heaps, statistics: Self.statistics(totals, of: attribute, distinct: heaps.distinctCount))
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
            (heaps, statistics) = (counted.heaps, counted.statistics)
            arrange()
        } catch {
            isFinished = heaps == nil
            list.browser.complain(error)
        }
    }

    func takeUp() { counting?.wait() }

    var isWorking: Bool { counting != nil }

    private func arrange() {
        guard let heaps else { return }
        buckets = heaps.buckets
        guard isByCount == heaps.isOrdered else { return }
        let sorted = buckets.enumerated().sorted { left, right in
            isByCount
                ? (right.element.count, left.offset) < (left.element.count, right.offset)
                : left.element.title.localizedStandardCompare(right.element.title) == .orderedAscending
        }
        buckets = sorted.map(\.element)
    }

    /// Statistics of the values: `34 values, least 0, greatest 76, mean 12.5, sum 1001`.
    private nonisolated static func statistics(
        _ totals: [(value: Any?, count: Int)], of attribute: NSAttributeDescription, distinct: Int
    ) -> String {
        let text = CountedNoun.text(distinct, "different value")
        let present = totals.filter { $0.value != nil }
        let numbers = present.compactMap { item in ValueBuckets.number(item.value).map { (item.value, $0, item.count) }
        }
        guard ValueBuckets.isMeasured(attribute), let least = numbers.min(by: { $0.1 < $1.1 }),
            let greatest = numbers.max(by: { $0.1 < $1.1 })
        else { return text }
        func shown(_ value: Any?) -> String { ValueDisplay.text(value, of: attribute) }
        let bounds = sentence("\(text), least \(shown(least.0)), greatest \(shown(greatest.0))")
        guard attribute.attributeType != .dateAttributeType else { return bounds }
        let count = numbers.reduce(0) { $0 + $1.2 }
        let sum = numbers.reduce(0.0) { $0 + $1.1 * Double($1.2) }
        func number(_ value: Double) -> String {
            value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(format: "%.6g", value)
        }
        return sentence("\(bounds), mean \(number(sum / Double(max(1, count)))), sum \(number(sum))")
    }

    // MARK: Keys

    var keyHelp: (title: String, keys: [(keys: String, help: String)]) { keyHelp("Keys of the histogram") }

    static let keysName = "histogram"
    static let keysRemark = "The keys of the histogram (gb)."
    static let table = CommandTable<HistogramScreen>(
        Command.looking([
            Command("show", keys: "<Enter>", category: "Look", help: "list the records of this line") { $0.choose() },
            Command("sort", keys: "s", category: "Look", help: "sort by count or by value") { $0.turn() },
        ]))
    func close() { isFinished = true }
    var commands: CommandTable<HistogramScreen> { list.browser.tables[HistogramScreen.self] }

    private func turn() {
        isByCount.toggle()
        arrange()
    }

    /// Filters the list by the bucket under the cursor.
    func choose() {
        guard buckets.indices.contains(rows.cursor) else { return }
        guard let predicate = buckets[rows.cursor].predicate else {
            return list.browser.say("too many values for a filter", role: .warning)
        }
        isFinished = true
        list.filter.add([predicate])
    }

    // MARK: Painting

    func draw(in canvas: Canvas) {
        takeUp()
        if counting == nil, seen.areOld(in: list) { count() }
        canvas.clear()
        let total = buckets.reduce(0) { $0 + $1.count }
        let title = sentence(
            " \(PropertyTitle.title(keyPath)) of \(CountedNoun.text(total, list.entity.name ?? "record"))")
        let note = list.session.context.hasChanges ? tr("saved values ") : ""
        StatusLine(left: [(title, .status)], right: [(note, .status)]).draw(in: canvas, y: 0)
        var y = 1
        if canvas.height >= 10 {
            canvas.write(statistics, x: 2, y: 1, style: .muted)
            let line = Bars.sparkline((heaps?.buckets ?? []).map(\.count), on: canvas)
            if heaps?.isOrdered == true { canvas.write(line, x: 2, y: 2, style: .heading) }
            y = heaps?.isOrdered == true ? 4 : 3
        }
        let body = canvas.part(x: 0, y: y, width: canvas.width, height: canvas.height - y - 1)
        firstLine = body.frame.minY
        rows.fit(count: rowCount, height: body.height)
        if let counting {
            body.write(Activity.text(tr("counting"), since: counting.began), x: 2, y: 0, style: .text)
        } else if buckets.isEmpty {
            body.write(tr("No records to count."), x: 2, y: 0, style: .muted)
        }
        let greatest = Double(max(1, buckets.map(\.count).max() ?? 1))
        let titleWidth = min(body.width / 3, buckets.map { body.text.width($0.title) }.max() ?? 1)
        let countWidth = String(Int(greatest)).count
        for index in rows.shown(of: rowCount) {
            let line = body.part(x: 0, y: index - rows.top, width: body.width, height: 1)
            let style = Style(.text, selected: index == rows.cursor)
            line.fillLine(0, style: style)
            let bucket = buckets[index]
            let name = line.text.padded(
                bucket.title, to: titleWidth, alignment: heaps?.isOrdered == true ? .right : .left)
            var x = 2 + line.write(name, x: 2, y: 0, style: style)
            let share = total > 0 ? Double(bucket.count) * 100 / Double(total) : 0
            let count = String(bucket.count)
            let padding = String(repeating: " ", count: max(0, countWidth - count.count))
            x += line.write("  \(padding)\(count)", x: x, y: 0, style: style)
            x += line.write(
                String(format: "%6.1f %%  ", share), x: x, y: 0, style: Style(.muted, selected: index == rows.cursor))
            let bar = Bars.bar(Double(bucket.count) / greatest, width: line.width - x - 1, on: line)
            line.write(bar, x: x, y: 0, style: Style(.heading))
        }
        draw(
            [("Enter", "show these"), ("s", isByCount ? "by value" : "by count"), ("j k", "move"), ("Esc", "close")],
            in: canvas)
    }
}
